//! `/api/v1/resources/{id}/retry` and its siblings: what a person can do about a failure. Which of them are possible is in the
//! resource's `failure.choices`; any other is a 409 that says what is.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use model::job::Import;
use model::{Choice, Resource, ResourceId, Role};

use super::resources::accepted;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::params::{At, Params, WriteParams};
use crate::problem::Problem;

/// A choice on its way in.
struct Asked {
    app: Arc<App>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    id: ResourceId,
    dry_run: bool,
}

impl Asked {
    async fn choose(self, choice: Choice, import: Option<Import>) -> Result<Response, Problem> {
        let Asked { app, caller, if_match, key, id, dry_run } = self;
        caller.require(Role::Editor)?;
        let asked = serde_json::to_vec(&import).unwrap_or_default();
        let request: [&[u8]; 3] = [choice.as_str().as_bytes(), &id.0.to_le_bytes(), &asked];
        let terms = caller.terms_once(dry_run, if_match, key, &request);
        Ok(accepted(app.choose(&terms, id, choice, import).await?, id))
    }
}

/// Try again
///
/// The operation that failed is done again from its beginning.
#[utoipa::path(post, path = "/api/v1/resources/{id}/retry", tag = "Failures", operation_id = "retry_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams),
    responses((status = 202, description = "It will be done", body = Resource)))]
pub async fn retry_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    At(id): At<ResourceId>,
    Params(WriteParams { dry_run }): Params<WriteParams>,
) -> Result<Response, Problem> {
    Asked { app, caller, if_match, key, id, dry_run }.choose(Choice::Retry, None).await
}

/// Go on from where it failed
///
/// It goes on from the state that was reached, and keeps it whatever happens.
#[utoipa::path(post, path = "/api/v1/resources/{id}/continue", tag = "Failures", operation_id = "continue_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams),
    responses((status = 202, description = "It will be done", body = Resource)))]
pub async fn continue_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    At(id): At<ResourceId>,
    Params(WriteParams { dry_run }): Params<WriteParams>,
) -> Result<Response, Problem> {
    Asked { app, caller, if_match, key, id, dry_run }.choose(Choice::Continue, None).await
}

/// Go back to what last went well
///
/// The inputs and the module of the last generation that went well are planned; the plan waits for approval (`approve_job`).
#[utoipa::path(post, path = "/api/v1/resources/{id}/rollback", tag = "Failures", operation_id = "rollback_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams),
    responses((status = 202, description = "It will be done", body = Resource)))]
pub async fn rollback_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    At(id): At<ResourceId>,
    Params(WriteParams { dry_run }): Params<WriteParams>,
) -> Result<Response, Problem> {
    Asked { app, caller, if_match, key, id, dry_run }.choose(Choice::Rollback, None).await
}

/// Destroy what a failed provision has left
///
/// Afterwards nothing is provisioned until the spec changes or somebody asks.
#[utoipa::path(post, path = "/api/v1/resources/{id}/cleanup", tag = "Failures", operation_id = "cleanup_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams),
    responses((status = 202, description = "It will be done", body = Resource)))]
pub async fn cleanup_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    At(id): At<ResourceId>,
    Params(WriteParams { dry_run }): Params<WriteParams>,
) -> Result<Response, Problem> {
    Asked { app, caller, if_match, key, id, dry_run }.choose(Choice::Cleanup, None).await
}

/// Take what exists already into the state
///
/// The next run imports it at this address of the module, and goes on.
#[utoipa::path(post, path = "/api/v1/resources/{id}/import", tag = "Failures", operation_id = "import_resource",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams), request_body = Import,
    responses((status = 202, description = "It will be done", body = Resource)))]
pub async fn import_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    key: Key,
    At(id): At<ResourceId>,
    Params(WriteParams { dry_run }): Params<WriteParams>,
    body: Body<Import>,
) -> Result<Response, Problem> {
    Asked { app, caller, if_match, key, id, dry_run }.choose(Choice::Import, Some(body.value)).await
}
