//! Every refusal as an RFC 9457 problem, with a `detail` that says what to do next. What the operator needs to know
//! besides goes to the log, not to the client.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::Lifecycle;
use serde::{Deserialize, Serialize};
use store::{Error, Refusal};
use tracing::error;
use utoipa::ToSchema;

use crate::intake::locked;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `about:blank`: the status says which kind of problem it is.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    pub title: Cow<'static, str>,
    pub status: u16,
    /// What happened, and what to do about it.
    pub detail: String,
    /// Each field that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Violation {
    #[schema(example = "spec.storage_gb")]
    pub path: String,
    #[schema(example = "at least 10")]
    pub expected: String,
    #[schema(example = "5")]
    pub found: String,
}

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem {
            kind: "about:blank".into(),
            title: status.canonical_reason().unwrap_or("Problem").into(),
            status: status.as_u16(),
            detail: detail.into(),
            violations: vec![],
        }
    }

    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    pub fn unprocessable(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    pub fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, detail)
    }

    pub fn unauthorized(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, detail)
    }

    pub fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, detail)
    }

    pub fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, detail)
    }

    /// A 400 that names each offending field, in the list and in the sentence.
    pub fn violations(what: &str, violations: Vec<model::schema::Violation>) -> Problem {
        let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
        let violations = violations
            .into_iter()
            .map(|violation| Violation { path: violation.path, expected: violation.expected, found: violation.found })
            .collect();
        Problem { violations, ..Problem::bad_request(format!("{what}: {}", lines.join("; "))) }
    }
}

impl From<model::InvalidName> for Problem {
    fn from(error: model::InvalidName) -> Self {
        let violation =
            Violation { path: error.field.clone(), expected: error.expected.into(), found: error.found.clone() };
        Problem { violations: vec![violation], ..Problem::bad_request(error.to_string()) }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Closing => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping; try again shortly")
            }
            Error::Unavailable(source) => {
                error!(error = %source, "the database is not available");
                Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the database is not available; nothing was changed, try again shortly",
                )
            }
            Error::Unknown(source) => {
                error!(error = %source, "the database broke off during a commit");
                Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the database broke off during the commit: the change may or may not have been made; look before you repeat it, or repeat it with the same Idempotency-Key",
                )
            }
            Error::Corrupt { what } => {
                error!(%what, "the database holds what this program does not understand");
                Problem::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the stored object cannot be read; see the server's log",
                )
            }
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound { what } => Problem::not_found(format!("there is no {what}")),
            Refusal::Exists { what } => {
                Problem::conflict(format!("{what} exists already; change that one, or choose another name"))
            }
            Refusal::VersionMismatch { found } => Problem::new(
                StatusCode::PRECONDITION_FAILED,
                format!(
                    "the object changed: it is now at version \"{found}\"; get it again, look at the change, and repeat with If-Match: \"{found}\""
                ),
            ),
            Refusal::TypeChanged { .. } => {
                Problem::conflict("the resource type keeps changing while this request is checked; try again")
            }
            Refusal::Going { what } => Problem::conflict(format!(
                "{what} is being deleted and takes no more changes; when it is gone, create it anew"
            )),
            Refusal::InUse { what, users } => {
                Problem::conflict(format!("{what} is in use by {users}; delete those first"))
            }
            Refusal::NoChoice { what, choice, lifecycle, choices } => {
                let choices: Vec<_> = choices.iter().map(|choice| choice.as_str()).collect();
                let instead = match (choices.is_empty(), lifecycle) {
                    (false, _) => format!("what can be done: {}", choices.join(", ")),
                    (true, Lifecycle::Failed) => "something newer is asked for already".into(),
                    (true, _) => "no failure waits for it; to have it looked at now: reconcile".into(),
                };
                let lifecycle = lifecycle.as_str();
                Problem::conflict(format!("{} is not possible for {what} ({lifecycle}); {instead}", choice.as_str()))
            }
            Refusal::Breaks { resources } => Problem::conflict(format!(
                "the new schema would break resources that exist: {}; change them first, or publish the schema as a new version",
                resources.join("; ")
            )),
            Refusal::Locked { hold } => Problem::conflict(locked(&hold)),
            Refusal::UnfitState { why } => Problem::conflict(format!("{why}; nothing was overwritten")),
            Refusal::OtherLock { hold: None, .. } => Problem::conflict("the state is not locked"),
            Refusal::OtherLock { asked, hold: Some(hold) } => Problem::conflict(match hold.job_id {
                Some(job) => format!(
                    "the state is held by job {job}, which is under way; its lock goes with it: wait, or stop it with `terrane cancel`"
                ),
                None => format!("the state is not locked with {asked}: {hold}"),
            }),
            Refusal::KeyReused => Problem::unprocessable(
                "this Idempotency-Key was used for another request; use a new key for a new request",
            ),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response =
            (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))], body)
                .into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
