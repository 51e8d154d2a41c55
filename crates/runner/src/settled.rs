//! What came of an apply: from Terraform's events, and from the last good state.

use std::collections::BTreeMap;

use model::job::{Made, Output};
use model::plugin::Changes;
use model::state::State;
use model::stream::{ApplyEvent, ApplyStage};
use serde::Deserialize;
use serde_json::Value;

pub fn made(events: &[ApplyEvent]) -> Vec<Made> {
    let created = completed(events).filter(|event| event.action == "create");
    created.filter_map(|event| Some(Made { address: event.address.clone(), id: event.id.clone()? })).collect()
}

pub fn changes(events: &[ApplyEvent]) -> Changes {
    let count = |action: &str| {
        let done = completed(events).filter(|event| event.action == action);
        i64::try_from(done.count()).unwrap_or(i64::MAX)
    };
    Changes { created: count("create"), updated: count("update"), deleted: count("delete") }
}

fn completed(events: &[ApplyEvent]) -> impl Iterator<Item = &ApplyEvent> {
    events.iter().filter(|event| event.stage == ApplyStage::Completed)
}

/// What a state says to users of the module: the same as `terraform output -json` would, without another process.
#[derive(Default, Deserialize)]
pub struct Told {
    #[serde(default)]
    pub terraform_version: String,
    #[serde(default)]
    outputs: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    value: Value,
    #[serde(default)]
    sensitive: bool,
}

impl Told {
    pub fn by(state: Option<&str>) -> Told {
        state.and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default()
    }

    pub fn outputs(self) -> BTreeMap<String, Output> {
        let output = |(name, Written { value, sensitive })| (name, Output { value, sensitive });
        self.outputs.into_iter().map(output).collect()
    }
}

/// What a state has, data sources left out.
pub fn objects(state: Option<&str>) -> Vec<Made> {
    let objects = state.and_then(|text| State::read(text).ok()).map(|state| state.objects).unwrap_or_default();
    let managed = objects.into_iter().filter(|object| !object.is_data);
    managed.map(|object| Made { address: object.address, id: object.id.unwrap_or_default() }).collect()
}
