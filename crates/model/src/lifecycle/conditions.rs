//! Kubernetes-style conditions, projected from where a resource stands.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Lifecycle;
use crate::failure::{Failure, Retry};
use crate::resource::Drift;

/// One aspect of a resource's state, in Kubernetes' form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: ConditionStatus,
    /// One word a program can act on.
    pub reason: String,
    /// A sentence for a person.
    pub message: String,
    pub last_transition_time: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

/// A condition without its time: type, status, reason, message.
type Aspect = (&'static str, ConditionStatus, &'static str, String);

/// All that the conditions depend on.
pub struct Standing<'a> {
    pub lifecycle: Lifecycle,
    pub message: &'a str,
    /// The last failure, while nothing has gone well since.
    pub failure: Option<&'a Failure>,
    /// What is known of drift; nothing before the first look, or where nobody can look.
    pub drift: Option<&'a Drift>,
}

impl Standing<'_> {
    /// The conditions now. A condition whose status did not change keeps its time.
    pub fn conditions(&self, before: &[Condition], now: Timestamp) -> Vec<Condition> {
        [self.ready(), self.reconciling(), self.stalled(), self.drifted()]
            .into_iter()
            .chain(self.alerting())
            .map(|(kind, status, reason, message)| {
                let since = before.iter().find(|old| old.kind == kind && old.status == status);
                Condition {
                    kind: kind.into(),
                    status,
                    reason: reason.into(),
                    message,
                    last_transition_time: since.map_or(now, |old| old.last_transition_time),
                }
            })
            .collect()
    }

    fn ready(&self) -> Aspect {
        let (status, reason) = match self.lifecycle {
            Lifecycle::Pending => (ConditionStatus::False, "NeverReconciled"),
            Lifecycle::Provisioning => (ConditionStatus::False, "Provisioning"),
            Lifecycle::Configuring => (ConditionStatus::False, "Configuring"),
            Lifecycle::Active => (ConditionStatus::True, "Reconciled"),
            Lifecycle::Updating => (ConditionStatus::False, "Updating"),
            Lifecycle::Deleting | Lifecycle::Deleted => (ConditionStatus::False, "Deleting"),
            Lifecycle::Failed => (ConditionStatus::False, "ReconcileFailed"),
        };
        ("Ready", status, reason, self.message.into())
    }

    fn reconciling(&self) -> Aspect {
        match self.lifecycle {
            Lifecycle::Provisioning | Lifecycle::Configuring | Lifecycle::Updating | Lifecycle::Deleting => {
                ("Reconciling", ConditionStatus::True, "OperationUnderWay", self.message.into())
            }
            Lifecycle::Pending => ("Reconciling", ConditionStatus::False, "Queued", String::new()),
            Lifecycle::Active | Lifecycle::Failed | Lifecycle::Deleted => {
                ("Reconciling", ConditionStatus::False, "Idle", String::new())
            }
        }
    }

    fn stalled(&self) -> Aspect {
        match self.failure {
            Some(failure) if failure.retry() == Retry::OnChange => {
                ("Stalled", ConditionStatus::True, "WaitsForChange", failure.to_string())
            }
            Some(failure) => ("Stalled", ConditionStatus::False, "WillRetry", failure.to_string()),
            None => ("Stalled", ConditionStatus::False, "NoFailure", String::new()),
        }
    }

    /// Only there while an alert stands.
    fn alerting(&self) -> Option<Aspect> {
        let failure = self.failure.filter(|failure| failure.alert)?;
        Some(("Alerting", ConditionStatus::True, "NeedsAPerson", failure.to_string()))
    }

    fn drifted(&self) -> Aspect {
        match self.drift {
            None => ("Drifted", ConditionStatus::Unknown, "NotObserved", String::new()),
            Some(drift) if drift.attributes.is_empty() => {
                ("Drifted", ConditionStatus::False, "Unchanged", String::new())
            }
            Some(drift) => {
                let paths: Vec<_> = drift.attributes.iter().map(|attribute| attribute.path.as_str()).collect();
                ("Drifted", ConditionStatus::True, "Drifted", format!("Changed outside: {}", paths.join(", ")))
            }
        }
    }
}
