//! The pages around the API: its description, its documentation, and what to say at a wrong address.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use utoipa::openapi::OpenApi;

use crate::app::App;
use crate::problem::Problem;

pub fn routes(document: OpenApi) -> Router<Arc<App>> {
    let json = Bytes::from(serde_json::to_vec(&document).unwrap_or_default());
    Router::new()
        .route("/openapi.json", get(|| async move { ([(header::CONTENT_TYPE, "application/json")], json) }))
        .route(
            "/docs",
            get(|| async { ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("docs.html")) }),
        )
        .route("/", get(|| async { Redirect::temporary("/docs") }))
}

pub async fn nowhere(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}; see /docs for what there is", uri.path()))
}

pub async fn wrong_method(request: Request) -> Problem {
    let what = format!("{} is not possible at {}; see /docs for what is", request.method(), request.uri().path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, what)
}

/// Pages are not to be framed, guessed at or fed with other sites' scripts.
pub async fn secure_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await.into_response();
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"),
    );
    response
}
