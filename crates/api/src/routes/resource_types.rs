//! `/api/v1/resource-types`

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use model::{Kind, ResourceType, Role, Scope, TypeId};
use serde::Deserialize;
use serde_json::Value;
use store::{Error, EventFilter};
use utoipa::IntoParams;

use super::reply::replay;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::{IfMatch, created, read, tagged};
use crate::intake::{NewTypeBody, TypeUpdate, Written};
use crate::listing::list;
use crate::params::{At, MAX_LIMIT, Params, WriteParams, check_text, non_empty, page_size};
use crate::problem::Problem;
use crate::watch::{self, Since, Source, WatchEvent};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TypeListParams {
    /// Only types of this name.
    #[serde(default, deserialize_with = "non_empty")]
    pub name: Option<String>,
    /// How many at most; the `Link` header tells where the next page is.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<i64>,
    /// Where the page begins, from the `Link` header.
    pub cursor: Option<i64>,
    /// Stream changes instead of a list.
    #[serde(default)]
    pub watch: bool,
    /// With `watch`: only what happened after this `seq`; without it the stream begins with what exists.
    #[param(minimum = 0)]
    pub since: Option<i64>,
    /// With `watch`: end the stream after so many seconds.
    #[param(minimum = 0, maximum = 3600)]
    pub timeout_seconds: Option<u32>,
}

fn location(id: TypeId) -> String {
    format!("/api/v1/resource-types/{id}")
}

/// Create a resource type
///
/// A type is a name, a version and an OpenAPI v3 schema; several versions live side by side. In the tenant `fleet` it is
/// every tenant's to use.
#[utoipa::path(post, path = "/api/v1/resource-types", tag = "Resource types", operation_id = "create_resource_type",
    params(WriteParams), request_body = NewTypeBody,
    responses((status = 201, description = "Created", body = ResourceType)))]
pub async fn create_type(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    Params(params): Params<WriteParams>,
    body: Body<NewTypeBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let terms = caller.terms_once(params.dry_run, if_match, key, &[b"POST resource-types", &body.bytes]);
    match app.create_type(&terms, body.value).await? {
        Written::Done(body) => Ok(created(body.resource_version, &location(body.id), &body)),
        Written::Replayed(recorded) => Ok(replay(&recorded, |id| location(TypeId(id)))),
    }
}

/// List resource types
///
/// The tenant's own and the fleet's.
#[utoipa::path(get, path = "/api/v1/resource-types", tag = "Resource types", operation_id = "list_resource_types",
    params(TypeListParams),
    responses((status = 200, description = "A page of types; with `watch`, a stream of changes", content(
        (Vec<ResourceType> = "application/json"),
        (WatchEvent = "application/x-ndjson"),
        (WatchEvent = "text/event-stream"),
    ))))]
pub async fn list_types(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    Params(params): Params<TypeListParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let limit = page_size(params.limit)?;
    if let Some(name) = &params.name {
        check_text("name", name, 253)?;
    }
    if params.watch {
        let since = Since::parse(params.since, params.timeout_seconds)?;
        return watch::stream(&app, caller, Types { name: params.name }, since, &headers).await;
    }
    let page =
        app.store.resource_types(&caller.scope, params.name.as_deref(), params.cursor.unwrap_or(0), limit).await?;
    Ok(list(&uri, &page))
}

struct Types {
    name: Option<String>,
}

impl Source for Types {
    fn filter(&self, scope: &Scope) -> EventFilter {
        EventFilter {
            scope: scope.clone(),
            kinds: vec![Kind::ResourceType],
            object_id: None,
            with_fleet: !scope.id.is_fleet(),
        }
    }

    fn matches(&self, object: &Value) -> bool {
        self.name.as_deref().is_none_or(|name| object.get("name").and_then(Value::as_str) == Some(name))
    }

    async fn existing(&self, app: &App, scope: &Scope, after: i64) -> Result<(Vec<Value>, Option<i64>), Error> {
        let page = app.store.resource_types(scope, self.name.as_deref(), after, MAX_LIMIT).await?;
        Ok((page.items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect(), page.next))
    }
}

/// Get a resource type by its id
#[utoipa::path(get, path = "/api/v1/resource-types/{id}", tag = "Resource types", operation_id = "get_resource_type",
    params(("id" = i64, Path, description = "The type's id")),
    responses((status = 200, description = "The type", body = ResourceType)))]
pub async fn get_type(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At(id): At<TypeId>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let found = app.store.resource_type(&caller.scope, id).await?.body;
    Ok(read(&headers, found.resource_version, &found))
}

/// Get a resource type by its name and version
#[utoipa::path(get, path = "/api/v1/resource-types/{name}/{version}", tag = "Resource types",
    operation_id = "get_resource_type_by_name",
    params(("name" = String, Path, description = "The type's name"), ("version" = String, Path, description = "Its version")),
    responses((status = 200, description = "The type", body = ResourceType)))]
pub async fn get_type_by_name(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At((name, version)): At<(String, String)>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    check_text("name", &name, 253)?;
    check_text("version", &version, 253)?;
    let found = app.store.resource_type_by_name(&caller.scope, &name, &version).await?.body;
    Ok(read(&headers, found.resource_version, &found))
}

/// Change a resource type
///
/// Its description, schema and plugin configuration. A schema that a live resource would break is refused, naming the resources.
#[utoipa::path(put, path = "/api/v1/resource-types/{id}", tag = "Resource types", operation_id = "update_resource_type",
    params(("id" = i64, Path, description = "The type's id"), WriteParams), request_body = TypeUpdate,
    responses((status = 200, description = "Changed", body = ResourceType)))]
pub async fn update_type(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(id): At<TypeId>,
    Params(params): Params<WriteParams>,
    body: Body<TypeUpdate>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let updated = app.update_type(&caller.terms(params.dry_run, if_match), id, body.value).await?;
    Ok(tagged(StatusCode::OK, updated.resource_version, &updated))
}

/// Delete a resource type
///
/// Refused while resources use it.
#[utoipa::path(delete, path = "/api/v1/resource-types/{id}", tag = "Resource types", operation_id = "delete_resource_type",
    params(("id" = i64, Path, description = "The type's id"), WriteParams),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_type(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(id): At<TypeId>,
    Params(params): Params<WriteParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    app.delete_type(&caller.terms(params.dry_run, if_match), id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
