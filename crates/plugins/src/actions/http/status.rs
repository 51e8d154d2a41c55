//! What an answer's status says about trying again.

use model::plugin::Step;
use model::{Class, Failure};

use crate::door::Incoming;
use crate::expr::shortened;
use crate::secrets::Secrets;

const EXCERPT: usize = 500;

pub fn is_expected(expect: &[u16], incoming: &Incoming) -> bool {
    if expect.is_empty() { incoming.is_success() } else { expect.contains(&incoming.status) }
}

pub fn is_gone(incoming: &Incoming) -> bool {
    matches!(incoming.status, 404 | 410)
}

/// The failure that an unexpected status is.
pub fn failure(step: Step, said: &str, incoming: &Incoming, secrets: &Secrets) -> Failure {
    let (class, hint) = match incoming.status {
        429 => (Class::Throttle, ""),
        500..=599 => (Class::Outage, ""),
        408 => (Class::Network, ""),
        401 | 403 => (Class::Credentials, "Check the credential that the request carries, and what it may do."),
        409 | 412 => (Class::Conflict, ""),
        300..=399 => (Class::InvalidConfig, "Redirects are followed for GET only: give the URL that it redirects to."),
        _ => {
            (Class::InvalidConfig, "Check the request in the configuration of the plugin, and the spec it is made of.")
        }
    };
    let body = secrets.redact(&incoming.text());
    let body = shortened(body.trim(), EXCERPT);
    let colon = if body.is_empty() { "" } else { ": " };
    let failure =
        Failure::new(class, step, format!("{said} answered {}{colon}{body}", incoming.status)).with_hint(hint);
    let retry_after_seconds = matches!(incoming.status, 429 | 503).then(|| incoming.retry_after_seconds()).flatten();
    Failure { retry_after_seconds, ..failure }
}
