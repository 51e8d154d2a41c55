//! The pages around the API: its description, its documentation, and what to say at a wrong address.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{StatusCode, Uri, header};
use axum::response::Redirect;
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
