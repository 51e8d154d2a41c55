//! A resource: what somebody wants, what is known of how it stands, and the history of attempts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::ids::{HistoryId, ResourceId};
use crate::lifecycle::{Condition, Lifecycle, Status};
use crate::name::Labels;

/// A resource as the API, the events and the command line show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Resource {
    pub id: ResourceId,
    #[schema(example = "production-pg")]
    pub name: String,
    #[schema(example = "DatabaseCluster")]
    pub resource_type_name: String,
    #[schema(example = "v1")]
    pub resource_type_version: String,
    #[schema(example = "github_actions")]
    pub action_plugin: String,
    pub status: Status,
    pub status_message: String,
    /// Counts the changes of the desired state.
    pub generation: i64,
    /// The last generation that was reconciled successfully; 0 before the first.
    pub observed_generation: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[schema(required)]
    pub last_reconcile_time: Option<Timestamp>,
    pub lifecycle: Lifecycle,
    pub conditions: Vec<Condition>,
    #[schema(value_type = Object)]
    pub spec: Value,
    #[schema(value_type = Object)]
    pub plugin_config: Value,
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: Labels,
    #[schema(value_type = BTreeMap<String, String>)]
    pub annotations: Labels,
    pub tenant: String,
    /// Changes with every change; the `ETag`.
    pub resource_version: i64,
    /// When a delete was asked for.
    #[schema(required)]
    pub deletion_requested_at: Option<Timestamp>,
    /// When a reconciliation was last forced by hand.
    #[schema(required)]
    pub reconcile_requested_at: Option<Timestamp>,
}

/// The part of a resource that its owner decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Desired {
    pub resource_type_version: String,
    pub action_plugin: String,
    pub plugin_config: Value,
    pub spec: Value,
    pub labels: Labels,
    pub annotations: Labels,
}

impl Desired {
    /// Whether going from `self` to `next` asks for other infrastructure, and so for a new generation. Labels and
    /// annotations describe; they do not.
    pub fn asks_for_other_reality(&self, next: &Desired) -> bool {
        self.spec != next.spec
            || self.plugin_config != next.plugin_config
            || self.action_plugin != next.action_plugin
            || self.resource_type_version != next.resource_type_version
    }
}

impl Resource {
    pub fn desired(&self) -> Desired {
        Desired {
            resource_type_version: self.resource_type_version.clone(),
            action_plugin: self.action_plugin.clone(),
            plugin_config: self.plugin_config.clone(),
            spec: self.spec.clone(),
            labels: self.labels.clone(),
            annotations: self.annotations.clone(),
        }
    }
}

/// One attempt to make reality match, successful or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryEntry {
    pub id: HistoryId,
    pub resource_id: ResourceId,
    pub generation: i64,
    pub success: bool,
    #[schema(example = "completed")]
    pub phase: String,
    #[schema(required)]
    pub error_message: Option<String>,
    pub resources_created: i64,
    pub resources_updated: i64,
    pub resources_deleted: i64,
    pub reconcile_time: Timestamp,
}
