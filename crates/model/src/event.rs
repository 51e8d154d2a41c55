//! An event: one change of one object, in the order in which changes took effect. Watch, audit and wake-ups all read these.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::ids::EventSeq;
use crate::words::words;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    pub seq: EventSeq,
    pub time: Timestamp,
    pub tenant: String,
    pub kind: Kind,
    pub object_id: i64,
    pub object_name: String,
    pub action: Action,
    /// Who: `token:NAME`, `local` or `system`.
    pub actor: String,
    pub request_id: Option<String>,
    /// The object before; null for a creation.
    #[schema(value_type = Option<Object>)]
    pub before: Option<Value>,
    /// The object after; null once it is gone.
    #[schema(value_type = Option<Object>)]
    pub after: Option<Value>,
}

words!(
    /// What kind of object changed.
    Kind {
        Resource = "resource",
        ResourceType = "resource_type",
        Tenant = "tenant",
        Token = "token",
        Secret = "secret",
        Runner = "runner",
        Account = "account",
        /// A Terraform state, by the id and name of its resource.
        State = "state",
    }
);

words!(
    /// What happened to it.
    Action {
        Created = "created",
        Updated = "updated",
        ReconcileRequested = "reconcile_requested",
        DeleteRequested = "delete_requested",
        Deleted = "deleted",
        Forgotten = "forgotten",
        OperationStarted = "operation_started",
        OperationProgressed = "operation_progressed",
        OperationSucceeded = "operation_succeeded",
        OperationFailed = "operation_failed",
        Drifted = "drifted",
        /// A person chose what is to be done about a failure.
        RetryRequested = "retry_requested",
        ContinueRequested = "continue_requested",
        RollbackRequested = "rollback_requested",
        CleanupRequested = "cleanup_requested",
        ImportRequested = "import_requested",
        /// An operation failed so that a person should know at once.
        Alerted = "alerted",
        /// Somebody was shown what is secret in it.
        Read = "read",
        Locked = "locked",
        Unlocked = "unlocked",
    }
);
