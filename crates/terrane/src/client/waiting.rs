//! What a resource is waiting for, and since when: the first thing a person wants to know of one that is not ready.

use jiff::Timestamp;
use model::{Lifecycle, Operation, OperationState, Resource};

use super::wait::is_stalled;

pub struct Waiting {
    pub what: String,
    pub since: Timestamp,
}

/// Nothing, where all is done. `operation` is the one under way.
pub fn waiting(resource: &Resource, operation: Option<&Operation>) -> Option<Waiting> {
    let since_failure = resource.last_reconcile_time.unwrap_or(resource.updated_at);
    let (what, since) = match (resource.lifecycle, operation) {
        (Lifecycle::Deleting, _) if !resource.finalizers.is_empty() => (
            format!("finalizers to be taken off: {}", resource.finalizers.join(", ")),
            resource.deletion_requested_at.unwrap_or(resource.updated_at),
        ),
        (_, Some(operation)) if operation.state == OperationState::Waiting => {
            (format!("operation {}: {}", operation.id, operation.message), operation.updated_at)
        }
        (_, Some(operation)) => (
            format!("operation {} to finish ({}, {})", operation.id, operation.kind.as_str(), operation.phase.as_str()),
            operation.started_at,
        ),
        (Lifecycle::Failed, None) if is_stalled(resource) && resource.choices().len() > 1 => {
            let choices: Vec<_> = resource.choices().iter().map(|choice| choice.as_str()).collect();
            (format!("a person's choice ({}), or a change of the resource", choices.join(", ")), since_failure)
        }
        (Lifecycle::Failed, None) if is_stalled(resource) => {
            ("a change of the resource or of its type, or `terrane reconcile`".into(), since_failure)
        }
        (Lifecycle::Failed, None) => ("the next try".into(), since_failure),
        (Lifecycle::Deleting, None) if resource.failures > 0 => ("the next try to destroy it".into(), since_failure),
        (Lifecycle::Deleting, None) => (
            "a controller to destroy what it stands for".into(),
            resource.deletion_requested_at.unwrap_or(resource.updated_at),
        ),
        (Lifecycle::Pending, None) => ("a controller to take it up".into(), resource.created_at),
        (Lifecycle::Active, None) if is_rolled_back(resource) => (
            format!("its owner: generation {} was rolled back; `terrane reconcile` applies it", resource.generation),
            since_failure,
        ),
        (_, None) if resource.generation > resource.observed_generation => {
            (format!("a controller to take up generation {}", resource.generation), resource.updated_at)
        }
        (_, None) => return None,
    };
    Some(Waiting { what, since })
}

/// Ready, at an older generation than the newest, and nobody is about to change that.
fn is_rolled_back(resource: &Resource) -> bool {
    resource.generation > resource.observed_generation
        && resource.next_reconcile_at.is_none_or(|next| next > Timestamp::now())
}
