//! Each request gets an id, a span, a line in the log and a place in the metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::field::Empty;
use tracing::{Instrument, debug_span, info, info_span, warn};

use crate::app::App;
use crate::guard::guard;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of the request under way, given by the client or drawn.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

/// What every request passes on its way in and out, in one step: each layer of its own would cost every request.
pub async fn observe(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_string(), |path| path.as_str().to_string());
    // The path without its query: a filter may hold what does not belong in a log. Reads get a span at level debug.
    let path = request.uri().path();
    let span = if method.is_safe() {
        debug_span!("request", request_id = %id, %method, path, tenant = Empty, actor = Empty)
    } else {
        info_span!("request", request_id = %id, %method, path, tenant = Empty, actor = Empty)
    };
    let mut response = match guard(&app, &request) {
        Ok(()) => next.run(request).instrument(span.clone()).await,
        Err(problem) => problem.into_response(),
    };
    let status = response.status();
    let took = started.elapsed();
    app.metrics.observe(&method, &route, status.as_u16(), took);
    let _entered = span.enter();
    if status.is_server_error() {
        warn!(request_id = %id, %method, route, status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "request failed");
    } else if !method.is_safe() {
        info!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "request");
    } else {
        tracing::debug!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "request");
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::try_from(id) {
        headers.insert(REQUEST_ID, value);
    }
    secure(headers);
    response
}

fn request_id(request: &Request) -> String {
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(|id| {
        (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    });
    given.map_or_else(draw, str::to_string)
}

/// Sixteen digits: where this process began to count, and how far it has come, well mixed.
fn draw() -> String {
    static START: LazyLock<u64> = LazyLock::new(|| getrandom::u64().unwrap_or_default());
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}", START.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Answers are not to be framed, guessed at or fed with other sites' scripts.
fn secure(headers: &mut HeaderMap) {
    const RULES: &str = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(RULES));
}
