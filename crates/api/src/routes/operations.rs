//! `/api/v1/resources/{id}/operations`

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use model::{Operation, ResourceId, Role};

use super::resources::HistoryParams;
use crate::app::App;
use crate::caller::Caller;
use crate::listing::list;
use crate::params::{At, Params, page_size};
use crate::problem::Problem;

/// The operations on a resource
///
/// The one under way and those that ended, newest first, each with its phase, step and failure. They stay after the
/// resource is gone.
#[utoipa::path(get, path = "/api/v1/resources/{id}/operations", tag = "Resources", operation_id = "list_operations",
    params(("id" = i64, Path, description = "The resource's id"), HistoryParams),
    responses((status = 200, description = "A page of operations", body = Vec<Operation>)))]
pub async fn list_operations(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    At(id): At<ResourceId>,
    Params(params): Params<HistoryParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let page = app.store.operations(&caller.scope, id, params.cursor, page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}
