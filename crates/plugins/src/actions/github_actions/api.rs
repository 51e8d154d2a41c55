//! GitHub's REST API: the headers of a request, and what an answer that is not the wanted one means.

use model::plugin::Step;
use model::{Class, Failure};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::action::World;
use crate::actions::forge::{Clock, Credential, Trouble};
use crate::door::{Incoming, Outgoing};

const API_VERSION: &str = "2022-11-28";
/// GitHub asks for it where it does not say how long.
const A_MINUTE: u64 = 60;
/// What dispatching, following and cancelling need of a classic token.
const NEEDED_SCOPE: &str = "repo";

pub(super) struct Api<'a> {
    pub world: &'a World,
    pub step: Step,
    pub base: String,
    pub token: Credential,
    pub clock: Clock,
}

impl Api<'_> {
    /// Sends it and gives back the answers named; any other is trouble.
    pub async fn send(&self, request: Outgoing, wanted: &[u16]) -> Result<Incoming, Trouble> {
        let request = request
            .header("Accept", "application/vnd.github+json")
            .header("X-GitHub-Api-Version", API_VERSION)
            .header("Authorization", format!("Bearer {}", self.token.0.expose_secret()));
        match self.world.send(request).await {
            Ok(answer) if wanted.contains(&answer.status) => Ok(answer),
            Ok(answer) => Err(self.trouble(&answer)),
            Err(error) => Err(Trouble::of(&error, self.step)),
        }
    }

    pub async fn get_json(&self, url: String) -> Result<Value, Trouble> {
        let answer = self.send(Outgoing::get(url), &[200]).await?;
        self.json(&answer)
    }

    pub fn json(&self, answer: &Incoming) -> Result<Value, Trouble> {
        answer.json().map_err(|_| Trouble::Lost(self.failure(Class::Outage, "GitHub's answer is not JSON")))
    }

    /// Whether an address is this server's: the token goes to no other.
    pub fn owns(&self, place: &str) -> bool {
        place.strip_prefix(&self.base).is_some_and(|rest| rest.starts_with('/'))
    }

    fn trouble(&self, answer: &Incoming) -> Trouble {
        let said = said(answer);
        if let Some(seconds) = self.throttled(answer, &said) {
            let message = format!("GitHub's rate limit is reached, for another {seconds} s");
            return Trouble::Throttled { seconds, message };
        }
        let failure = match answer.status {
            401 => self
                .failure(Class::Credentials, format!("GitHub does not take the token: {said}"))
                .with_hint("It may have expired or been revoked. Put a new one into its secret"),
            403 | 404 => self.not_allowed(answer, &said),
            301 | 302 | 307 | 308 => self
                .failure(Class::InvalidConfig, "The repository has moved")
                .with_hint("Set `owner` and `repo` to where it is now"),
            500.. => {
                return Trouble::Lost(self.failure(Class::Outage, format!("GitHub answered {}", answer.status)));
            }
            status => self.failure(Class::InvalidConfig, format!("GitHub answered {status}: {said}")),
        };
        Trouble::Refused(failure)
    }

    /// How long to wait, if that is what it says: `Retry-After` for the secondary limits, else until the primary one
    /// starts anew.
    fn throttled(&self, answer: &Incoming, said: &str) -> Option<u64> {
        let spent = answer.header("x-ratelimit-remaining") == Some("0");
        let asked = answer.retry_after_seconds();
        let limited = spent || asked.is_some() || said.to_lowercase().contains("rate limit");
        if !(answer.status == 429 || answer.status == 403 && limited) {
            return None;
        }
        let reset = answer.header("x-ratelimit-reset").and_then(|at| at.parse::<i64>().ok()).filter(|_| spent);
        let until_reset = reset.map(|at| u64::try_from(at - self.clock.now()).unwrap_or(0) + 1);
        Some(asked.or(until_reset).unwrap_or(A_MINUTE))
    }

    fn not_allowed(&self, answer: &Incoming, said: &str) -> Failure {
        if let Some(scope) = missing_scope(answer) {
            return self
                .failure(Class::Credentials, format!("The token lacks the scope `{scope}`: {said}"))
                .with_hint("A classic token needs the scopes `repo` and `workflow`");
        }
        if answer.status == 404 {
            return self
                .failure(Class::InvalidConfig, "The repository, workflow or run is not found, or the token may not see it")
                .with_hint(
                    "See `owner`, `repo` and `workflow`; the workflow has to be on the default branch. The token needs the \
                     scopes `repo` and `workflow`, a fine-grained one access to the repository and \"Actions: write\"",
                );
        }
        self.failure(Class::Credentials, format!("The token may not do this: {said}"))
            .with_hint("A classic token needs the scopes `repo` and `workflow`, a fine-grained one \"Actions: write\"")
    }

    pub fn failure(&self, class: Class, message: impl Into<String>) -> Failure {
        Failure::new(class, self.step, message)
    }
}

/// What GitHub says went wrong.
pub(super) fn said(answer: &Incoming) -> String {
    let body = answer.json().unwrap_or_default();
    let message = body.get("message").and_then(Value::as_str).unwrap_or("it does not say why");
    let details = body
        .get("errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|error| error.as_str().or_else(|| error.get("message").and_then(Value::as_str)));
    std::iter::once(message).chain(details).collect::<Vec<_>>().join("; ")
}

/// The scope that a classic token would need; its scopes are in the answer, a fine-grained token's are not.
fn missing_scope(answer: &Incoming) -> Option<String> {
    let list = |name: &str| -> Option<Vec<String>> {
        let scopes = answer.header(name)?.split(',').map(|scope| scope.trim().to_owned());
        Some(scopes.filter(|scope| !scope.is_empty()).collect())
    };
    let has = list("x-oauth-scopes")?;
    let accepted = list("x-accepted-oauth-scopes").filter(|scopes| !scopes.is_empty());
    let accepted = accepted.unwrap_or_else(|| vec![NEEDED_SCOPE.to_owned()]);
    if accepted.iter().any(|scope| has.contains(scope)) { None } else { accepted.last().cloned() }
}
