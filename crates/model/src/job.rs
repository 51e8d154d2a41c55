//! Work for a runner, `terrane.runner/v1`: what it is given, and what it reports. An assignment is complete: whoever carries
//! it out asks nobody on the way, and so can go on while every other process is down. Fields are only ever added; both
//! sides ignore what they do not know.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::ids::{JobId, OperationId, ResourceId};
use crate::name::Labels;
use crate::plan::PlanSummary;
use crate::plugin::{Changes, DriftedAttribute};
use crate::words::words;

pub const RUNNER_CONTRACT: &str = "terrane.runner/v1";

words!(
    /// Where a job stands.
    JobState {
        /// Waits for a runner.
        Queued = "queued",
        /// A runner has it.
        Running = "running",
        /// It ended and its report is written down.
        Finished = "finished",
        /// It was stopped before a runner had it.
        Cancelled = "cancelled",
    }
);

impl JobState {
    pub fn is_over(self) -> bool {
        matches!(self, JobState::Finished | JobState::Cancelled)
    }
}

/// What an action asks a runner to do. Secrets are named in it, never held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobRequest {
    pub work: Work,
    #[serde(default)]
    pub limits: Limits,
    /// Environment variables and the names of the tenant's secrets that they get.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// What its runner has to have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
    /// What the tenant last asked to be imported is to be taken into the state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imports: bool,
    /// The tenant's cloud account whose credentials the job gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The job whose approved plan is to be applied, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_of: Option<JobId>,
}

/// How far the job of an operation is, as its action sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobProgress {
    pub id: JobId,
    pub state: JobState,
    pub report: Option<JobReport>,
    /// A person has consented to its plan.
    pub approved: bool,
}

words!(
    /// What a run consists of.
    Stage {
        /// The module's source is brought.
        Fetch = "fetch",
        /// Providers and modules are installed.
        Init = "init",
        Plan = "plan",
        /// The plan becomes a summary.
        Show = "show",
        Apply = "apply",
    }
);

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunProgress {
    pub step: Stage,
    /// Changes that are made, of those that are planned.
    pub done: u64,
    /// None before there is a plan.
    pub total: Option<u64>,
    pub failed: u64,
    /// What was begun or ended last, and what is done to it.
    pub address: Option<String>,
    pub action: Option<String>,
    /// Where the log was then.
    pub log_offset: u64,
    pub at: Timestamp,
}

/// A job as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobInfo {
    pub id: JobId,
    pub operation_id: OperationId,
    pub resource_id: ResourceId,
    pub goal: Goal,
    pub state: JobState,
    /// The runner that has it, or had it last.
    pub runner: Option<String>,
    /// Bytes of its log so far.
    pub log_bytes: i64,
    /// How far it is, or was.
    pub progress: Option<RunProgress>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// How it ended; its outputs are the resource's.
    pub report: Option<JobReport>,
    /// Of the plan that consent is asked for, in hexadecimal.
    pub plan_sha256: Option<String>,
    pub approved_by: Option<String>,
}

/// A job as a runner gets it. Secrets travel beside it, never in it: this is written to the workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Assignment {
    /// `terrane.runner/v1`.
    pub contract: String,
    pub job: JobId,
    /// Every later word about the job carries it; a smaller one than the job's is ignored.
    pub fencing_token: i64,
    pub tenant: String,
    pub resource: ResourceId,
    pub resource_name: String,
    pub type_name: String,
    pub operation: OperationId,
    pub trace_id: String,
    /// How long the log is already: a runner that had the job before, and lost it, has written so much.
    #[serde(default)]
    pub log_from: u64,
    pub work: Work,
    pub limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    Terraform(Terraform),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Limits {
    /// For everything together.
    pub timeout_seconds: u64,
    /// Between the interrupt and the kill.
    pub grace_seconds: u64,
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { timeout_seconds: 30 * 60, grace_seconds: 60, memory_bytes: 2 << 30 }
    }
}

words!(
    /// What a Terraform run is for.
    Goal {
        /// Show what would change; change nothing.
        Plan = "plan",
        /// Make it so.
        Apply = "apply",
        /// Compare reality with the state; change nothing.
        Observe = "observe",
        /// Make it gone.
        Destroy = "destroy",
    }
);

