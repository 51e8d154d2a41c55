//! What is remembered of a resource across operations.

use model::Reason;
use model::plugin::Changes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::Intent;
use super::run::Run;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Memory {
    /// Whether it was ever made.
    pub made: bool,
    /// What the last run was asked to do, if it succeeded. Dropped with the next dispatch: a run that fails half-way
    /// leaves something that is neither the one nor the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<LastRun>,
    /// A dispatch of which nobody knows yet what it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastRun {
    #[serde(flatten)]
    pub run: Run,
    pub digest: String,
    pub state: RunState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunState {
    UnderWay,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending {
    #[serde(flatten)]
    pub intent: Intent,
    /// A person has been asked to look; what happens next is their decision.
    #[serde(default)]
    pub asked: bool,
}

impl Memory {
    /// What is there; nothing, where it is not ours to read.
    pub fn of(value: &Value) -> Memory {
        Memory::deserialize(value).unwrap_or_default()
    }

    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Whether anything may ever have been dispatched.
    pub fn touched(&self) -> bool {
        self.made || self.run.is_some() || self.pending.is_some()
    }

    /// Whether all that was dispatched is known to have ended, or a person was asked about it.
    pub fn is_settled(&self) -> bool {
        self.under_way().is_none() && self.pending.as_ref().is_none_or(|pending| pending.asked)
    }

    pub fn under_way(&self) -> Option<&LastRun> {
        self.run.as_ref().filter(|run| run.state == RunState::UnderWay)
    }

    pub fn knows(&self, intent: &Intent) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.intent.nonce == intent.nonce)
    }

    /// What a run of this digest would change.
    pub fn plan(&self, digest: &str, reason: Reason) -> Changes {
        if !self.made {
            Changes { created: 1, ..Changes::default() }
        } else if self.digest.as_deref() == Some(digest) && !asks_again(reason) {
            Changes::default()
        } else {
            Changes { updated: 1, ..Changes::default() }
        }
    }

    pub fn ended(&mut self) {
        if let Some(run) = &mut self.run {
            run.state = RunState::Ended;
        }
    }

    pub fn started(&mut self, run: &Run, digest: &str) {
        self.pending = None;
        self.digest = None;
        self.run = Some(LastRun { run: run.clone(), digest: digest.to_owned(), state: RunState::UnderWay });
    }
}

/// Whether the same work is wanted once more.
pub(super) fn asks_again(reason: Reason) -> bool {
    matches!(reason, Reason::Requested | Reason::Drifted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_work_is_planned_again_only_when_asked_for() {
        let memory = Memory { made: true, digest: Some("a".into()), ..Memory::default() };
        assert!(memory.plan("a", Reason::Updated).is_none());
        assert!(memory.plan("a", Reason::Retried).is_none());
        assert_eq!(memory.plan("a", Reason::Requested).updated, 1);
        assert_eq!(memory.plan("a", Reason::Drifted).updated, 1);
        assert_eq!(memory.plan("b", Reason::Updated).updated, 1);
        assert_eq!(Memory::default().plan("a", Reason::Created).created, 1);
    }

    #[test]
    fn what_another_plugin_left_behind_is_not_ours() {
        assert_eq!(Memory::of(&serde_json::json!({"made": "yes"})), Memory::default());
        assert_eq!(Memory::of(&Value::Null), Memory::default());
    }
}
