//! Who keeps others from writing a state, in the words of Terraform's own locks: a person with plain `terraform` reads them
//! when it is refused, and leaves them behind when it holds the lock itself.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::JobId;
use crate::job::Goal;
use crate::state::{StateObject, StateVersion};

/// A lock as Terraform describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// Whoever wants to unlock has to name it.
    #[serde(rename = "ID")]
    pub id: String,
    /// For instance `OperationTypeApply`.
    pub operation: String,
    pub info: String,
    #[schema(example = "someone@laptop")]
    pub who: String,
    /// Of the program that took it.
    pub version: String,
    #[schema(example = "2026-01-31T12:00:00Z")]
    pub created: String,
    pub path: String,
}

impl LockInfo {
    /// The lock that a job is, while it runs.
    pub fn of_job(job: JobId, goal: Goal, runner: &str, since: Option<Timestamp>, resource: &str) -> LockInfo {
        let (operation, doing) = match goal {
            Goal::Plan => ("OperationTypePlan", "plans"),
            Goal::Observe => ("OperationTypeRefresh", "compares"),
            Goal::Apply => ("OperationTypeApply", "applies"),
            Goal::Destroy => ("OperationTypeDestroy", "destroys"),
        };
        LockInfo {
            id: format!("terrane-job-{job}"),
            operation: operation.into(),
            info: format!("Terrane {doing} {resource}: job {job}"),
            who: format!("terrane@{runner}"),
            version: env!("CARGO_PKG_VERSION").into(),
            created: since.map(|since| since.to_string()).unwrap_or_default(),
            path: resource.into(),
        }
    }
}

/// The one who may write a state now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateHold {
    /// The job that it is; null where a person has locked it.
    pub job_id: Option<JobId>,
    pub lock: LockInfo,
}

impl std::fmt::Display for StateHold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.job_id {
            Some(job) => write!(f, "job {job} is under way"),
            None => {
                let LockInfo { id, operation, who, created, .. } = &self.lock;
                write!(f, "{} has locked it since {created} for {operation}, with lock {id}", name_of(who))
            }
        }
    }
}

fn name_of(who: &str) -> &str {
    if who.is_empty() { "somebody" } else { who }
}

/// A resource's state as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateInfo {
    /// The newest version; null before the first.
    pub newest: Option<StateVersion>,
    /// Who keeps others from writing it, if anybody does.
    pub held_by: Option<StateHold>,
    /// What it knows, without attributes: those may be secret.
    pub objects: Vec<StateObject>,
    /// How plain Terraform reaches it.
    pub backend: Backend,
}

/// What a person puts into a `backend` block to use the state with plain Terraform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Backend {
    /// The state service of this server, with the token as password.
    Http {
        /// Below the server's address.
        path: String,
        /// The user name: the tenant.
        tenant: String,
    },
}
