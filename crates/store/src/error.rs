//! What can go wrong: the database does not answer, or it answers that the change may not be made.

use model::state::Corruption;
use model::state_lock::StateHold;
use model::{Choice, Lifecycle, TypeId};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    /// The change is not allowed as things stand. Nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database could not be reached or could not do its work. Nothing was written.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// The connection broke while the commit was under way.
    #[error("the database broke off during the commit: the change may or may not have been made")]
    Unknown(#[source] sqlx::Error),
    /// A row holds something this program cannot read.
    #[error("the database holds {what}, which this program does not understand")]
    Corrupt { what: String },
    /// The store was closed before the write was taken.
    #[error("the store is closing")]
    Closing,
}

/// Why a change was not made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("there is no {what}")]
    NotFound { what: String },
    #[error("{what} exists already")]
    Exists { what: String },
    #[error("the object is at version {found}, not at the one the request names")]
    VersionMismatch { found: i64 },
    /// The type changed since the spec was validated: validate again.
    #[error("the type changed meanwhile")]
    TypeChanged { type_id: TypeId },
    #[error("{what} is being deleted")]
    Going { what: String },
    #[error("{what} is in use by {users}")]
    InUse { what: String, users: String },
    /// As it stands, only `choices` can be chosen.
    #[error("{what} leaves no choice to {}", choice.as_str())]
    NoChoice { what: String, choice: Choice, lifecycle: Lifecycle, choices: Vec<Choice> },
    #[error("resources exist that the new schema would break")]
    Breaks { resources: Vec<String> },
    #[error("the idempotency key was used before, for another request")]
    KeyReused,
    #[error("the state is not to be written now: {hold}")]
    Locked { hold: Box<StateHold> },
    #[error("the state cannot be kept: {why}")]
    UnfitState { why: Corruption },
    #[error("the lock on the state is not {asked}")]
    OtherLock { asked: String, hold: Option<Box<StateHold>> },
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Error::Unavailable(error)
    }
}

impl Error {
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Refusal::NotFound { what: what.into() }.into()
    }
}
