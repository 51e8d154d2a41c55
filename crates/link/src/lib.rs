//! How the control plane and its runners talk. A runner asks for work, keeps what it has by saying so in time, and hands in
//! log, state and report. Every word about a job carries its fencing token: who has lost a job is told so and
//! changes nothing.
//!
//! In the embedded profile the controller itself stands behind this; between machines the same questions go over the API.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::BoxFuture;
use model::JobId;
use model::job::{Assignment, JobReport, RunProgress};
use secrecy::SecretString;
use thiserror::Error;
use tokio::sync::watch;

/// A job that a runner has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Holding {
    pub job: JobId,
    pub fencing_token: i64,
}

/// A job, with all that is needed to do it.
#[derive(Debug, Clone)]
pub struct Assigned {
    pub assignment: Assignment,
    /// For the job's environment. Never written down.
    pub secrets: BTreeMap<String, SecretString>,
    /// How long it is the runner's unless it is renewed, from when it was asked for.
    pub lease: Duration,
}

/// A job that is still the runner's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub job: JobId,
    pub lease: Duration,
    pub stop: Option<Stop>,
}

/// What a person asks of a job under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Once, and let it end in good order.
    Interrupt,
    /// At once, whatever it leaves behind.
    Kill,
}

impl Stop {
    pub fn as_str(self) -> &'static str {
        match self {
            Stop::Interrupt => "interrupt",
            Stop::Kill => "kill",
        }
    }

    pub fn parse(text: &str) -> Option<Stop> {
        [Stop::Interrupt, Stop::Kill].into_iter().find(|stop| stop.as_str() == text)
    }
}

#[derive(Debug, Error)]
pub enum LinkError {
    /// The job is somebody else's by now, or is over: nothing was changed.
    #[error("the job is not this runner's any more")]
    Lost,
    /// What was handed in cannot be taken, now or later.
    #[error("{0}")]
    Refused(String),
    /// Try again later.
    #[error("the control plane cannot be reached: {0}")]
    Away(String),
}

/// What runners ask of the control plane.
pub trait Link: Send + Sync {
    /// At most `free` jobs, the fair next ones.
    fn claim<'a>(&'a self, runner: &'a str, free: usize) -> BoxFuture<'a, Result<Vec<Assigned>, LinkError>>;

    /// Keep these. What is missing in the answer is lost.
    fn renew<'a>(&'a self, holdings: &'a [Holding]) -> BoxFuture<'a, Result<Vec<Kept>, LinkError>>;

    /// Show log that begins at byte `start` to whoever reads along, before it is handed in. Nothing is kept by it, nothing
    /// depends on it: a link that cannot does not.
    fn show<'a>(&'a self, _of: Holding, _start: u64, _bytes: Vec<u8>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Hand in log that begins at byte `start`. Says how long the log is then.
    fn log<'a>(&'a self, of: Holding, start: u64, bytes: Vec<u8>) -> BoxFuture<'a, Result<u64, LinkError>>;

    /// Say how far the job is. Nothing depends on it: a link that cannot does not.
    fn progress<'a>(&'a self, _of: Holding, _progress: RunProgress) -> BoxFuture<'a, Result<(), LinkError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Hand in a state, as text.
    fn state<'a>(&'a self, of: Holding, state: &'a str) -> BoxFuture<'a, Result<(), LinkError>>;

    /// The job is over.
    fn finish<'a>(&'a self, of: Holding, report: JobReport) -> BoxFuture<'a, Result<(), LinkError>>;

    /// Changes when there may be work, or something is asked of a job under way. A change that is missed costs time, no work.
    fn offers(&self) -> watch::Receiver<u64>;
}
