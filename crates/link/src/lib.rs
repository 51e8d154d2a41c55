//! How the control plane and its runners talk. A runner asks for work, keeps what it has by saying so in time, and hands in
//! log, state and report. Every word about a job carries its fencing token: who has lost a job is told so and
//! changes nothing.
//!
//! In the embedded profile the controller itself stands behind this; between machines the same questions go over the API
//! (`remote`), in the words of `message`, and what need not arrive over RabbitMQ (`broker`).

mod broker;
pub mod message;
mod remote;

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::BoxFuture;
use model::JobId;
use model::job::{Assignment, JobReport, RunProgress};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::watch;
use utoipa::ToSchema;

pub use broker::{Batch, Broker, BrokerError, Desk};
pub use remote::{Remote, Unwelcome};

/// A job that a runner has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Holding {
    pub job: JobId,
    pub fencing_token: i64,
}

/// A job that a runner wants to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Keep {
    #[serde(flatten)]
    pub holding: Holding,
    /// Terraform is applying: whoever takes the job over then has to wait longer, so that an outage does not interrupt it.
    #[serde(default)]
    pub applying: bool,
}

/// A job, with all that is needed to do it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Assigned {
    pub assignment: Assignment,
    /// For the job's environment. Never written down.
    #[serde(default, with = "message::exposed")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub secrets: BTreeMap<String, SecretString>,
    /// How long it is the runner's unless it is renewed, from when it was asked for.
    #[serde(rename = "lease_milliseconds", with = "message::milliseconds")]
    #[schema(value_type = u64)]
    pub lease: Duration,
}

/// A job that is still the runner's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Kept {
    pub job: JobId,
    #[serde(rename = "lease_milliseconds", with = "message::milliseconds")]
    #[schema(value_type = u64)]
    pub lease: Duration,
    #[serde(default)]
    pub stop: Option<Stop>,
    /// How much of its log has arrived.
    #[serde(default)]
    pub log_bytes: u64,
}

/// How something is handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handing {
    /// It may still be on its way, or get lost there: what has arrived is told by `renew`.
    Quick,
    /// It has arrived when this is answered.
    Sure,
}

/// What became of a piece of log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed {
    /// From where to go on.
    pub until: u64,
    /// All before that has arrived; else it may still be on its way.
    pub arrived: bool,
}

/// What a person asks of a job under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
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
    /// At most `free` jobs, the fair next ones that this runner may do.
    fn claim(&self, free: usize) -> BoxFuture<'_, Result<Vec<Assigned>, LinkError>>;

    /// Keep these. What is missing in the answer is lost.
    fn renew<'a>(&'a self, jobs: &'a [Keep]) -> BoxFuture<'a, Result<Vec<Kept>, LinkError>>;

    /// Show log that begins at byte `start` to whoever reads along, before it is handed in. Nothing is kept by it, nothing
    /// depends on it: a link that cannot does not.
    fn show<'a>(&'a self, _of: Holding, _start: u64, _bytes: Vec<u8>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Hand in log that begins at byte `start`.
    fn log<'a>(
        &'a self,
        of: Holding,
        start: u64,
        bytes: Vec<u8>,
        how: Handing,
    ) -> BoxFuture<'a, Result<Passed, LinkError>>;

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
