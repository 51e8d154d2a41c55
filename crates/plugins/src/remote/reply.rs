//! What comes back from a plugin, and what it means when it is not what should come back.

use model::plugin::Step;
use model::{Class, Failure};
use serde::de::DeserializeOwned;

use crate::door::{DoorError, Incoming};
use crate::expr::shortened;
use crate::secrets::Secrets;

const EXCERPT: usize = 300;

/// Reads a descriptor or an answer.
pub fn read<T: DeserializeOwned>(
    plugin: &str,
    what: &str,
    incoming: &Incoming,
    step: Step,
    secrets: &Secrets,
) -> Result<T, Failure> {
    if !incoming.is_success() {
        return Err(refused(plugin, incoming, step, secrets));
    }
    serde_json::from_slice(&incoming.body).map_err(|error| {
        let body = secrets.redact(&shortened(&incoming.text(), EXCERPT));
        let error = secrets.redact(&error.to_string());
        let message = format!("the plugin `{plugin}` gave a wrong {what}: {error}. It was: {body}");
        Failure::new(Class::Plugin, step, message)
            .with_hint("`terrane plugin check` tells its author what is wrong with it.")
    })
}

fn refused(plugin: &str, incoming: &Incoming, step: Step, secrets: &Secrets) -> Failure {
    let (class, hint) = match incoming.status {
        401 | 403 => (Class::Credentials, "Check the token that the operator registered the plugin with."),
        408 => (Class::Network, ""),
        429 => (Class::Throttle, ""),
        500..=599 => (Class::Outage, ""),
        _ => (Class::Plugin, ""),
    };
    let body = shortened(secrets.redact(&incoming.text()).trim(), EXCERPT);
    let colon = if body.is_empty() { "" } else { ": " };
    let message = format!("the plugin `{plugin}` answered with status {}{colon}{body}", incoming.status);
    let retry_after_seconds = incoming.retry_after_seconds();
    Failure { retry_after_seconds, ..Failure::new(class, step, message).with_hint(hint) }
}

/// A call that did not get through.
pub fn unsent(plugin: &str, error: &DoorError, step: Step) -> Failure {
    let failure = error.failure(step);
    let class = if matches!(error, DoorError::TooLarge { .. }) { Class::Plugin } else { failure.class };
    Failure { class, message: format!("the plugin `{plugin}` could not be asked: {}", failure.message), ..failure }
}
