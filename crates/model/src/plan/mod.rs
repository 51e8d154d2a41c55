//! What a plan would change, told so that a person can judge it.

mod diff;
mod read;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::job::Approval;
use crate::plugin::Changes;
use crate::words::words;

pub use read::{UnreadablePlan, creates_of, drift_of};

/// More are counted and not listed.
const MAX_CHANGES: usize = 500;
const MAX_ATTRIBUTES: usize = 100;

words!(
    /// What would happen to one object.
    PlannedAction {
        Create = "create",
        Update = "update",
        /// Deleted, and created anew.
        Replace = "replace",
        Delete = "delete",
    }
);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanSummary {
    pub creates: i64,
    pub updates: i64,
    pub replaces: i64,
    pub deletes: i64,
    /// Only outputs change.
    #[serde(default)]
    pub outputs_change: bool,
    pub changes: Vec<PlannedChange>,
    /// How many changes are counted above and not listed.
    #[serde(default)]
    pub unlisted: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedChange {
    pub address: String,
    pub action: PlannedAction,
    pub attributes: Vec<PlannedAttribute>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedAttribute {
    /// For instance `tags.owner`.
    pub path: String,
    /// Null where it is absent or sensitive.
    #[schema(value_type = Object)]
    pub before: Value,
    /// Null where it is absent, sensitive, or known only after the apply.
    #[schema(value_type = Object)]
    pub after: Value,
    #[serde(default)]
    pub sensitive: bool,
    /// Known only after the apply.
    #[serde(default)]
    pub unknown: bool,
    /// This is why the object has to be replaced.
    #[serde(default)]
    pub forces_replacement: bool,
}

impl PlanSummary {
    /// Nothing would be done, not even to outputs.
    pub fn is_empty(&self) -> bool {
        self.changes().is_none() && !self.outputs_change
    }

    /// What an apply would do. To replace is to delete and to create.
    pub fn changes(&self) -> Changes {
        Changes { created: self.creates + self.replaces, updated: self.updates, deleted: self.deletes + self.replaces }
    }

    /// Whether a person has to agree before this is applied. Outputs are no objects: nobody has to agree to those.
    pub fn needs_approval(&self, approval: Approval) -> bool {
        match approval {
            Approval::Auto => false,
            Approval::Manual => !self.changes().is_none(),
            Approval::Destroys => self.deletes + self.replaces > 0,
        }
    }
}

impl std::fmt::Display for PlanSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.changes().is_none() {
            return f.write_str(if self.outputs_change { "only outputs change" } else { "nothing to change" });
        }
        write!(f, "{} to create, {} to update, {} to delete", self.creates, self.updates, self.deletes)?;
        if self.replaces > 0 { write!(f, ", {} to replace", self.replaces) } else { Ok(()) }
    }
}
