//! What a plan would change, told so that a person can judge it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::words::words;

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
