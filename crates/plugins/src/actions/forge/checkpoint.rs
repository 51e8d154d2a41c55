//! What is written down between two calls.

use serde::{Deserialize, Serialize};

use super::run::{Progress, Run};

/// To dispatch: written down before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub nonce: String,
    /// What the run shows, where it can show something.
    #[serde(default)]
    pub marker: Option<String>,
    /// When it was written.
    pub since: i64,
    /// Where it is dispatched, and which work.
    pub place: String,
    pub work: String,
    /// What it is asked to do.
    pub digest: String,
    /// Which dispatch of the operation this is, from 1.
    pub sending: u32,
    /// The forge said that it was dispatched, but not as which run.
    #[serde(default)]
    pub accepted: bool,
}

/// The search for what an intent became.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Search {
    pub intent: Intent,
    /// Until then a run may still show up.
    pub until: i64,
    pub looks: u32,
}

/// A run that is looked at until it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Following {
    pub run: Run,
    pub since: i64,
    #[serde(default)]
    pub etag: Option<String>,
    /// What it was when last looked at: an unchanged answer repeats nothing.
    pub seen: Progress,
    pub looks: u32,
}

impl Following {
    pub fn new(run: Run, now: i64) -> Following {
        Following { run, since: now, etag: None, seen: Progress::Queued, looks: 0 }
    }
}

/// Whether a run was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    NotYet,
    Asked,
    Insisted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub(super) enum At {
    /// An earlier operation's dispatch has to be accounted for.
    Settling(Search),
    /// An earlier operation's run is under way.
    Clearing(Following),
    /// A run is being cancelled, because its resource is deleted.
    Cancelling {
        #[serde(flatten)]
        following: Following,
        told: Told,
    },
    Intent(Intent),
    Searching(Search),
    Following(Following),
}
