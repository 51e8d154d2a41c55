//! `/api/v1/secrets`: what plugins need to know and nobody else. A value goes in and never comes out here.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use model::{Role, SecretInfo};

use super::tenants::PageParams;
use crate::app::App;
use crate::body::Discreet;
use crate::caller::Caller;
use crate::conditional::{IfMatch, created, read, tagged};
use crate::intake::SecretBody;
use crate::listing::list;
use crate::params::{At, Params, WriteParams, check_text, page_size};
use crate::problem::Problem;

/// Set a secret
///
/// Whether or not there was one of that name. Its value is sealed at once, and never shown again.
#[utoipa::path(put, path = "/api/v1/secrets/{name}", tag = "Secrets", operation_id = "set_secret",
    params(("name" = String, Path, description = "The secret's name"), WriteParams), request_body = SecretBody,
    responses((status = 201, description = "Created", body = SecretInfo), (status = 200, description = "Replaced", body = SecretInfo)))]
pub async fn set_secret(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(name): At<String>,
    Params(params): Params<WriteParams>,
    Discreet(body): Discreet<SecretBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    caller.require_tenant()?;
    let set = app.set_secret(&caller.terms(params.dry_run, if_match), name, body).await?;
    let version = set.info.resource_version;
    Ok(if set.is_new {
        created(version, &format!("/api/v1/secrets/{}", set.info.name), &set.info)
    } else {
        tagged(StatusCode::OK, version, &set.info)
    })
}

/// List secrets
///
/// Their names and hosts, never their values.
#[utoipa::path(get, path = "/api/v1/secrets", tag = "Secrets", operation_id = "list_secrets", params(PageParams),
    responses((status = 200, description = "A page of secrets, without their values", body = Vec<SecretInfo>)))]
pub async fn list_secrets(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    Params(params): Params<PageParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let page = app.store.secrets(&caller.scope, params.cursor.unwrap_or(0), page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}

/// Get a secret's name and hosts
#[utoipa::path(get, path = "/api/v1/secrets/{name}", tag = "Secrets", operation_id = "get_secret",
    params(("name" = String, Path, description = "The secret's name")),
    responses((status = 200, description = "The secret, without its value", body = SecretInfo)))]
pub async fn get_secret(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At(name): At<String>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    check_text("name", &name, 253)?;
    let found = app.store.secret(&caller.scope, &name).await?;
    Ok(read(&headers, found.resource_version, &found))
}

/// Delete a secret
///
/// Resources whose configuration names it fail at their next reconciliation.
#[utoipa::path(delete, path = "/api/v1/secrets/{name}", tag = "Secrets", operation_id = "delete_secret",
    params(("name" = String, Path, description = "The secret's name"), WriteParams),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_secret(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(name): At<String>,
    Params(params): Params<WriteParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Editor)?;
    app.delete_secret(&caller.terms(params.dry_run, if_match), name).await?;
    Ok(StatusCode::NO_CONTENT)
}
