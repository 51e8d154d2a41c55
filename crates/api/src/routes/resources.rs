//! `/api/v1/resources`

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use model::{DriftPolicy, HistoryEntry, Kind, Resource, ResourceId, Role, Scope, Selector, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Error, EventFilter, ResourceFilter};
use utoipa::{IntoParams, ToSchema};

use super::reply::replay;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::{IfMatch, created, read, tagged};
use crate::intake::{Edit, NewResourceBody, ResourceUpdate, Written};
use crate::listing::list;
use crate::params::{At, MAX_LIMIT, Params, WriteParams, check_text, non_empty, page_size};
use crate::problem::Problem;
use crate::watch::{self, Since, Source, WatchEvent};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ResourceListParams {
    /// Only resources of this status.
    #[param(inline)]
    pub status: Option<Status>,
    /// Only resources of this type.
    #[serde(default, deserialize_with = "non_empty")]
    pub resource_type_name: Option<String>,
    /// Only resources that this plugin acts on.
    #[serde(default, deserialize_with = "non_empty")]
    pub action_plugin: Option<String>,
    /// Only resources of this name.
    #[serde(default, deserialize_with = "non_empty")]
    pub name: Option<String>,
    /// Only resources whose labels match, as kubectl writes it: `env=prod,tier!=cache,region in (eu,us),!legacy`.
    #[serde(default, deserialize_with = "non_empty")]
    pub label_selector: Option<String>,
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

impl ResourceListParams {
    fn filter(&self) -> Result<ResourceFilter, Problem> {
        for (field, text) in [
            ("resource_type_name", &self.resource_type_name),
            ("action_plugin", &self.action_plugin),
            ("name", &self.name),
        ] {
            check_text(field, text.as_deref().unwrap_or(""), 253)?;
        }
        let selector = Selector::parse(self.label_selector.as_deref().unwrap_or(""))
            .map_err(|error| Problem::bad_request(error.to_string()))?;
        Ok(ResourceFilter {
            status: self.status,
            resource_type_name: self.resource_type_name.clone(),
            action_plugin: self.action_plugin.clone(),
            name: self.name.clone(),
            selector,
        })
    }
}

/// A page of the history.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryParams {
    /// How many at most; the `Link` header tells where the next page is.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<i64>,
    /// Where the page begins, from the `Link` header.
    pub cursor: Option<i64>,
}

/// What the action plugin left for its users.
#[derive(Debug, Serialize, ToSchema)]
pub struct Outputs {
    #[schema(value_type = Object)]
    pub outputs: Value,
    /// The names of those that are sensitive: shown only when asked for, and to editors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub sensitive: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OutputsParams {
    /// Show sensitive ones too; for editors.
    #[serde(default)]
    pub reveal: bool,
}

fn location(id: ResourceId) -> String {
    format!("/api/v1/resources/{id}")
}

/// Create a resource
///
/// The spec is validated against its type's schema and completed with its defaults; a spec that breaks the schema is
/// a 400 that names each offending field.
#[utoipa::path(post, path = "/api/v1/resources", tag = "Resources", operation_id = "create_resource",
    params(WriteParams), request_body = NewResourceBody,
    responses((status = 201, description = "Created", body = Resource)))]
pub async fn create_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    Params(params): Params<WriteParams>,
    body: Body<NewResourceBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    caller.require_tenant()?;
    let terms = caller.terms_once(params.dry_run, if_match, key, &[b"POST resources", &body.bytes]);
    match app.create_resource(&terms, body.value).await? {
        Written::Done(body) => Ok(created(body.resource_version, &location(body.id), &body)),
        Written::Replayed(recorded) => Ok(replay(&recorded, |id| location(ResourceId(id)))),
    }
}

/// List resources
#[utoipa::path(get, path = "/api/v1/resources", tag = "Resources", operation_id = "list_resources",
    params(ResourceListParams),
    responses((status = 200, description = "A page of resources; with `watch`, a stream of changes", content(
        (Vec<Resource> = "application/json"),
        (WatchEvent = "application/x-ndjson"),
        (WatchEvent = "text/event-stream"),
    ))))]
pub async fn list_resources(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    Params(params): Params<ResourceListParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let filter = params.filter()?;
    let limit = page_size(params.limit)?;
    if params.watch {
        let since = Since::parse(params.since, params.timeout_seconds)?;
        return watch::stream(&app, caller, Resources { filter }, since, &headers).await;
    }
    let page = app.store.resource_texts(&caller.scope, &filter, params.cursor.unwrap_or(0), limit).await?;
    Ok(list(&uri, &page))
}

struct Resources {
    filter: ResourceFilter,
}

impl Source for Resources {
    fn filter(&self, scope: &Scope) -> EventFilter {
        EventFilter { scope: scope.clone(), kinds: vec![Kind::Resource], object_id: None, with_fleet: false }
    }

    fn matches(&self, object: &Value) -> bool {
        Resource::deserialize(object).is_ok_and(|resource| self.filter.matches(&resource))
    }

    async fn existing(&self, app: &App, scope: &Scope, after: i64) -> Result<(Vec<Value>, Option<i64>), Error> {
        let page = app.store.resources(scope, &self.filter, after, MAX_LIMIT).await?;
        Ok((page.items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect(), page.next))
    }
}

/// Get a resource by its id
#[utoipa::path(get, path = "/api/v1/resources/{id}", tag = "Resources", operation_id = "get_resource",
    params(("id" = i64, Path, description = "The resource's id")),
    responses((status = 200, description = "The resource", body = Resource)))]
pub async fn get_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At(id): At<ResourceId>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let found = app.store.resource_text(&caller.scope, id).await?;
    Ok(read(&headers, found.resource_version, &found))
}

