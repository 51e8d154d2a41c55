//! A resource: what somebody wants, what is known of how it stands, and the history of attempts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::failure::{Choice, Failure};
use crate::ids::{HistoryId, OperationId, ResourceId};
use crate::lifecycle::{Condition, Lifecycle, Standing, Status};
use crate::name::Labels;
use crate::operation::DriftPolicy;
use crate::plugin::DriftedAttribute;

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
    /// When it is next looked at by itself; null when only a change or a person brings that about.
    #[schema(required)]
    pub next_reconcile_at: Option<Timestamp>,
    /// The operation under way.
    #[schema(required)]
    pub operation_id: Option<OperationId>,
    /// What to do when it is no longer as it was made.
    pub drift_policy: DriftPolicy,
    /// What the last look for drift found; null before the first.
    #[schema(required)]
    pub drift: Option<Drift>,
    /// The last failure, while nothing has gone well since.
    #[schema(required)]
    pub failure: Option<Failure>,
    /// How many operations in a row have failed.
    pub failures: i64,
    /// Outside parties that keep it from being deleted.
    pub finalizers: Vec<String>,
    /// What exists outside because of it, as far as its plugin has said.
    pub holds: Vec<String>,
}

/// How reality differed from what was made when it was last looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Drift {
    pub observed_at: Timestamp,
    /// Empty when nothing differed.
    pub attributes: Vec<DriftNote>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DriftNote {
    pub path: String,
    #[schema(value_type = Object)]
    pub expected: Value,
    #[schema(value_type = Object)]
    pub found: Value,
    pub first_seen: Timestamp,
}

impl Drift {
    /// What a look at `now` found. An attribute that differed before keeps the time it was first seen.
    pub fn seen(before: Option<&Drift>, found: Vec<DriftedAttribute>, now: Timestamp) -> Drift {
        let known = |path: &str| {
            before.and_then(|drift| drift.attributes.iter().find(|note| note.path == path)).map(|note| note.first_seen)
        };
        let attributes = found
            .into_iter()
            .map(|DriftedAttribute { path, expected, found }| DriftNote {
                first_seen: known(&path).unwrap_or(now),
                path,
                expected,
                found,
            })
            .collect();
        Drift { observed_at: now, attributes }
    }
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
    pub drift_policy: DriftPolicy,
}

impl Desired {
    /// Whether going from `self` to `next` asks for other infrastructure, and so for a new generation. Labels and
    /// annotations describe, and a policy says what to do; they do not.
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
            drift_policy: self.drift_policy,
        }
    }

    /// What a person can do about how it stands; nothing while an operation is at it.
    pub fn choices(&self) -> &[Choice] {
        match (&self.failure, self.operation_id, self.lifecycle) {
            (Some(failure), None, Lifecycle::Failed | Lifecycle::Deleting) => &failure.choices,
            _ => &[],
        }
    }

    /// Whether something stands that a person should know of at once.
    pub fn alerts(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.alert)
    }

    /// Move to another state, with the projections that follow from it.
    pub fn stand(&mut self, lifecycle: Lifecycle, message: impl Into<String>, now: Timestamp) {
        self.lifecycle = lifecycle;
        self.status = lifecycle.status();
        self.status_message = message.into();
        self.conditions = Standing {
            lifecycle,
            message: &self.status_message,
            failure: self.failure.as_ref(),
            drift: self.drift.as_ref(),
        }
        .conditions(&self.conditions, now);
        self.updated_at = now;
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
