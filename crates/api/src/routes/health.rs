//! `/health`, `/ready`, `/metrics`: for probes and Prometheus, without a token.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Problem;

#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "healthy")]
    pub status: &'static str,
    pub version: &'static str,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Is the process alive?
#[utoipa::path(get, path = "/health", tag = "Health", operation_id = "health", security(()),
    responses((status = 200, description = "It is", body = Health)))]
pub async fn health() -> axum::Json<Health> {
    axum::Json(Health { status: "healthy", version: VERSION })
}

/// Can it do its work?
///
/// Not while it stops, nor while the database does not answer.
#[utoipa::path(get, path = "/ready", tag = "Health", operation_id = "ready", security(()),
    responses((status = 200, description = "It can", body = Health)))]
pub async fn ready(State(app): State<Arc<App>>) -> Result<axum::Json<Health>, Problem> {
    if app.is_draining() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"));
    }
    app.store.ping().await?;
    Ok(axum::Json(Health { status: "ready", version: VERSION }))
}

/// Metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "Health", operation_id = "metrics", security(()),
    responses((status = 200, description = "OpenMetrics text", body = String, content_type = "application/openmetrics-text")))]
pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    let text = app.metrics.text(app.store.writer_stats());
    ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}
