//! Request bodies: JSON that does not parse is a 400, JSON of the wrong shape a 422 that names the place.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::problem::{Problem, Violation};

/// The largest body taken. Specs are small; modules and state do not travel this way.
pub const MAX_BODY: usize = 1024 * 1024;

/// A parsed body, and the bytes it came from.
pub struct Body<T> {
    pub value: T,
    pub bytes: Bytes,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        if !is_json(kind) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body must be JSON: send Content-Type: application/json",
            ));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| unreadable(&rejection))?;
        let value = parse(&bytes)?;
        Ok(Body { value, bytes })
    }
}

fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn unreadable(rejection: &BytesRejection) -> Problem {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {MAX_BODY} bytes"));
    }
    Problem::bad_request("the body could not be read to its end")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        // A wrong shape is only worth telling of in a body that is JSON at all.
        match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => wrong(error.into_inner(), &path),
            Err(error) => wrong(error, "."),
        }
    })?;
    json.end().map_err(|error| wrong(error, "."))?;
    Ok(value)
}

fn wrong(error: serde_json::Error, path: &str) -> Problem {
    match error.classify() {
        Category::Data => {
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_string();
            let path = if path == "." { "body".to_string() } else { path.to_string() };
            let violation = Violation { path: path.clone(), expected: what.clone(), found: "another shape".into() };
            Problem { violations: vec![violation], ..Problem::unprocessable(format!("{path}: {what}")) }
        }
        Category::Syntax | Category::Eof | Category::Io => {
            Problem::bad_request(format!("the body is not JSON: {error}"))
        }
    }
}
