//! An operation: one durable attempt to make reality match. It is a row before anything is done, and a row
//! when it has ended; whatever happens to the process in between, the next one goes on from what is written there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::ids::{OperationId, ResourceId};
use crate::plugin::{Changes, Step};
use crate::words::words;

words!(
    /// What an operation does.
    OperationKind {
        /// Make it as its owner wants it.
        Reconcile = "reconcile",
        /// Make it gone.
        Destroy = "destroy",
        /// Look whether it is still as it was made. Holds no lock.
        Observe = "observe",
    }
);

words!(
    /// Why an operation was started.
    Reason {
        Created = "created",
        Updated = "updated",
        Requested = "requested",
        Retried = "retried",
        Drifted = "drifted",
        Deleted = "deleted",
        /// A person wants it to go on from where it failed.
        Continued = "continued",
        /// A person wants it as it last went well.
        RolledBack = "rolled_back",
        /// A person wants what a failed provision has left to be destroyed.
        CleanedUp = "cleaned_up",
        /// A person wants something that exists to be taken into the state.
        Imported = "imported",
        /// It is time to look for drift.
        Scheduled = "scheduled",
    }
);

words!(
    /// How far an operation has come.
    Phase {
        Initializing = "initializing",
        Planning = "planning",
        Applying = "applying",
        Completed = "completed",
    }
);

words!(
    /// How an operation stands or ended.
    OperationState {
        /// A controller is at it, or will be as soon as it may.
        Running = "running",
        /// It waits for something outside, and is written down meanwhile.
        Waiting = "waiting",
        Succeeded = "succeeded",
        Failed = "failed",
        /// Something newer was asked for before it was finished.
        Superseded = "superseded",
    }
);

words!(
    /// What to do about drift.
    DriftPolicy {
        Correct = "correct",
        Report = "report",
        Ignore = "ignore",
    }
);

impl Phase {
    /// The phase in which a step is asked.
    pub fn of(step: Step) -> Phase {
        match step {
            Step::Validate => Phase::Initializing,
            Step::Plan | Step::Observe => Phase::Planning,
            Step::Apply | Step::Destroy | Step::Outputs => Phase::Applying,
        }
    }
}

impl OperationKind {
    /// The steps it consists of, in their order.
    pub fn steps(self) -> &'static [Step] {
        match self {
            OperationKind::Reconcile => &[Step::Validate, Step::Plan, Step::Apply, Step::Outputs],
            OperationKind::Destroy => &[Step::Destroy],
            OperationKind::Observe => &[Step::Observe],
        }
    }
}

/// An operation as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Operation {
    pub id: OperationId,
    pub resource_id: ResourceId,
    pub kind: OperationKind,
    pub reason: Reason,
    pub generation: i64,
    pub state: OperationState,
    pub phase: Phase,
    /// The step it is at, or ended at.
    pub step: Step,
    /// 1 at first; counts the quick retries of a transient failure.
    pub attempt: i64,
    /// What it waits for, or how it ended.
    pub message: String,
    #[schema(required)]
    pub failure: Option<Failure>,
    pub changes: Changes,
    /// Ties its log lines and spans together.
    pub trace_id: String,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    #[schema(required)]
    pub finished_at: Option<Timestamp>,
}
