//! `/api/v1/accounts`: the tenant's cloud accounts, which resources name in `plugin_config.account`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use model::{Account, Role};

use super::reply::replay;
use super::tenants::PageParams;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::{IfMatch, created, read};
use crate::intake::{AccountBody, Written};
use crate::listing::list;
use crate::params::{At, Params, WriteParams, check_text, page_size};
use crate::problem::Problem;

/// Register a cloud account
///
/// Its credentials are secrets of the tenant, by name; they need not be set yet.
#[utoipa::path(post, path = "/api/v1/accounts", tag = "Accounts", operation_id = "create_account",
    params(WriteParams), request_body = AccountBody,
    responses((status = 201, description = "Registered", body = Account)))]
pub async fn create_account(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Key,
    Params(params): Params<WriteParams>,
    body: Body<AccountBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    caller.require_tenant()?;
    let terms = caller.terms_once(params.dry_run, IfMatch::default(), key, &[b"POST account", &body.bytes]);
    Ok(match app.create_account(&terms, body.value).await? {
        Written::Done(account) => {
            created(account.resource_version, &format!("/api/v1/accounts/{}", account.name), &account)
        }
        Written::Replayed(recorded) => replay(&recorded, |_| "/api/v1/accounts".into()),
    })
}

/// List cloud accounts
#[utoipa::path(get, path = "/api/v1/accounts", tag = "Accounts", operation_id = "list_accounts", params(PageParams),
    responses((status = 200, description = "A page of accounts", body = Vec<Account>)))]
pub async fn list_accounts(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    Params(params): Params<PageParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let page = app.store.accounts(&caller.scope, params.cursor.unwrap_or(0), page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}

/// Get a cloud account
#[utoipa::path(get, path = "/api/v1/accounts/{name}", tag = "Accounts", operation_id = "get_account",
    params(("name" = String, Path, description = "The account's name")),
    responses((status = 200, description = "The account", body = Account)))]
pub async fn get_account(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At(name): At<String>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    check_text("name", &name, 253)?;
    let found = app.store.account(&caller.scope, &name).await?;
    Ok(read(&headers, found.resource_version, &found))
}

/// Delete a cloud account
///
/// Only one that no resource and no type names.
#[utoipa::path(delete, path = "/api/v1/accounts/{name}", tag = "Accounts", operation_id = "delete_account",
    params(("name" = String, Path, description = "The account's name"), WriteParams),
    responses((status = 204, description = "Deleted"), (status = 409, description = "Something uses it")))]
pub async fn delete_account(
    State(app): State<Arc<App>>,
    caller: Caller,
    if_match: IfMatch,
    At(name): At<String>,
    Params(params): Params<WriteParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Admin)?;
    app.delete_account(&caller.terms(params.dry_run, if_match), name).await?;
    Ok(StatusCode::NO_CONTENT)
}
