//! How a resource leaves: `DELETE /api/v1/resources/{id}` and its finalizers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use model::{Resource, ResourceId, Role};
use serde::Deserialize;
use utoipa::IntoParams;

use super::resources::accepted;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::{IfMatch, tagged};
use crate::intake::{FinalizersBody, Forgotten};
use crate::params::{At, Params, WriteParams};
use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteParams {
    /// Check everything and answer as if it had been done, but change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Let go of it without destroying what it stands for, whatever its finalizers say. The answer tells what may remain.
    #[serde(default)]
    pub forget: bool,
}

/// Delete a resource
///
/// What it stands for is destroyed first; until that is done it stays visible as `deleting`, and its name is taken. With
/// `forget` nothing is destroyed: for when what it stands for is gone already, or cannot be destroyed from here.
#[utoipa::path(delete, path = "/api/v1/resources/{id}", tag = "Resources", operation_id = "delete_resource",
    params(("id" = i64, Path, description = "The resource's id"), DeleteParams),
    responses((status = 202, description = "It will go", body = Resource),
        (status = 200, description = "It is forgotten", body = Forgotten)))]
pub async fn delete_resource(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(id): At<ResourceId>,
    Params(params): Params<DeleteParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let terms = caller.terms(params.dry_run, if_match);
    if params.forget {
        return Ok(axum::Json(app.forget_resource(&terms, id).await?).into_response());
    }
    Ok(accepted(app.delete_resource(&terms, id).await?, id))
}

/// Set a resource's finalizers
///
/// The whole list: outside parties that keep the resource from being destroyed until they take their name off it. While
/// it is being deleted, names can only be taken off.
#[utoipa::path(put, path = "/api/v1/resources/{id}/finalizers", tag = "Resources", operation_id = "set_finalizers",
    params(("id" = i64, Path, description = "The resource's id"), WriteParams), request_body = FinalizersBody,
    responses((status = 200, description = "Set", body = Resource)))]
pub async fn put_finalizers(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(id): At<ResourceId>,
    Params(params): Params<WriteParams>,
    body: Body<FinalizersBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let updated = app.set_finalizers(&caller.terms(params.dry_run, if_match), id, body.value).await?;
    Ok(tagged(StatusCode::OK, updated.resource_version, &updated))
}
