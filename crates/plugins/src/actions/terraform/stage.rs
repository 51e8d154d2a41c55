//! Where a step stands: what its job is for, and on which try.

use model::Failure;
use model::job::Goal;
use model::plugin::{Answer, Call};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LOOK_AGAIN;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stage {
    pub goal: Goal,
    /// A quick retry is another attempt, and another job.
    pub attempt: i64,
    /// What was begun is being destroyed again, because of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleans_up_after: Option<Failure>,
}

impl Stage {
    pub fn of(call: &Call) -> Option<Stage> {
        Stage::deserialize(&call.checkpoint).ok()
    }

    pub fn wait(&self, message: &str) -> Answer {
        Answer::wait(self.checkpoint(), LOOK_AGAIN, message)
    }

    pub fn checkpoint(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub fn doing(&self) -> &'static str {
        match (self.goal, &self.cleans_up_after) {
            (_, Some(_)) => "Terraform removes what was begun",
            (Goal::Plan, _) => "Terraform plans",
            (Goal::Apply, _) => "Terraform applies",
            (Goal::Observe, _) => "Terraform compares",
            (Goal::Destroy, _) => "Terraform destroys",
        }
    }
}
