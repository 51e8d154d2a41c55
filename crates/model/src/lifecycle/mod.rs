//! The one lifecycle of a resource, and what other vocabularies (`status`, conditions) make of it.

mod conditions;
mod transition;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use conditions::{Condition, ConditionStatus, Standing};
pub use transition::{Effect, Happening, Transition, diagram};

/// Where a resource stands. Everything else that speaks of state is a projection of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    Pending,
    Provisioning,
    Configuring,
    Active,
    Updating,
    Deleting,
    Deleted,
    Failed,
}

impl Lifecycle {
    pub const ALL: [Lifecycle; 8] = [
        Lifecycle::Pending,
        Lifecycle::Provisioning,
        Lifecycle::Configuring,
        Lifecycle::Active,
        Lifecycle::Updating,
        Lifecycle::Deleting,
        Lifecycle::Deleted,
        Lifecycle::Failed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Lifecycle::Pending => "pending",
            Lifecycle::Provisioning => "provisioning",
            Lifecycle::Configuring => "configuring",
            Lifecycle::Active => "active",
            Lifecycle::Updating => "updating",
            Lifecycle::Deleting => "deleting",
            Lifecycle::Deleted => "deleted",
            Lifecycle::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Lifecycle> {
        Self::ALL.into_iter().find(|lifecycle| lifecycle.as_str() == text)
    }

    pub fn status(self) -> Status {
        match self {
            Lifecycle::Pending => Status::Pending,
            Lifecycle::Provisioning
            | Lifecycle::Configuring
            | Lifecycle::Updating
            | Lifecycle::Deleting
            | Lifecycle::Deleted => Status::Reconciling,
            Lifecycle::Active => Status::Ready,
            Lifecycle::Failed => Status::Failed,
        }
    }

    /// No change of the desired state is taken any more.
    pub fn is_going(self) -> bool {
        matches!(self, Lifecycle::Deleting | Lifecycle::Deleted)
    }

    /// An operation is changing it.
    pub fn is_busy(self) -> bool {
        matches!(self, Lifecycle::Provisioning | Lifecycle::Configuring | Lifecycle::Updating)
    }
}

/// The short status of the resource API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Reconciling,
    Ready,
    Failed,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Reconciling => "reconciling",
            Status::Ready => "ready",
            Status::Failed => "failed",
        }
    }

    /// The states that show as this status.
    pub fn lifecycles(self) -> impl Iterator<Item = Lifecycle> {
        Lifecycle::ALL.into_iter().filter(move |lifecycle| lifecycle.status() == self)
    }
}
