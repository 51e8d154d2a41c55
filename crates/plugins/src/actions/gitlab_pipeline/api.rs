//! GitLab's REST API: the headers of a request, and what an answer that is not the wanted one means.

use model::plugin::Step;
use model::{Class, Failure};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::action::World;
use crate::actions::forge::{Clock, Credential, Trouble};
use crate::door::{Incoming, Outgoing};

/// GitLab's limits are by the minute.
const A_MINUTE: u64 = 60;

pub(super) struct Api<'a> {
    pub world: &'a World,
    pub step: Step,
    pub base: String,
    pub token: Option<Credential>,
    pub clock: Clock,
}

impl Api<'_> {
    /// Sends it and gives back the answers named; any other is trouble.
    pub async fn send(&self, mut request: Outgoing, wanted: &[u16]) -> Result<Incoming, Trouble> {
        if let Some(token) = &self.token {
            request = request.header("PRIVATE-TOKEN", token.0.expose_secret());
        }
        self.send_bare(request, wanted).await
    }

    /// Without the token.
    pub async fn send_bare(&self, request: Outgoing, wanted: &[u16]) -> Result<Incoming, Trouble> {
        match self.world.send(request.header("Accept", "application/json")).await {
            Ok(answer) if wanted.contains(&answer.status) => Ok(answer),
            Ok(answer) => Err(self.trouble(&answer)),
            Err(error) => Err(Trouble::of(&error, self.step)),
        }
    }

    pub fn json(&self, answer: &Incoming) -> Result<Value, Trouble> {
        answer.json().map_err(|_| Trouble::Lost(self.failure(Class::Outage, "GitLab's answer is not JSON")))
    }

    /// Whether an address is this server's: the token goes to no other.
    pub fn owns(&self, place: &str) -> bool {
        place.strip_prefix(&self.base).is_some_and(|rest| rest.starts_with('/'))
    }

    fn trouble(&self, answer: &Incoming) -> Trouble {
        let said = said(answer);
        let failure = match answer.status {
            429 => {
                let seconds = self.seconds_to_wait(answer);
                let message = format!("GitLab's rate limit is reached, for another {seconds} s");
                return Trouble::Throttled { seconds, message };
            }
            401 => self
                .failure(Class::Credentials, format!("GitLab does not take the token: {said}"))
                .with_hint("It may have expired or been revoked, or there is none. It needs the scope `api`"),
            403 => self.forbidden(answer, &said),
            404 => self
                .failure(Class::InvalidConfig, format!("It is not found, or the token may not see it: {said}"))
                .with_hint("See `project` and `ref`. The token needs the scope `api` and the role Developer"),
            301 | 302 | 307 | 308 => self
                .failure(Class::InvalidConfig, "The project has moved")
                .with_hint("Set `project` to where it is now"),
            500.. => {
                return Trouble::Lost(self.failure(Class::Outage, format!("GitLab answered {}", answer.status)));
            }
            status => self
                .failure(Class::InvalidConfig, format!("GitLab answered {status}: {said}"))
                .with_hint("See `ref`, `variables` and `inputs`, and the project's CI configuration"),
        };
        Trouble::Refused(failure)
    }

    fn seconds_to_wait(&self, answer: &Incoming) -> u64 {
        let reset = answer.header("ratelimit-reset").and_then(|at| at.parse::<i64>().ok());
        let until_reset = reset.map(|at| u64::try_from(at - self.clock.now()).unwrap_or(0) + 1);
        answer.retry_after_seconds().or(until_reset).unwrap_or(A_MINUTE)
    }

    fn forbidden(&self, answer: &Incoming, said: &str) -> Failure {
        let body = answer.json().unwrap_or_default();
        let lacking = body.get("error").and_then(Value::as_str) == Some("insufficient_scope");
        match body.get("scope").and_then(Value::as_str).filter(|_| lacking) {
            Some(scope) => self
                .failure(Class::Credentials, format!("The token lacks one of the scopes `{scope}`"))
                .with_hint("It needs the scope `api`"),
            None => self.failure(Class::Credentials, format!("The token may not do this: {said}")).with_hint(
                "It needs the scope `api` and the role Developer, on a protected branch the right to merge to it",
            ),
        }
    }

    pub fn failure(&self, class: Class, message: impl Into<String>) -> Failure {
        Failure::new(class, self.step, message)
    }
}

/// What GitLab says went wrong: text, or lists of text by field.
pub(super) fn said(answer: &Incoming) -> String {
    let body = answer.json().unwrap_or_default();
    let parts: Vec<_> = ["message", "error", "error_description"].iter().filter_map(|key| body.get(*key)).collect();
    let mut texts = Vec::new();
    parts.into_iter().for_each(|part| collect(part, &mut texts));
    if texts.is_empty() { "it does not say why".to_owned() } else { texts.join("; ") }
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => map.values().for_each(|item| collect(item, texts)),
        _ => {}
    }
}
