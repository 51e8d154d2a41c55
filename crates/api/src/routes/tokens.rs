//! `/api/v1/tokens`, for admins of a tenant; `/api/v1/whoami` for everyone.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use model::{Role, Token, TokenId};
use serde::{Deserialize, Serialize};
use store::NewToken;
use utoipa::ToSchema;

use super::tenants::PageParams;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::intake::Written;
use crate::listing::list;
use crate::params::{At, Params, WriteParams, page_size};
use crate::problem::Problem;
use crate::secret::new_token;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTokenBody {
    #[schema(example = "ci-deploy", pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
    pub name: String,
    pub role: Role,
    /// Until when it is good; for ever where absent.
    pub expires_at: Option<Timestamp>,
}

/// A new token: the only time its secret is shown.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedToken {
    #[serde(flatten)]
    pub record: Token,
    /// Send it as `Authorization: Bearer …`. It is stored nowhere; keep it safe.
    pub token: String,
}

/// Who the server takes the caller for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Identity {
    pub actor: String,
    pub role: Role,
    pub tenant: String,
}

/// Create a token
///
/// Its secret is in the answer, this once. An operator's token belongs to the tenant `fleet`, and only an operator can
/// make one.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "Tokens", operation_id = "create_token",
    params(WriteParams), request_body = NewTokenBody,
    responses((status = 201, description = "Created", body = CreatedToken)))]
pub async fn create_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Key,
    Params(params): Params<WriteParams>,
    body: Body<NewTokenBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let NewTokenBody { name, role, expires_at } = body.value;
    caller.require(role)?;
    model::check_name("name", &name)?;
    if (role == Role::Operator) != caller.scope.id.is_fleet() {
        return Err(Problem::bad_request(
            "role: an operator's token belongs to the tenant fleet, and every other to a tenant; name it with Terrane-Tenant",
        ));
    }
    if expires_at.is_some_and(|at| at <= Timestamp::now()) {
        return Err(Problem::bad_request("expires_at: expected a time in the future"));
    }
    let secret = new_token()
        .map_err(|_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the system has no randomness to give"))?;
    let terms = caller.terms_once(params.dry_run, IfMatch::default(), key, &[b"POST tokens", &body.bytes]);
    let new = Arc::new(NewToken { name, role, expires_at, prefix: secret.prefix, hash: secret.hash });
    let (scope, actor) = (terms.scope.clone(), terms.actor.clone());
    let written = terms.write(&app.store, 0, 201, move |tx| {
        let (scope, actor, new) = (scope.clone(), actor.clone(), new.clone());
        Box::pin(async move { tx.create_token(&scope, &actor, &new).await })
    });
    match written.await? {
        Written::Done(record) => {
            let location = format!("/api/v1/tokens/{}", record.id);
            let body = CreatedToken { record, token: secret.token };
            Ok((StatusCode::CREATED, [(header::LOCATION, location)], axum::Json(body)).into_response())
        }
        Written::Replayed(_) => Err(Problem::conflict(
            "this token was created by an earlier request with the same key, and its secret was shown then, once; if it was lost, delete the token and create another",
        )),
    }
}

/// List tokens
#[utoipa::path(get, path = "/api/v1/tokens", tag = "Tokens", operation_id = "list_tokens", params(PageParams),
    responses((status = 200, description = "A page of tokens, without their secrets", body = Vec<Token>)))]
pub async fn list_tokens(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    Params(params): Params<PageParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let page = app.store.tokens(&caller.scope, params.cursor.unwrap_or(0), page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}

/// Get a token
#[utoipa::path(get, path = "/api/v1/tokens/{id}", tag = "Tokens", operation_id = "get_token",
    params(("id" = i64, Path, description = "The token's id")),
    responses((status = 200, description = "The token, without its secret", body = Token)))]
pub async fn get_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<TokenId>,
) -> Result<axum::Json<Token>, Problem> {
    caller.require(Role::Admin)?;
    Ok(axum::Json(app.store.token(&caller.scope, id).await?))
}

/// Revoke a token
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "Tokens", operation_id = "delete_token",
    params(("id" = i64, Path, description = "The token's id"), WriteParams),
    responses((status = 204, description = "Revoked")))]
pub async fn delete_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<TokenId>,
    Params(params): Params<WriteParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Admin)?;
    let terms = caller.terms(params.dry_run, IfMatch::default());
    let (scope, actor) = (terms.scope.clone(), terms.actor.clone());
    terms
        .write(&app.store, 0, 204, move |tx| {
            let (scope, actor) = (scope.clone(), actor.clone());
            Box::pin(async move { tx.delete_token(&scope, &actor, id).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who am I?
///
/// The caller's name, role and tenant.
#[utoipa::path(get, path = "/api/v1/whoami", tag = "Tokens", operation_id = "whoami",
    responses((status = 200, description = "The caller", body = Identity)))]
pub async fn whoami(caller: Caller) -> axum::Json<Identity> {
    axum::Json(Identity { actor: caller.actor.name, role: caller.role, tenant: caller.scope.name })
}
