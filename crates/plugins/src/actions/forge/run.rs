//! What the two forges answer, in words that serve both.

use std::future::Future;

use model::Failure;
use model::plugin::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::Intent;
use crate::door::DoorError;

/// A workflow run or a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub id: u64,
    /// For people.
    pub url: String,
    /// The API's address of the repository or project: it stays where it is when the configuration moves on.
    pub place: String,
    /// What a webhook about it signals.
    pub signal: String,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Progress {
    /// Waits for a machine.
    Queued,
    /// Waits for a person.
    Blocked(String),
    Running,
    Ended(End),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Succeeded,
    /// Any other way, in the forge's word.
    Otherwise(String),
}

impl Progress {
    pub fn has_started(&self) -> bool {
        matches!(self, Progress::Running | Progress::Ended(_))
    }
}

pub(crate) enum Dispatched {
    Run(Run),
    /// It was done, but the forge does not say which run it became.
    Somewhere,
}

/// The search for a marker.
pub(crate) enum Found {
    Run(Run),
    /// No run since the intent can be ours.
    NotThere,
    /// There are runs that may or may not be ours.
    CannotTell(String),
}

pub(crate) enum Look {
    /// As it was when the etag was given out.
    Unchanged,
    Now {
        progress: Progress,
        etag: Option<String>,
    },
    /// There is no such run any more, or we may not see it.
    Gone,
}

/// What became of a request that did not work.
pub(crate) enum Trouble {
    /// Nothing was done, because of this.
    Refused(Failure),
    /// Nothing was done: we are asked to come back later.
    Throttled { seconds: u64, message: String },
    /// Nothing was done: the other side was not reached.
    Unsent(Failure),
    /// It may have been done or not; the answer did not arrive.
    Lost(Failure),
}

impl Trouble {
    pub fn of(error: &DoorError, step: Step) -> Trouble {
        let failure = error.failure(step);
        match error {
            DoorError::BadUrl { .. }
            | DoorError::BadHeader { .. }
            | DoorError::Forbidden { .. }
            | DoorError::SecretMayNotGoThere { .. } => Trouble::Refused(failure),
            DoorError::Unreachable { .. } | DoorError::Late { .. } => Trouble::Unsent(failure),
            DoorError::TimedOut { .. }
            | DoorError::TooLarge { .. }
            | DoorError::TooManyRedirects { .. }
            | DoorError::BrokenAnswer { .. } => Trouble::Lost(failure),
        }
    }

    /// The same for a question that was asked before anything was done.
    pub fn before_anything(self) -> Trouble {
        match self {
            Trouble::Lost(failure) => Trouble::Unsent(failure),
            other => other,
        }
    }
}

/// A forge, ready to be asked about one resource.
pub(crate) trait Forge: Sync {
    /// `GitHub`.
    fn name(&self) -> &'static str;
    /// `run`, in the forge's word.
    fn noun(&self) -> &'static str;
    /// How to give runs a marker, for hints.
    fn marker_advice(&self) -> &'static str;
    /// Where the work is dispatched, and which: what a search for it needs to know.
    fn aim(&self) -> (String, String);
    /// Whether runs carry a marker.
    fn marked(&self) -> bool;

    /// Start the work.
    fn dispatch(&self, intent: &Intent) -> impl Future<Output = Result<Dispatched, Trouble>> + Send;
    /// Look for the run that an intent became.
    fn find(&self, intent: &Intent, marker: &str) -> impl Future<Output = Result<Found, Trouble>> + Send;
    fn look(&self, run: &Run, etag: Option<&str>) -> impl Future<Output = Result<Look, Trouble>> + Send;
    /// What a run that succeeded leaves behind.
    fn outputs(&self, run: &Run) -> impl Future<Output = Result<Value, Trouble>> + Send;
    /// Why a run did not succeed.
    fn explain(&self, run: &Run, end: &str) -> impl Future<Output = Result<Failure, Trouble>> + Send;
    /// Ask for a run's end, or insist on it.
    fn cancel(&self, run: &Run, insist: bool) -> impl Future<Output = Result<(), Trouble>> + Send;
}
