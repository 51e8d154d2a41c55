//! `/api/v1/alerts`

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use model::{Alert, Role};

use super::resources::HistoryParams;
use crate::app::App;
use crate::caller::Caller;
use crate::listing::list;
use crate::params::{Params, page_size};
use crate::problem::Problem;

/// The alerts that stand
///
/// Failures that a person should know of at once, each until something goes well or its resource is gone.
#[utoipa::path(get, path = "/api/v1/alerts", tag = "Failures", operation_id = "list_alerts", params(HistoryParams),
    responses((status = 200, description = "A page of alerts", body = Vec<Alert>)))]
pub async fn list_alerts(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    Params(params): Params<HistoryParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let page = app.store.alerts(&caller.scope, params.cursor.unwrap_or(0), page_size(params.limit)?).await?;
    Ok(list(&uri, &page))
}
