//! `/api/v1/tenants`, for operators.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use model::{Role, Scope, Tenant};
use serde::{Deserialize, Serialize};
use store::NewTenant;
use utoipa::{IntoParams, ToSchema};

use super::reply::replay;
use super::terms::Key;
use crate::app::App;
use crate::body::Body;
use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::intake::Written;
use crate::listing::list;
use crate::params::{At, Params, WriteParams, check_text, page_size};
use crate::problem::Problem;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTenantBody {
    #[schema(example = "acme", pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
    pub name: String,
    #[serde(default)]
    #[schema(max_length = 4096)]
    pub description: String,
}

/// A page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageParams {
    /// How many at most; the `Link` header tells where the next page is.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<i64>,
    /// Where the page begins, from the `Link` header.
    pub cursor: Option<i64>,
}

fn location(name: &str) -> String {
    format!("/api/v1/tenants/{name}")
}

/// Create a tenant
#[utoipa::path(post, path = "/api/v1/tenants", tag = "Tenants", operation_id = "create_tenant",
    params(WriteParams), request_body = NewTenantBody,
    responses((status = 201, description = "Created", body = Tenant)))]
pub async fn create_tenant(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Key,
    Params(params): Params<WriteParams>,
    body: Body<NewTenantBody>,
) -> Result<Response, Problem> {
    caller.require(Role::Operator)?;
    model::check_name("name", &body.value.name)?;
    check_text("description", &body.value.description, 4096)?;
    let name = body.value.name.clone();
    let mut terms = caller.terms_once(params.dry_run, IfMatch::default(), key, &[b"POST tenants", &body.bytes]);
    terms.scope = Scope::fleet();
    let new = Arc::new(NewTenant { name: body.value.name, description: body.value.description });
    let actor = terms.actor.clone();
    let written = terms.write(&app.store, 0, 201, move |tx| {
        let (actor, new) = (actor.clone(), new.clone());
        Box::pin(async move { tx.create_tenant(&actor, &new).await })
    });
    match written.await? {
        Written::Done(tenant) => {
            Ok((StatusCode::CREATED, [(header::LOCATION, location(&name))], axum::Json(tenant)).into_response())
        }
        Written::Replayed(recorded) => Ok(replay(&recorded, |_| location(&name))),
    }
}

/// List tenants
#[utoipa::path(get, path = "/api/v1/tenants", tag = "Tenants", operation_id = "list_tenants", params(PageParams),
    responses((status = 200, description = "A page of tenants", body = Vec<Tenant>)))]
pub async fn list_tenants(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    Params(params): Params<PageParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Operator)?;
    let page = app.store.tenants(params.cursor.unwrap_or(0), page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}

/// Get a tenant
#[utoipa::path(get, path = "/api/v1/tenants/{name}", tag = "Tenants", operation_id = "get_tenant",
    params(("name" = String, Path, description = "The tenant's name")),
    responses((status = 200, description = "The tenant", body = Tenant)))]
pub async fn get_tenant(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(name): At<String>,
) -> Result<axum::Json<Tenant>, Problem> {
    caller.require(Role::Operator)?;
    check_text("name", &name, 253)?;
    Ok(axum::Json(app.store.tenant(&name).await?))
}

/// Delete a tenant
///
/// Refused while it has resources or types; its tokens go with it.
#[utoipa::path(delete, path = "/api/v1/tenants/{name}", tag = "Tenants", operation_id = "delete_tenant",
    params(("name" = String, Path, description = "The tenant's name"), WriteParams),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_tenant(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(name): At<String>,
    Params(params): Params<WriteParams>,
) -> Result<StatusCode, Problem> {
    caller.require(Role::Operator)?;
    check_text("name", &name, 253)?;
    if name == Scope::DEFAULT {
        return Err(Problem::conflict("the tenant default is always there"));
    }
    let terms = caller.terms(params.dry_run, IfMatch::default());
    let actor = terms.actor.clone();
    terms
        .write(&app.store, 0, 204, move |tx| {
            let (actor, name) = (actor.clone(), name.clone());
            Box::pin(async move { tx.delete_tenant(&actor, &name).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