words!(
    /// Whose consent an apply needs.
    Approval {
        /// Nobody's.
        Auto = "auto",
        /// A person's, for every change.
        Manual = "manual",
        /// A person's, where something would be deleted or replaced.
        Destroys = "destroys",
    }
);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Terraform {
    pub goal: Goal,
    pub source: Source,
    /// Values of the root module's variables; secret ones come by the environment.
    #[schema(value_type = Object)]
    pub variables: Map<String, Value>,
    /// Environment variables that are no secrets, such as the region.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The state to go on from, as text; none before the first.
    #[serde(default)]
    pub state: Option<String>,
    /// The approved plan: applied byte for byte, and nothing else is.
    #[serde(default)]
    pub plan: Option<PlanFile>,
    /// What exists already and is to be taken into the state first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<Import>,
    /// Where consent is needed and no plan was approved, the run ends after the plan.
    pub approval: Approval,
}

/// Where the root module comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Source {
    Git {
        git: String,
        /// A tag, branch or commit.
        #[serde(default, rename = "ref")]
        reference: Option<String>,
        /// The commit that `ref` was resolved to; filled in by the first run, kept by later ones of the same generation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        #[serde(default)]
        path: String,
    },
    /// A folder on the runner.
    Folder { path: String },
}

/// Something that exists, and the address in the module that it is to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// For instance `aws_s3_bucket.logs`.
    pub address: String,
    /// What its provider calls it: the id that `terraform import` takes.
    pub id: String,
}

/// A plan as Terraform wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanFile {
    /// Of the bytes, in hexadecimal.
    pub sha256: String,
    pub base64: String,
}

/// How a job ended, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobReport {
    pub end: JobEnd,
    /// What was done; of a plan, what would be.
    #[serde(default)]
    pub changes: Changes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSummary>,
    /// The plan that consent is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<PlanFile>,
    #[serde(default)]
    pub outputs: BTreeMap<String, Output>,
    /// What may exist although no state has it.
    #[serde(default)]
    pub suspects: Vec<Suspect>,
    /// What a comparison found to be other than the state says.
    #[serde(default)]
    pub drift: Vec<DriftedAttribute>,
    /// What the state has at the end.
    #[serde(default)]
    pub objects: Vec<Made>,
    /// What was made, as it was made.
    #[serde(default)]
    pub made: Vec<Made>,
    #[serde(default)]
    pub versions: Versions,
    /// How the job was kept apart from others.
    #[serde(default)]
    pub isolation: String,
    /// Bytes of the whole log: where it ends.
    #[serde(default)]
    pub log_bytes: u64,
}

impl JobReport {
    /// It ended so, and there is nothing else to tell.
    pub fn ended(end: JobEnd) -> JobReport {
        JobReport {
            end,
            changes: Changes::default(),
            plan: None,
            plan_file: None,
            outputs: BTreeMap::new(),
            suspects: Vec::new(),
            drift: Vec::new(),
            objects: Vec::new(),
            made: Vec::new(),
            versions: Versions::default(),
            isolation: String::new(),
            log_bytes: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum JobEnd {
    Succeeded,
    /// Planned; a person has to approve before it is applied.
    AwaitsApproval,
    Failed {
        failure: Failure,
    },
    /// A person stopped it.
    Cancelled,
}

/// An output of the root module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Output {
    #[schema(value_type = Object)]
    pub value: Value,
    #[serde(default)]
    pub sensitive: bool,
}

/// Begun or completed by the event stream, and not settled in the last good state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Suspect {
    pub address: String,
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// By what to look for it, where the plan knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

impl Suspect {
    /// Whether it may be something new, rather than something that is known and was being changed.
    pub fn may_be_new(&self) -> bool {
        !matches!(self.action.as_str(), "update" | "delete")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Made {
    pub address: String,
    pub id: String,
}

/// With what it was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Versions {
    #[serde(default)]
    pub terraform: String,
    /// Provider source to locked version.
    #[serde(default)]
    pub providers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module_commit: Option<String>,
}
