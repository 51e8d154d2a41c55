//! What Terrane is about, as values: resources, their types, tenants, tokens, events, and the decisions
//! taken over them. Nothing here reads a clock, a file, a socket or the environment, so that every
//! decision can be tested by calling it.

mod account;
mod actor;
mod alert;
mod event;
pub mod explain;
mod failure;
mod ids;
pub mod job;
mod lifecycle;
mod name;
mod operation;
mod plan;
pub mod plugin;
pub mod reconcile;
pub mod redact;
mod resource;
mod resource_type;
mod retry;
mod runner;
pub mod schema;
mod secret;
mod selector;
pub mod state;
pub mod state_lock;
pub mod stream;
mod suspects;
mod tenant;
mod token;
mod words;

pub use account::{Account, Credentials, Provider, SecretReference, is_variable};
pub use actor::Actor;
pub use alert::Alert;
pub use event::{Action, Event, Kind};
pub use failure::{Choice, Class, Failure, Retry};
pub use ids::{EventSeq, HistoryId, JobId, OperationId, ResourceId, RunnerId, TenantId, TokenId, TypeId};
pub use lifecycle::{Condition, ConditionStatus, Effect, Happening, Lifecycle, Standing, Status, Transition, diagram};
pub use name::{
    InvalidName, Labels, check_annotations, check_finalizers, check_labels, check_name, check_plugin_name,
    check_type_name, check_version,
};
pub use operation::{DriftPolicy, Operation, OperationKind, OperationState, Phase, Reason};
pub use plan::{PlanSummary, PlannedAction, PlannedAttribute, PlannedChange, UnreadablePlan, creates_of, drift_of};
pub use resource::{Desired, Drift, DriftNote, HistoryEntry, Resource};
pub use resource_type::ResourceType;
pub use retry::{DESTROY_RETRIES, Ladder, QUICK_RETRIES, quick_retry};
pub use runner::Runner;
pub use secret::SecretInfo;
pub use selector::{InvalidSelector, Requirement, Selector};
pub use suspects::{name_suspects, suspects, unheard};
pub use tenant::{Scope, Tenant};
pub use token::{Role, Token};
