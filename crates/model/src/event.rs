//! An event: one change of one object, in the order in which changes took effect. Watch, audit and wake-ups all read these.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::ids::EventSeq;

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

/// What kind of object changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Resource,
    ResourceType,
    Tenant,
    Token,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Resource, Kind::ResourceType, Kind::Tenant, Kind::Token];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Resource => "resource",
            Kind::ResourceType => "resource_type",
            Kind::Tenant => "tenant",
            Kind::Token => "token",
        }
    }

    pub fn parse(text: &str) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What happened to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Created,
    Updated,
    ReconcileRequested,
    DeleteRequested,
    Deleted,
}

impl Action {
    pub const ALL: [Action; 5] =
        [Action::Created, Action::Updated, Action::ReconcileRequested, Action::DeleteRequested, Action::Deleted];

    pub fn as_str(self) -> &'static str {
        match self {
            Action::Created => "created",
            Action::Updated => "updated",
            Action::ReconcileRequested => "reconcile_requested",
            Action::DeleteRequested => "delete_requested",
            Action::Deleted => "deleted",
        }
    }

    pub fn parse(text: &str) -> Option<Action> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}
