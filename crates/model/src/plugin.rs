//! The plugin contract, `terrane.plugin/v1`: what is asked of an action plugin and what it may answer. The same values serve
//! plugins in the process and, as JSON, those out of it. Fields are only ever added; both sides ignore what they do not
//! know.
//!
//! A plugin never waits. What takes time is answered with `wait`: the checkpoint is written down before the plugin is
//! called again, with that checkpoint, by whichever process is there then. So a plugin that means to cause an
//! effect that must not happen twice first waits for zero seconds with its intent as the checkpoint.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::job::{JobProgress, JobRequest};
use crate::name::Labels;
use crate::operation::Reason;
use crate::words::words;

pub const CONTRACT: &str = "terrane.plugin/v1";

/// The signal of those that wait for a person: given when their owner asks for something else meanwhile.
pub const ON_CHANGE: &str = "terrane:change";

words!(
    /// What is asked.
    Step {
        /// Can this be done at all? Changes nothing.
        Validate = "validate",
        /// What would change? Changes nothing.
        Plan = "plan",
        /// Make it so.
        Apply = "apply",
        /// What is there to tell its users? Changes nothing.
        Outputs = "outputs",
        /// Is it still as it was made? Changes nothing.
        Observe = "observe",
        /// Make it gone.
        Destroy = "destroy",
    }
);

/// One question to a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Call {
    /// `terrane.plugin/v1`.
    pub contract: String,
    pub step: Step,
    pub operation: CallOperation,
    pub resource: CallResource,
    /// What the owner wants.
    #[schema(value_type = Object)]
    pub spec: Value,
    /// The plugin's configuration: the type's, with the resource's own laid over it.
    #[schema(value_type = Object)]
    pub config: Value,
    /// What the last successful operation put out.
    #[schema(value_type = Object)]
    pub outputs: Value,
    /// What this step's last `wait` left behind; null on its first call.
    #[serde(default)]
    pub checkpoint: Value,
    /// What the plugin last asked to remember of this resource, across operations; null before the first.
    #[serde(default)]
    pub memory: Value,
    /// Something newer is asked for, and waits for the end of this.
    #[serde(skip)]
    pub superseded: bool,
    /// The newest job of this operation. Only built-in plugins have any.
    #[serde(skip)]
    pub job: Option<JobProgress>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CallOperation {
    /// Never used again; the base of idempotency keys and markers.
    pub id: i64,
    pub reason: Reason,
    /// 1 at first; counts the quick retries of a transient failure.
    pub attempt: i64,
    /// When the operation began, in seconds since 1970.
    pub started_at: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CallResource {
    pub id: i64,
    pub name: String,
    pub tenant: String,
    pub type_name: String,
    pub type_version: String,
    pub generation: i64,
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: Labels,
    #[schema(value_type = BTreeMap<String, String>)]
    pub annotations: Labels,
}

/// What a plugin answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Answer {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// To be given back with every later call for this resource; absent leaves what was remembered before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub memory: Option<Value>,
    /// What exists outside because of this resource, one line each, for a person; absent leaves what was said before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Vec<String>>,
    /// With a `wait`: a job for a runner, queued as the checkpoint is written. Only built-in plugins have any.
    #[serde(skip)]
    pub job: Option<Box<JobRequest>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    Done(Done),
    Wait(Wait),
    Failed(Failure),
}

/// The step is finished.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Done {
    /// After `apply` and `destroy`: what was done. After `plan`: what would be; all zero means that there is nothing to
    /// apply, and `apply` is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// After `outputs`, or already after `apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub outputs: Option<Value>,
    /// After `observe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// A sentence for the resource's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Call again later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Wait {
    /// Written down before the next call, and given back with it.
    #[schema(value_type = Object)]
    pub checkpoint: Value,
    pub wake: Wake,
    /// What is waited for, for the resource's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Wake {
    /// At the latest; 0 is at once, after the checkpoint has been written.
    pub after_seconds: u64,
    /// Or as soon as this is signalled, for instance by a webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    #[serde(default)]
    pub created: i64,
    #[serde(default)]
    pub updated: i64,
    #[serde(default)]
    pub deleted: i64,
}

impl Changes {
    pub fn is_none(self) -> bool {
        self == Changes::default()
    }
}

/// How reality compares with what was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Observation {
    Unchanged,
    Drifted { attributes: Vec<DriftedAttribute> },
    CannotTell { why: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DriftedAttribute {
    /// For instance `tags.owner`.
    pub path: String,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub expected: Value,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub found: Value,
}

impl Answer {
    pub fn done(done: Done) -> Answer {
        Outcome::Done(done).into()
    }

    /// Done, and nothing to say about it.
    pub fn nothing() -> Answer {
        Answer::done(Done::default())
    }

    pub fn wait(checkpoint: Value, after_seconds: u64, message: impl Into<String>) -> Answer {
        let wake = Wake { after_seconds, signal: None };
        Outcome::Wait(Wait { checkpoint, wake, message: Some(message.into()) }).into()
    }

    pub fn remembering(self, memory: Value) -> Answer {
        Answer { memory: Some(memory), ..self }
    }

    pub fn queueing(self, job: JobRequest) -> Answer {
        Answer { job: Some(Box::new(job)), ..self }
    }

    pub fn holding(self, holds: Vec<String>) -> Answer {
        Answer { holds: Some(holds), ..self }
    }
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Answer {
        Answer { outcome, memory: None, holds: None, job: None }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Answer {
        Outcome::Failed(failure).into()
    }
}

/// What a plugin says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Descriptor {
    pub name: String,
    pub version: String,
    /// The contracts it speaks, `terrane.plugin/v1` among them.
    pub contracts: Vec<String>,
    #[serde(default)]
    pub description: String,
    /// The steps it wants to be asked; the others count as done.
    pub steps: Vec<Step>,
    /// The JSON Schema of `plugin_config`.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub config_schema: Value,
}

impl Descriptor {
    pub fn takes(&self, step: Step) -> bool {
        self.steps.contains(&step)
    }
}
