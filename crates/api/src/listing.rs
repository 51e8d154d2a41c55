//! Lists: bare arrays, the next page's address in the `Link` header.

use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use store::Page;

pub fn list<T: Serialize>(uri: &Uri, page: &Page<T>) -> Response {
    let mut response = axum::Json(&page.items).into_response();
    if let Some(next) = page.next
        && let Ok(link) = HeaderValue::try_from(format!("<{}>; rel=\"next\"", next_address(uri, next)))
    {
        response.headers_mut().insert(header::LINK, link);
    }
    response
}

/// The same query with another cursor.
fn next_address(uri: &Uri, cursor: i64) -> String {
    let kept: String = uri
        .query()
        .unwrap_or("")
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("cursor="))
        .map(|pair| format!("{pair}&"))
        .collect();
    format!("{}?{kept}cursor={}", uri.path(), utf8_percent_encode(&cursor.to_string(), NON_ALPHANUMERIC))
}