/// Get a resource by its type and name
#[utoipa::path(get, path = "/api/v1/resources/by-name/{type}/{version}/{name}", tag = "Resources",
    operation_id = "get_resource_by_name",
    params(("type" = String, Path, description = "The type's name"), ("version" = String, Path, description = "Its version"),
        ("name" = String, Path, description = "The resource's name")),
    responses((status = 200, description = "The resource", body = Resource)))]
pub async fn get_resource_by_name(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At((type_name, version, name)): At<(String, String, String)>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    for (field, text) in [("type", &type_name), ("version", &version), ("name", &name)] {
        check_text(field, text, 253)?;
    }
    let found = app.store.resource_by_name(&caller.scope, &type_name, &name).await?;
    if found.resource_type_version != version {
        let at = &found.resource_type_version;
        return Err(Problem::not_found(format!(
            "there is no resource {type_name}/{version}/{name}; there is one of that name at version {at}"
        )));
    }
    Ok(read(&headers, found.resource_version, &found))
}

/// Replace a resource's spec
///
/// A spec that differs makes a new generation; one that does not changes nothing. Labels, annotations, plugin,
/// version and drift policy stay as they are where absent.
#[utoipa::path(put, path = "/api/v1/resources/{id}", tag = "Resources", operation_id = "update_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams), request_body = ResourceUpdate,
    responses((status = 200, description = "Changed", body = Resource)))]
pub async fn put_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(id): At<ResourceId>,
    Params(params): Params<WriteParams>,
    body: Body<ResourceUpdate>,
) -> Result<Response, Problem> {
    edit(&app, caller, if_match, id, params, Edit::Put(body.value)).await
}

/// Change parts of a resource
///
/// A JSON merge patch (RFC 7396) over `spec`, `labels`, `annotations`, `plugin_config`, `action_plugin`,
/// `resource_type_version` and `drift_policy`; null removes.
#[utoipa::path(patch, path = "/api/v1/resources/{id}", tag = "Resources", operation_id = "patch_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams),
    request_body(content((ResourcePatch = "application/merge-patch+json"), (ResourcePatch = "application/json"))),
    responses((status = 200, description = "Changed", body = Resource)))]
pub async fn patch_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(id): At<ResourceId>,
    Params(params): Params<WriteParams>,
    body: Body<Map<String, Value>>,
) -> Result<Response, Problem> {
    edit(&app, caller, if_match, id, params, Edit::Patch(body.value)).await
}

/// A JSON merge patch of a resource.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: a patch is merged as plain JSON")]
pub struct ResourcePatch {
    #[schema(value_type = Option<Object>)]
    spec: Option<Value>,
    resource_type_version: Option<String>,
    action_plugin: Option<String>,
    #[schema(value_type = Option<Object>)]
    plugin_config: Option<Value>,
    #[schema(value_type = Option<Object>)]
    labels: Option<Value>,
    #[schema(value_type = Option<Object>)]
    annotations: Option<Value>,
    drift_policy: Option<DriftPolicy>,
}

async fn edit(
    app: &App,
    caller: Caller,
    if_match: IfMatch,
    id: ResourceId,
    params: WriteParams,
    edit: Edit,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let updated = app.edit_resource(&caller.terms(params.dry_run, if_match), id, edit).await?;
    Ok(tagged(StatusCode::OK, updated.resource_version, &updated))
}

/// Force a reconciliation now
#[utoipa::path(post, path = "/api/v1/resources/{id}/reconcile", tag = "Resources", operation_id = "reconcile_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams),
    responses((status = 202, description = "It will be reconciled", body = Resource)))]
pub async fn reconcile_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    At(id): At<ResourceId>,
    Params(params): Params<WriteParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let terms = caller.terms_once(params.dry_run, if_match, key, &[b"POST reconcile", &id.0.to_le_bytes()]);
    let written = app.request_reconcile(&terms, id).await?;
    Ok(accepted(written, id))
}

pub(super) fn accepted(written: Written<Resource>, id: ResourceId) -> Response {
    match written {
        Written::Done(body) => tagged(StatusCode::ACCEPTED, body.resource_version, &body),
        Written::Replayed(recorded) => replay(&recorded, |_| location(id)),
    }
}

/// The history of attempts
///
/// Every attempt to reconcile, newest first; failures and destroys included. It stays after the resource is gone.
#[utoipa::path(get, path = "/api/v1/resources/{id}/history", tag = "Resources", operation_id = "get_history",
    params(("id" = i64, Path, description = "The resource's id"), HistoryParams),
    responses((status = 200, description = "A page of attempts", body = Vec<HistoryEntry>)))]
pub async fn get_history(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    At(id): At<ResourceId>,
    Params(params): Params<HistoryParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let page = app.store.history(&caller.scope, id, params.cursor, page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}

/// What the last reconciliation produced
///
/// Sensitive outputs are kept sealed; `reveal` shows them to editors.
#[utoipa::path(get, path = "/api/v1/resources/{id}/outputs", tag = "Resources", operation_id = "get_outputs",
    params(("id" = i64, Path, description = "The resource's id"), OutputsParams),
    responses((status = 200, description = "The outputs; empty before the first reconciliation", body = Outputs)))]
pub async fn get_outputs(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
    Params(OutputsParams { reveal }): Params<OutputsParams>,
) -> Result<axum::Json<Outputs>, Problem> {
    caller.require(if reveal { Role::Editor } else { Role::Viewer })?;
    let (outputs, sensitive) = app.outputs(&caller.scope, &caller.actor, id, reveal).await?;
    Ok(axum::Json(Outputs { outputs, sensitive }))
}
