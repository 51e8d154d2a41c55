//! `/api/v1/resources/{id}/state/http`: the state service, in the protocol of Terraform's `http` backend. Plain Terraform reads,
//! writes, locks and unlocks here, with a token as its password; LOCK and UNLOCK are methods of their own, which OpenAPI has
//! no words for.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use model::state_lock::LockInfo;
use model::{ResourceId, Role};
use serde::Deserialize;
use serde::de::IgnoredAny;
use utoipa::IntoParams;

use super::pages::wrong_method;
use super::states::{shown, text_of};
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::params::{At, Params};
use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LockParams {
    /// The id of the lock that the writer has
    #[serde(rename = "ID")]
    id: Option<String>,
}

/// Terraform reads the state
///
/// The `http` backend's GET. An event tells who has read it.
#[utoipa::path(get, path = "/api/v1/resources/{id}/state/http", tag = "State service", operation_id = "terraform_read_state",
    params(("id" = i64, Path, description = "The resource's id")),
    responses(
        (status = 200, description = "The newest version", body = Object, content_type = "application/json"),
        (status = 204, description = "There is none yet"),
        (status = 409, description = "What is stored is not what was written; the answer names versions to go back to"),
    ))]
pub async fn read_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    Ok(shown(app.read_state(&caller.terms(false, IfMatch::default()), id, None).await?))
}

/// Terraform writes the state
///
/// The `http` backend's POST, under the lock that `ID` names. A LOCK before and an UNLOCK after it, at the same address, carry
/// the lock's description as their body; 423 with the description of the lock there is tells who holds the state.
#[utoipa::path(post, path = "/api/v1/resources/{id}/state/http", tag = "State service", operation_id = "terraform_write_state",
    params(("id" = i64, Path, description = "The resource's id"), LockParams), request_body = Object,
    responses(
        (status = 200, description = "It is the newest version"),
        (status = 409, description = "A job or a lock holds the state, or it cannot follow the newest version"),
    ))]
pub async fn write_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
    Params(params): Params<LockParams>,
    body: Body<IgnoredAny>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Editor)?;
    let terms = caller.terms(false, IfMatch::default());
    app.bring_state(&terms, id, text_of(&body.bytes)?, params.id).await?;
    Ok(StatusCode::OK)
}

/// Terraform is done with the state
///
/// The `http` backend's DELETE. Versions stay, and a state that still looks after something is not let go of.
#[utoipa::path(delete, path = "/api/v1/resources/{id}/state/http", tag = "State service", operation_id = "terraform_delete_state",
    params(("id" = i64, Path, description = "The resource's id"), LockParams),
    responses((status = 200, description = "Nothing is looked after"), (status = 409, description = "Something still is")))]
pub async fn delete_state(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
    Params(_params): Params<LockParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Editor)?;
    match app.store.states(&caller.scope, id, 1).await?.first() {
        Some(newest) if newest.objects > 0 => Err(Problem::conflict(format!(
            "the state looks after {} objects, and deleting it would forget them; destroy them first: `terrane delete`",
            newest.objects
        ))),
        _ => Ok(StatusCode::OK),
    }
}

/// LOCK and UNLOCK.
pub async fn lock_or_unlock(State(app): State<Arc<App>>, request: Request) -> Response {
    let locks = match request.method().as_str() {
        "LOCK" => true,
        "UNLOCK" => false,
        _ => return wrong_method(request).await.into_response(),
    };
    change_lock(&app, request, locks).await.unwrap_or_else(IntoResponse::into_response)
}

async fn change_lock(app: &Arc<App>, request: Request, locks: bool) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let caller = Caller::from_request_parts(&mut parts, app).await?;
    let At(id) = At::<ResourceId>::from_request_parts(&mut parts, app).await?;
    caller.require(Role::Editor)?;
    let lock = Body::<LockInfo>::from_request(Request::from_parts(parts, body), app).await?.value;
    let scope = caller.scope.clone();
    let terms = caller.terms(false, IfMatch::default());
    if !locks {
        app.unlock_state(&terms, id, lock.id).await?;
        return Ok(StatusCode::OK.into_response());
    }
    match app.lock_state(&terms, id, lock).await {
        Ok(()) => Ok(StatusCode::OK.into_response()),
        // Terraform shows its user who holds the lock, if it is told in its own words.
        Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() => {
            let hold = app.store.state_hold(&scope, id).await?.ok_or(problem)?;
            Ok((StatusCode::LOCKED, Json(hold.lock)).into_response())
        }
        Err(problem) => Err(problem),
    }
}
