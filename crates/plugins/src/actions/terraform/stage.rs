//! Where a step stands: what its job is for, and on which try.

use std::time::Duration;

use model::Failure;
use model::job::Goal;
use model::plugin::{Answer, Call, ON_CHANGE, Outcome, Wait, Wake};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LOOK_AGAIN;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stage {
    pub goal: Goal,
    /// 1 at first. Each try is a job of its own.
    pub tries: i64,
    /// The job of this try is queued only after a pause.
    #[serde(default)]
    pub pauses: bool,
    /// What was begun is being destroyed again, because of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleans_up_after: Option<Failure>,
}

impl Stage {
    pub fn first(goal: Goal) -> Stage {
        Stage { goal, tries: 1, pauses: false, cleans_up_after: None }
    }

    /// What was begun is to be destroyed again, because of this.
    pub fn cleanup(after: Failure) -> Stage {
        Stage { cleans_up_after: Some(after), ..Stage::first(Goal::Destroy) }
    }

    pub fn of(call: &Call) -> Option<Stage> {
        Stage::deserialize(&call.checkpoint).ok()
    }

    pub fn wait(&self, message: &str) -> Answer {
        Answer::wait(self.checkpoint(), LOOK_AGAIN, message)
    }

    /// Another try after a pause; sooner where something else is asked for meanwhile.
    pub fn again(&self, pause: Duration, failure: &Failure) -> Answer {
        let next = Stage { tries: self.tries + 1, pauses: true, ..self.clone() };
        let message = format!("{failure}. Trying again in {} s", pause.as_secs());
        let wake = Wake { after_seconds: pause.as_secs().max(1), signal: Some(ON_CHANGE.into()) };
        Outcome::Wait(Wait { checkpoint: next.checkpoint(), wake, message: Some(message) }).into()
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
