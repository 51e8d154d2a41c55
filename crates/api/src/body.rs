//! Request bodies: JSON that does not parse is a 400, JSON of the wrong shape a 422 that names the place.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::problem::{Problem, Violation};

/// The largest body taken, of states apart. Specs are small; modules do not travel this way.
pub const MAX_BODY: usize = 1024 * 1024;

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

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
        let bytes = tokio::time::timeout(PATIENCE, Bytes::from_request(request, state))
            .await
            .map_err(|_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time; send it again"))?
            .map_err(|rejection| unreadable(&rejection))?;
        let value = parse(&bytes)?;
        Ok(Body { value, bytes })
    }
}

/// A body that may hold a secret: where its shape is wrong, nothing of it is repeated.
pub struct Discreet<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Discreet<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Body::from_request(request, state).await {
            Ok(body) => Ok(Discreet(body.value)),
            Err(problem) if problem.status == StatusCode::UNPROCESSABLE_ENTITY.as_u16() => Err(Problem::unprocessable(
                "the body has the wrong shape; it is not repeated here, since it may hold the secret: see /docs for the fields there are, and their types",
            )),
            Err(problem) => Err(problem),
        }
    }
}

fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || essence == "application/merge-patch+json"
}

fn unreadable(rejection: &BytesRejection) -> Problem {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than this server takes here");
    }
    Problem::bad_request("the body could not be read to its end")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // An array would be taken for the fields in their order.
    if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
        serde_json::from_slice::<IgnoredAny>(bytes).map_err(|error| wrong(error, "."))?;
        return Err(misshapen("invalid type: another kind of value, expected an object", "."));
    }
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

/// Say what serde says in the words of every other violation.
pub fn misshapen(error: &str, path: &str) -> Problem {
    let text = error.rsplit_once(" at line ").map_or(error, |(text, _)| text);
    let place = |name: &str| match path {
        "." => name.to_string(),
        path if name.is_empty() || path.ends_with(name) => path.to_string(),
        path => format!("{path}.{name}"),
    };
    let quoted = |text: &str| text.split('`').nth(1).unwrap_or("").to_string();
    let (path, expected, found) = if text.starts_with("missing field") {
        (place(&quoted(text)), "a value (required)".to_string(), "nothing".to_string())
    } else if let Some((unknown, rest)) = text.split_once(", expected ").filter(|_| text.starts_with("unknown field")) {
        (place(&quoted(unknown)), rest.to_string(), format!("the unknown field {}", quoted(unknown)))
    } else if let Some((found, expected)) = text.split_once(", expected ") {
        let found = found.split_once(": ").map_or(found, |(_, found)| found);
        (place(""), expected.to_string(), found.to_string())
    } else {
        (place(""), "another value".to_string(), text.to_string())
    };
    let path = if path.is_empty() { "body".to_string() } else { path };
    let violation = Violation { path, expected, found };
    let detail = format!(
        "the body has the wrong shape: {}: expected {}, found {}",
        violation.path, violation.expected, violation.found
    );
    Problem { violations: vec![violation], ..Problem::unprocessable(detail) }
}

fn wrong(error: serde_json::Error, path: &str) -> Problem {
    match error.classify() {
        Category::Data => misshapen(&error.to_string(), path),
        Category::Syntax | Category::Eof | Category::Io => {
            Problem::bad_request(format!("the body is not JSON: {error}"))
        }
    }
}
