//! `/api/v1/resources/{id}/state`: Terraform's state of a resource, its versions, and who holds it. What is secret in a state is
//! shown to editors, and every such look is an event.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::state::StateVersion;
use model::state_lock::StateInfo;
use model::{ResourceId, Role};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::IgnoredAny;
use utoipa::IntoParams;

use super::reply::replay;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::intake::Written;
use crate::params::{At, Params, page_size};
use crate::problem::Problem;

/// The largest state that is taken.
pub const MAX_STATE: usize = 32 * 1024 * 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct VersionsParams {
    /// At most so many; 100 if left out
    limit: Option<i64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UnlockParams {
    /// The lock's id
    id: String,
}

/// How a resource's state stands
///
/// Its newest version, who holds it, and the addresses and ids of what it knows; nothing secret.
#[utoipa::path(get, path = "/api/v1/resources/{id}/state", tag = "States", operation_id = "get_state",
    params(("id" = i64, Path, description = "The resource's id")),
    responses((status = 200, description = "The state, without attributes", body = StateInfo)))]
pub async fn get_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
) -> Result<Json<StateInfo>, Problem> {
    caller.require(Role::Viewer)?;
    Ok(Json(app.state_info(&caller.scope, id).await?))
}

/// The versions of a state
///
/// Newest first: one for each job that changed it, and one for each that a person brought or brought back.
#[utoipa::path(get, path = "/api/v1/resources/{id}/state/versions", tag = "States", operation_id = "list_state_versions",
    params(("id" = i64, Path, description = "The resource's id"), VersionsParams),
    responses((status = 200, description = "The newest versions", body = Vec<StateVersion>)))]
pub async fn list_versions(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
    Params(params): Params<VersionsParams>,
) -> Result<Json<Vec<StateVersion>>, Problem> {
    caller.require(Role::Viewer)?;
    Ok(Json(app.store.states(&caller.scope, id, page_size(params.limit)?).await?))
}

/// A version of a state, as Terraform wrote it
///
/// With all that is secret in it: for editors, and an event tells who has read it.
#[utoipa::path(get, path = "/api/v1/resources/{id}/state/versions/{version}", tag = "States", operation_id = "pull_state",
    params(("id" = i64, Path, description = "The resource's id"), ("version" = i64, Path, description = "The version's id")),
    responses(
        (status = 200, description = "The state", body = Object, content_type = "application/json"),
        (status = 409, description = "What is stored is not what was written; the answer names versions to go back to"),
    ))]
pub async fn pull_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, version)): At<(ResourceId, i64)>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let text = app.read_state(&caller.terms(false, IfMatch::default()), id, Some(version)).await?;
    Ok(shown(text))
}

/// Bring a state
///
/// It becomes the newest version if it goes on from the one there is: of the same lineage, with a higher serial. The same state
/// once more changes nothing.
#[utoipa::path(post, path = "/api/v1/resources/{id}/state/versions", tag = "States", operation_id = "push_state",
    params(("id" = i64, Path, description = "The resource's id")), request_body = Object,
    responses(
        (status = 201, description = "It is the newest version", body = StateVersion),
        (status = 409, description = "A job or a lock holds the state, or it cannot follow the newest version"),
    ))]
pub async fn push_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Key,
    At(id): At<ResourceId>,
    body: Body<IgnoredAny>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let request: &[&[u8]] = &[b"POST state", &id.0.to_le_bytes(), &body.bytes];
    let terms = caller.terms_once(false, IfMatch::default(), key, request);
    kept(app.bring_state(&terms, id, text_of(&body.bytes)?, None).await?, id)
}

/// Bring a version of a state back
///
/// As a new version with a new serial; the ones between stay what they are.
#[utoipa::path(post, path = "/api/v1/resources/{id}/state/versions/{version}/restore", tag = "States",
    operation_id = "restore_state",
    params(("id" = i64, Path, description = "The resource's id"), ("version" = i64, Path, description = "The version's id")),
    responses(
        (status = 201, description = "It is the newest version", body = StateVersion),
        (status = 409, description = "A job or a lock holds the state, or the version cannot be used"),
    ))]
pub async fn restore_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Key,
    At((id, version)): At<(ResourceId, i64)>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let request: &[&[u8]] = &[b"POST restore", &id.0.to_le_bytes(), &version.to_le_bytes()];
    let terms = caller.terms_once(false, IfMatch::default(), key, request);
    kept(app.restore_state(&terms, id, version).await?, id)
}

/// Break a lock on a state
///
/// By its id, as Terraform's `force-unlock`: only where its holder is gone. The lock of a job under way cannot be broken.
#[utoipa::path(delete, path = "/api/v1/resources/{id}/state/lock", tag = "States", operation_id = "unlock_state",
    params(("id" = i64, Path, description = "The resource's id"), UnlockParams),
    responses(
        (status = 204, description = "Unlocked"),
        (status = 409, description = "It has no such lock, or a job is under way"),
    ))]
pub async fn unlock_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
    Params(params): Params<UnlockParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Editor)?;
    app.unlock_state(&caller.terms(false, IfMatch::default()), id, params.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A state on its way in.
pub(super) fn text_of(bytes: &[u8]) -> Result<SecretString, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| Problem::bad_request("the body is not JSON: it is no UTF-8"))?;
    Ok(SecretString::from(text))
}

/// A state on its way out; nothing where there is none.
pub(super) fn shown(text: Option<SecretString>) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    match text {
        Some(text) => (headers, text.expose_secret().to_owned()).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

fn kept(written: Written<StateVersion>, id: ResourceId) -> Result<Response, Problem> {
    let location = |version: i64| format!("/api/v1/resources/{id}/state/versions/{version}");
    Ok(match written {
        Written::Done(version) => {
            (StatusCode::CREATED, [(header::LOCATION, location(version.id))], Json(version)).into_response()
        }
        Written::Replayed(recorded) => replay(&recorded, location),
    })
}
