//! `/api/v1/runners`, for operators: which runners there are, and whose work they may do.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use model::{Labels, Role, Runner, Scope};
use serde::{Deserialize, Serialize};
use store::NewRunner;
use utoipa::ToSchema;

use super::tenants::PageParams;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::intake::Written;
use crate::listing::list;
use crate::params::{At, Params, WriteParams, check_text, page_size};
use crate::problem::Problem;
use crate::secret::new_token;

/// Of one runner.
const MAX_TENANTS: usize = 256;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRunnerBody {
    #[schema(example = "eu-1", pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
    pub name: String,
    /// Whose jobs it may do.
    #[schema(min_items = 1, max_items = 256)]
    pub tenants: BTreeSet<String>,
    /// A job that asks for labels is done only by a runner that has them all.
    #[serde(default)]
    pub labels: Labels,
}

/// A runner that was just enrolled: the only time its token is shown.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EnrolledRunner {
    #[serde(flatten)]
    pub record: Runner,
    /// For `terrane runner --token-file`. It is stored nowhere; keep it safe.
    pub token: String,
}

/// Enrol a runner
///
/// Its token is in the answer, this once. It fixes the runner's tenants and labels, and opens nothing but what a runner needs.
#[utoipa::path(post, path = "/api/v1/runners", tag = "Runners", operation_id = "enrol_runner",
    params(WriteParams), request_body = NewRunnerBody,
    responses((status = 201, description = "Enrolled", body = EnrolledRunner)))]
pub async fn enrol_runner(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Key,
    Params(params): Params<WriteParams>,
    body: Body<NewRunnerBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Operator)?;
    let NewRunnerBody { name, tenants, labels } = body.value;
    model::check_name("name", &name)?;
    model::check_labels(&labels)?;
    if !(1..=MAX_TENANTS).contains(&tenants.len()) {
        return Err(Problem::bad_request(format!("tenants: name 1 to {MAX_TENANTS} tenants whose jobs it may do")));
    }
    for tenant in &tenants {
        model::check_name("tenants", tenant)?;
    }
    let secret = new_token()
        .map_err(|_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the system has no randomness to give"))?;
    let mut terms = caller.terms_once(params.dry_run, IfMatch::default(), key, &[b"POST runners", &body.bytes]);
    terms.scope = Scope::fleet();
    let tenants = tenants.into_iter().collect();
    let new = Arc::new(NewRunner { name, tenants, labels, prefix: secret.prefix, hash: secret.hash });
    let actor = terms.actor.clone();
    let written = terms.write(&app.store, 0, 201, move |tx| {
        let (actor, new) = (actor.clone(), new.clone());
        Box::pin(async move { tx.create_runner(&actor, &new).await })
    });
    match written.await? {
        Written::Done(record) => {
            let location = format!("/api/v1/runners/{}", record.name);
            let body = EnrolledRunner { record, token: secret.token };
            Ok((StatusCode::CREATED, [(header::LOCATION, location)], axum::Json(body)).into_response())
        }
        Written::Replayed(_) => Err(Problem::conflict(
            "this runner was enrolled by an earlier request with the same key, and its token was shown then, once; if it was lost, remove the runner and enrol it again",
        )),
    }
}

/// List runners
///
/// Those that were enrolled; the one inside of a server is not among them.
#[utoipa::path(get, path = "/api/v1/runners", tag = "Runners", operation_id = "list_runners", params(PageParams),
    responses((status = 200, description = "A page of runners, without their tokens", body = Vec<Runner>)))]
pub async fn list_runners(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    Params(params): Params<PageParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Operator)?;
    let page = app.store.runners(params.cursor.unwrap_or(0), page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}

/// Get a runner
#[utoipa::path(get, path = "/api/v1/runners/{name}", tag = "Runners", operation_id = "get_runner",
    params(("name" = String, Path, description = "The runner's name")),
    responses((status = 200, description = "The runner, without its token", body = Runner)))]
pub async fn get_runner(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(name): At<String>,
) -> Result<axum::Json<Runner>, Problem> {
    caller.require(Role::Operator)?;
    check_text("name", &name, 253)?;
    Ok(axum::Json(app.store.runner(&name).await?))
}

/// Remove a runner
///
/// Its token opens nothing from now on. Jobs that it has go to others when their leases end.
#[utoipa::path(delete, path = "/api/v1/runners/{name}", tag = "Runners", operation_id = "remove_runner",
    params(("name" = String, Path, description = "The runner's name"), WriteParams),
    responses((status = 204, description = "Removed")))]
pub async fn remove_runner(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(name): At<String>,
    Params(params): Params<WriteParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Operator)?;
    check_text("name", &name, 253)?;
    let terms = caller.terms(params.dry_run, IfMatch::default());
    let actor = terms.actor.clone();
    terms
        .write(&app.store, 0, 204, move |tx| {
            let (actor, name) = (actor.clone(), name.clone());
            Box::pin(async move { tx.delete_runner(&actor, &name).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
