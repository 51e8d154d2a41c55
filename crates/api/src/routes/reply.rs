//! Answers that were given before.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use store::Recorded;

use crate::conditional::{created, tagged};

/// Give a recorded answer again, and say that it is one.
pub fn replay(recorded: &Recorded, location: impl Fn(i64) -> String) -> Response {
    let status = StatusCode::from_u16(recorded.status).unwrap_or(StatusCode::OK);
    let body: Value = serde_json::from_str(&recorded.body).unwrap_or_default();
    let version = body.get("resource_version").and_then(Value::as_i64).unwrap_or(0);
    let id = body.get("id").and_then(Value::as_i64).unwrap_or(0);
    let mut response = if status == StatusCode::CREATED {
        created(version, &location(id), &body)
    } else {
        tagged(status, version, &body)
    };
    if version == 0 {
        response.headers_mut().remove(header::ETAG);
    }
    response.headers_mut().insert(HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));
    response.into_response()
}
