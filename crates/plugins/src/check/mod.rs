//! The conformance kit: what `terrane plugin check URL` asks of a plugin before somebody trusts it with infrastructure.
//! It makes one thing, asks twice wherever a crash would make Terrane ask twice, and removes it again.

mod conversation;
mod questions;
mod report;

use secrecy::SecretString;
use serde_json::Value;

pub use report::{Check, Report};

use crate::door::Door;
use conversation::Conversation;

/// What the plugin is asked to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub config: Value,
    pub spec: Value,
}

/// Checks a plugin with the example that its `config_schema` gives, or with an empty configuration.
pub async fn check(url: &str, token: Option<SecretString>, door: Door) -> Report {
    check_with(url, token, door, None).await
}

/// Checks a plugin with a configuration and a spec that suit it.
pub async fn check_with(url: &str, token: Option<SecretString>, door: Door, sample: Option<Sample>) -> Report {
    let mut report = Report::new(url);
    let mut conversation = Conversation::new(url, token, door);
    let Some(descriptor) = questions::descriptor(&mut conversation, &mut report).await else {
        return report;
    };
    let sample = sample.unwrap_or_else(|| questions::sample(&descriptor));
    let mut asking = questions::Asking { conversation, descriptor, sample, memory: Value::Null };
    asking.tolerance(&mut report).await;
    asking.reading(&mut report).await;
    asking.making(&mut report).await;
    asking.removing(&mut report).await;
    asking.endurance(&mut report).await;
    asking.shapes(&mut report);
    report
}
