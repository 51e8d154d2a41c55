//! Why a request did not leave, or its answer did not come back. Never holds a secret, nor more of a URL than its host.

use model::plugin::Step;
use model::{Class, Failure};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    #[error("the URL{} cannot be called: {why}", of(.host))]
    BadUrl { host: String, why: String },
    #[error("the header `{name}` cannot be sent to {host}: {why}")]
    BadHeader { name: String, host: String, why: String },
    #[error("{host} may not be called: {why}")]
    Forbidden { host: String, port: u16, why: String },
    #[error("the secret `{secret}` may not be sent to {host}")]
    SecretMayNotGoThere { secret: String, host: String },
    #[error("{host} cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    #[error("{host} did not answer in time")]
    TimedOut { host: String },
    #[error("{host} broke off its answer: {why}")]
    BrokenAnswer { host: String, why: String },
    #[error("the answer of {host} has more than {bytes} bytes")]
    TooLarge { host: String, bytes: usize },
    #[error("{host} redirects for the {times}th time")]
    TooManyRedirects { host: String, times: usize },
    #[error("the time for this step was over before {host} was called")]
    Late { host: String },
}

fn of(host: &str) -> String {
    if host.is_empty() { String::new() } else { format!(" of {host}") }
}

impl DoorError {
    pub fn class(&self) -> Class {
        match self {
            DoorError::BadUrl { .. } | DoorError::BadHeader { .. } => Class::InvalidConfig,
            DoorError::Forbidden { .. } | DoorError::SecretMayNotGoThere { .. } => Class::Forbidden,
            DoorError::Unreachable { .. }
            | DoorError::TimedOut { .. }
            | DoorError::BrokenAnswer { .. }
            | DoorError::Late { .. } => Class::Network,
            DoorError::TooLarge { .. } | DoorError::TooManyRedirects { .. } => Class::Outage,
        }
    }

    /// Whether the other side may have got the request, and acted on it.
    pub fn may_have_arrived(&self) -> bool {
        matches!(
            self,
            DoorError::TimedOut { .. }
                | DoorError::BrokenAnswer { .. }
                | DoorError::TooLarge { .. }
                | DoorError::TooManyRedirects { .. }
        )
    }

    /// The failure of the step that wanted to send it.
    pub fn failure(&self, step: Step) -> Failure {
        let hint = match self {
            DoorError::BadUrl { .. } => "Give an http or https URL without a user name or password.".to_owned(),
            DoorError::Forbidden { host, port, .. } => {
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                format!("The operator can let it through with `--allow-outbound {host}:{port}`.")
            }
            DoorError::SecretMayNotGoThere { secret, host } => {
                format!("If it may go there, add `{host}` to the hosts of the secret `{secret}`.")
            }
            _ => String::new(),
        };
        Failure::new(self.class(), step, self.to_string()).with_hint(hint)
    }
}
