//! Each request gets an id, a span, a line in the log and a place in the metrics.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument, field, info, info_span, warn};

use crate::app::App;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of the request under way, given by the client or drawn.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

pub async fn observe(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_string(), |path| path.as_str().to_string());
    // The path without its query: a filter may hold what does not belong in a log.
    let span = info_span!("request", request_id = %id, %method, path = %request.uri().path(), tenant = field::Empty, actor = field::Empty);
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    let took = started.elapsed();
    app.metrics.observe(&method, &route, status.as_u16(), took);
    let _entered = span.enter();
    if status.is_server_error() {
        warn!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "request failed");
    } else if !method.is_safe() {
        info!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "request");
    } else {
        tracing::debug!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "request");
    }
    if let Ok(value) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

fn request_id(request: &Request) -> String {
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(|id| {
        (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    });
    given.map_or_else(draw, str::to_string)
}

fn draw() -> String {
    let mut bytes = [0u8; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(_) => "0".repeat(16),
    }
}
