//! What is remembered of a resource from one operation to the next.

use model::Reason;
use model::job::{JobEnd, JobReport, Suspect};
use model::plugin::Call;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of inputs that are remembered to be rolled back to.
const LARGEST_GOOD: usize = 256 * 1024;
const MOST_SUSPECTS: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// Something was asked of a runner, and may exist outside.
    #[serde(default)]
    pub began: bool,
    /// The generation that was last applied well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<i64>,
    /// The commit that it was applied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What it was applied with, to be rolled back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good: Option<Good>,
    /// What may exist although no state has it, of all runs so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Suspect>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Good {
    pub spec: Value,
    pub config: Value,
}

impl Memory {
    pub fn of(call: &Call) -> Memory {
        Memory::deserialize(&call.memory).unwrap_or_default()
    }

    pub fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// This went well, and can be gone back to.
    pub fn went_well(&mut self, call: &Call, report: &JobReport) {
        self.began = true;
        self.applied = Some(call.resource.generation);
        self.commit.clone_from(&report.versions.module_commit);
        let good = Good { spec: call.spec.clone(), config: call.config.clone() };
        let bytes = good.spec.to_string().len() + good.config.to_string().len();
        self.good = (bytes <= LARGEST_GOOD).then_some(good);
    }

    /// Whether there is something to roll back to: of an older generation, and still known.
    pub fn can_roll_back(&self, call: &Call) -> bool {
        let older = self.applied.is_some_and(|applied| applied < call.resource.generation);
        self.good.is_some() && (older || call.operation.reason == Reason::RolledBack)
    }

    /// A suspect stays one until a state has it. What was only being changed is looked at by the next run that ends well.
    pub fn take_suspects(&mut self, report: &JobReport) {
        let found = |suspect: &Suspect| {
            let same_id = |id: &str| suspect.id.as_deref().is_none_or(|known| known == id);
            report.objects.iter().any(|object| object.address == suspect.address && same_id(&object.id))
        };
        let again = |suspect: &Suspect| report.suspects.iter().any(|new| new.address == suspect.address);
        self.suspects.retain(|suspect| {
            let open = if suspect.may_be_new() { !found(suspect) } else { report.end != JobEnd::Succeeded };
            open && !(again(suspect) && suspect.id.is_none())
        });
        self.suspects.extend(report.suspects.iter().cloned());
        self.suspects.truncate(MOST_SUSPECTS);
    }

    pub fn may_hold_more(&self) -> bool {
        self.suspects.iter().any(Suspect::may_be_new)
    }
}
