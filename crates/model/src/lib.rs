//! What Terrane is about, as values: resources, their types, tenants, tokens, events, and the decisions
//! taken over them. Nothing here reads a clock, a file, a socket or the environment, so that every
//! decision can be tested by calling it.

mod actor;
mod event;
mod ids;
mod lifecycle;
mod name;
mod resource;
mod resource_type;
pub mod schema;
mod selector;
mod tenant;
mod token;

pub use actor::Actor;
pub use event::{Action, Event, Kind};
pub use ids::{EventSeq, HistoryId, ResourceId, TenantId, TokenId, TypeId};
pub use lifecycle::{Condition, ConditionStatus, Lifecycle, Status};
pub use name::{
    InvalidName, Labels, check_annotations, check_labels, check_name, check_plugin_name, check_type_name, check_version,
};
pub use resource::{Desired, HistoryEntry, Resource};
pub use resource_type::ResourceType;
pub use selector::{InvalidSelector, Requirement, Selector};
pub use tenant::{Scope, Tenant};
pub use token::{Role, Token};
