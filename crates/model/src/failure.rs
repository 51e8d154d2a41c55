//! Why something did not work, and what follows from it. Every failure has a class, and the class decides whether trying
//! again can help; the rest is for the person who reads it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::Reason;
use crate::plugin::Step;
use crate::words::words;

words!(
    /// What kind of failure it is. Decides the retry; bounded, so that it can be a metric's label.
    Class {
        /// A limit of the account is reached.
        Quota = "quota",
        /// The other side asks us to slow down.
        Throttle = "throttle",
        /// The cloud has no room there just now.
        Capacity = "capacity",
        /// A credential is missing, wrong, expired, or may not do this.
        Credentials = "credentials",
        /// The other side cannot be reached.
        Network = "network",
        /// The other side is reached and does not work.
        Outage = "outage",
        /// It took longer than it may.
        Timeout = "timeout",
        /// What was asked for cannot be.
        InvalidConfig = "invalid_config",
        /// Something of that name is there already, or it changed under our hands.
        Conflict = "conflict",
        /// Something else still holds it.
        Dependency = "dependency",
        /// Somebody else holds the lock on the state.
        StateLock = "state_lock",
        /// The state cannot be read or is not the one it should be.
        StateCorruption = "state_corruption",
        /// A program crashed.
        Crash = "crash",
        /// The disk is full.
        Disk = "disk",
        /// A tool or provider could not be installed.
        Installation = "installation",
        /// The address may not be called on a user's behalf.
        Forbidden = "forbidden",
        /// The remote work ran and reported that it failed, or a person stopped it.
        Rejected = "rejected",
        /// A person stopped it.
        Cancelled = "cancelled",
        /// Nobody can tell whether the effect took place; a person has to decide.
        Uncertain = "uncertain",
        /// The plugin itself misbehaved.
        Plugin = "plugin",
    }
);

words!(
    /// Whether and how to try again.
    Retry {
        /// Soon, within the same operation; then by the ladder.
        Soon = "soon",
        /// By the ladder only.
        Later = "later",
        /// Not until something changes or a person asks.
        OnChange = "on_change",
    }
);

impl Class {
    pub fn retry(self) -> Retry {
        match self {
            Class::Throttle | Class::Network | Class::Outage | Class::Dependency | Class::StateLock => Retry::Soon,
            Class::Capacity | Class::Crash | Class::Disk | Class::Installation | Class::Rejected | Class::Plugin => {
                Retry::Later
            }
            Class::Quota
            | Class::Credentials
            | Class::Timeout
            | Class::InvalidConfig
            | Class::Conflict
            | Class::StateCorruption
            | Class::Forbidden
            | Class::Cancelled
            | Class::Uncertain => Retry::OnChange,
        }
    }
}

words!(
    /// What a person can do about a failure; each is a command and an endpoint of that name.
    Choice {
        /// The operation again, from its beginning.
        Retry = "retry",
        /// Go on from the state that was reached, and keep it whatever happens.
        Continue = "continue",
        /// Back to what last went well.
        Rollback = "rollback",
        /// Destroy what a failed provision has left.
        Cleanup = "cleanup",
        /// Take what exists already into the state, and go on.
        Import = "import",
    }
);

impl Choice {
    /// Why the operation is begun that carries it out.
    pub fn reason(self) -> Reason {
        match self {
            Choice::Retry => Reason::Requested,
            Choice::Continue => Reason::Continued,
            Choice::Rollback => Reason::RolledBack,
            Choice::Cleanup => Reason::CleanedUp,
            Choice::Import => Reason::Imported,
        }
    }
}

/// A failure, explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    pub class: Class,
    /// Where it happened.
    pub step: Step,
    /// What happened, in one sentence.
    pub message: String,
    /// How to fix it; empty where nobody knows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// The other side says how long to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// Where it is to be tried again in another way than others of its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// What it happened to, as its tool calls it: for instance `aws_vpc.main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// A person should know at once, not when they next look.
    #[serde(default, skip_serializing_if = "is_false")]
    pub alert: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Failure {
    pub fn new(class: Class, step: Step, message: impl Into<String>) -> Failure {
        Failure {
            class,
            step,
            message: message.into(),
            hint: String::new(),
            retry_after_seconds: None,
            retry: None,
            address: None,
            choices: Vec::new(),
            alert: false,
        }
    }

    /// Whether and how this is tried again.
    pub fn retry(&self) -> Retry {
        self.retry.unwrap_or(self.class.retry())
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: hint.into(), ..self }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, during {})", self.message, self.class.as_str(), self.step.as_str())?;
        if !self.hint.is_empty() {
            write!(f, ". {}", self.hint)?;
        }
        if self.choices.is_empty() {
            return Ok(());
        }
        let stop = if self.hint.ends_with('.') { "" } else { "." };
        let choices: Vec<_> = self.choices.iter().map(|choice| choice.as_str()).collect();
        write!(f, "{stop} What can be done: {}", choices.join(", "))
    }
}
