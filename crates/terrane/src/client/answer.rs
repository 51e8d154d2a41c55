//! A server's answer, read whole; and what its refusals mean to a command.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LINK, LOCATION, RETRY_AFTER};
use serde::de::DeserializeOwned;

use super::failure::{Code, Failure};
use super::print::clean;

pub struct Answer {
    pub status: StatusCode,
    pub retry_after: Option<Duration>,
    /// Where the next page is, on the same server.
    pub next_page: Option<String>,
    /// A delete that found nothing when it was repeated: it was done the first time.
    pub is_gone: bool,
    content_type: String,
    location: Option<String>,
    body: Vec<u8>,
}

impl Answer {
    pub async fn read(response: reqwest::Response) -> reqwest::Result<Answer> {
        let headers = response.headers();
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
        Ok(Answer {
            status: response.status(),
            retry_after: text(RETRY_AFTER).and_then(|text| text.parse().ok()).map(Duration::from_secs),
            next_page: next_page(headers),
            is_gone: false,
            content_type: text(CONTENT_TYPE).unwrap_or_else(|| "no content type".into()),
            location: text(LOCATION),
            body: response.bytes().await?.to_vec(),
        })
    }

    pub fn json<T: DeserializeOwned>(&self, server: &str) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|_| self.strange(server))
    }

    pub fn text(self, server: &str) -> Result<String, Failure> {
        std::str::from_utf8(&self.body).map(str::to_string).map_err(|_| self.strange(server))
    }

    /// Whatever answered, it is not Terrane.
    fn strange(&self, server: &str) -> Failure {
        let body = String::from_utf8_lossy(&self.body);
        let begins: String = body.trim().chars().take(80).collect();
        let what = format!("{server} does not answer as Terrane does: {} ({})", self.status, self.content_type);
        let mut failure =
            Failure::new(Code::NotReachable, what).next_step("Is --server right? Is something in between?");
        if !begins.is_empty() {
            failure.details.push(format!("it says: {}", clean(&begins)));
        }
        failure
    }
}

/// Only ever on the same server: a token must not follow a link elsewhere.
fn next_page(headers: &HeaderMap) -> Option<String> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    let address = next.split_once('<')?.1.split_once('>')?.0;
    (address.starts_with('/') && !address.starts_with("//")).then(|| address.to_string())
}

pub fn refusal(answer: &Answer, server: &str) -> Failure {
    if let (true, Some(location)) = (answer.status.is_redirection(), &answer.location) {
        return Failure::new(Code::NotReachable, format!("{server} sends us on to {}", clean(location)))
            .next_step("Name that address with --server, without the path.");
    }
    let Ok(problem) = answer.json::<api::Problem>(server) else { return answer.strange(server) };
    let code = match answer.status.as_u16() {
        404 => Code::NotFound,
        409 | 412 => Code::Conflict,
        400 | 413 | 415 | 422 => Code::Invalid,
        401 | 403 => Code::NotAllowed,
        429 | 500..=599 => Code::NotReachable,
        _ => Code::Failed,
    };
    let details: Vec<_> = problem
        .violations
        .iter()
        .map(|violation| format!("{}: expected {}, found {}", violation.path, violation.expected, violation.found))
        .collect();
    // With each field on its own line, the sentence need not repeat them.
    let message = match details.first() {
        Some(first) => {
            problem.detail.split_once(&format!(": {first}")).map_or(problem.detail.as_str(), |(what, _)| what)
        }
        None => &problem.detail,
    };
    let failure = Failure { details, ..Failure::new(code, message) };
    match answer.status {
        StatusCode::UNAUTHORIZED => failure.next_step(
            "Pass a token with --token or TERRANE_TOKEN, or keep one: `terrane context set NAME --server URL --token -`.",
        ),
        _ => failure,
    }
}
