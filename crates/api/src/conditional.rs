//! `ETag`, `If-Match` and `If-None-Match`: an object's version, for clients that must not overwrite what they have not seen.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use store::Refusal;

use crate::problem::Problem;

/// The versions under which a request may go ahead.
#[derive(Debug, Clone, Default)]
pub struct IfMatch(Option<Vec<i64>>);

impl IfMatch {
    pub fn check(&self, version: i64) -> Result<(), Refusal> {
        match &self.0 {
            Some(versions) if !versions.contains(&version) => Err(Refusal::VersionMismatch { found: version }),
            _ => Ok(()),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(IfMatch(None)) };
        let text = value.to_str().map_err(|_| Problem::bad_request("If-Match: not an ETag"))?.trim();
        if text == "*" {
            return Ok(IfMatch(None));
        }
        // A tag that is not ours matches nothing, which is what the client wants to hear.
        Ok(IfMatch(Some(text.split(',').filter_map(parse_tag).collect())))
    }
}

fn parse_tag(tag: &str) -> Option<i64> {
    tag.trim().strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

fn tag(version: i64) -> HeaderValue {
    HeaderValue::try_from(format!("\"{version}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// An object with its `ETag`.
pub fn tagged<T: Serialize>(status: StatusCode, version: i64, body: &T) -> Response {
    (status, [(header::ETAG, tag(version))], axum::Json(body)).into_response()
}

/// A new object with its `ETag` and its address.
pub fn created<T: Serialize>(version: i64, location: &str, body: &T) -> Response {
    let location = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/"));
    let headers: [(HeaderName, HeaderValue); 2] = [(header::ETAG, tag(version)), (header::LOCATION, location)];
    (StatusCode::CREATED, headers, axum::Json(body)).into_response()
}

/// An object read, or 304 when the client has this version already.
pub fn read<T: Serialize>(headers: &HeaderMap, version: i64, body: &T) -> Response {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let weakly = |tag: &str| parse_tag(tag.trim().strip_prefix("W/").unwrap_or(tag));
    if known.is_some_and(|text| text.trim() == "*" || text.split(',').filter_map(weakly).any(|tag| tag == version)) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag(version))]).into_response();
    }
    tagged(StatusCode::OK, version, body)
}
