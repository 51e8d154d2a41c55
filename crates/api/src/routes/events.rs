//! `/api/v1/events`: the audit trail, and everything at once to watch.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use model::{Event, EventSeq, Kind, Role, Scope};
use serde::Deserialize;
use serde_json::Value;
use store::{Error, EventFilter};
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::Caller;
use crate::params::{Params, page_size};
use crate::problem::Problem;
use crate::watch::{self, Since, Source, WatchEvent};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventListParams {
    /// Only events of this kind of object.
    #[param(inline)]
    pub kind: Option<Kind>,
    /// Only events of the object with this id; needs `kind`.
    pub object_id: Option<i64>,
    /// Only what happened after this `seq`.
    #[param(minimum = 0)]
    pub since: Option<i64>,
    /// How many at most; the `Link` header tells where the next page is.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<i64>,
    /// Stream the objects' changes instead of a list of events.
    #[serde(default)]
    pub watch: bool,
    /// With `watch`: end the stream after so many seconds.
    #[param(minimum = 0, maximum = 3600)]
    pub timeout_seconds: Option<u32>,
}

/// List events
///
/// Every change, in order: who, when, what, before and after. Changes of tokens, tenants and secrets are shown to admins.
#[utoipa::path(get, path = "/api/v1/events", tag = "Events", operation_id = "list_events",
    params(EventListParams),
    responses((status = 200, description = "A page of events; with `watch`, a stream of changes", content(
        (Vec<Event> = "application/json"),
        (WatchEvent = "application/x-ndjson"),
        (WatchEvent = "text/event-stream"),
    ))))]
pub async fn list_events(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    Params(params): Params<EventListParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let kinds = kinds(&caller, params.kind)?;
    let limit = page_size(params.limit)?;
    if params.object_id.is_some() && params.kind.is_none() {
        return Err(Problem::bad_request("object_id: needs kind, since ids are counted per kind"));
    }
    let filter = EventFilter { scope: caller.scope.clone(), kinds, object_id: params.object_id, with_fleet: false };
    let since = Since::parse(params.since, params.timeout_seconds)?;
    if params.watch {
        let since = Since { seq: Some(since.seq.unwrap_or(app.store.horizon().await?)), ..since };
        return watch::stream(&app, caller, Everything { filter }, since, &headers).await;
    }
    let page = app.store.events(&filter, since.seq.unwrap_or(EventSeq(0)), limit).await?;
    let mut response = axum::Json(&page.events).into_response();
    if page.more
        && let Ok(link) = HeaderValue::try_from(format!("<{}>; rel=\"next\"", next_address(&uri, page.read_to)))
    {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

fn kinds(caller: &Caller, asked: Option<Kind>) -> Result<Vec<Kind>, Problem> {
    let open = [Kind::Resource, Kind::ResourceType];
    match asked {
        Some(kind) => {
            if !open.contains(&kind) {
                caller.require(Role::Admin)?;
            }
            Ok(vec![kind])
        }
        None if caller.role >= Role::Admin => Ok(Kind::ALL.to_vec()),
        None => Ok(open.to_vec()),
    }
}

fn next_address(uri: &Uri, since: EventSeq) -> String {
    let kept: String = uri
        .query()
        .unwrap_or("")
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("since="))
        .map(|pair| format!("{pair}&"))
        .collect();
    format!("{}?{kept}since={since}", uri.path())
}

struct Everything {
    filter: EventFilter,
}

impl Source for Everything {
    fn filter(&self, _: &Scope) -> EventFilter {
        self.filter.clone()
    }

    fn matches(&self, _: &Value) -> bool {
        true
    }

    async fn existing(&self, _: &App, _: &Scope, _: i64) -> Result<(Vec<Value>, Option<i64>), Error> {
        Ok((vec![], None))
    }
}
