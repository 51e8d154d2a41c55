//! What may exist although no state has it. A run that dies leaves a stream of what it began and a state from some moment
//! before: what the one tells and the other does not settle is a suspect.

use std::collections::{BTreeMap, HashSet};

use crate::job::Suspect;
use crate::plan::PlanSummary;
use crate::state::{State, StateObject};
use crate::stream::{ApplyEvent, ApplyStage};

/// The last that is known of one kind of work on one object.
struct Work {
    address: String,
    action: String,
    id: Option<String>,
    stage: ApplyStage,
}

/// The suspects, in the order in which they were begun. `finished`: Terraform ended by itself, and the state is the one that it
/// wrote then. A state that cannot be read settles nothing.
pub fn suspects(
    events: impl IntoIterator<Item = ApplyEvent>,
    last_good_state: Option<&str>,
    finished: bool,
) -> Vec<Suspect> {
    let state = last_good_state.and_then(|text| State::read(text).ok());
    let objects = state.map(|state| state.objects).unwrap_or_default();
    let works = gathered(events);
    let leaving: HashSet<&str> =
        works.iter().filter(|work| work.action == "delete").filter_map(|work| work.id.as_deref()).collect();
    let unsettled = |work: &&Work| !work.is_settled(&objects, &leaving, finished);
    let suspects = works.iter().filter(unsettled);
    suspects.map(Work::suspect).collect()
}

/// Where a plan tells the name of what was to be made; the first that it has.
const NAMES: [&str; 6] = ["name", "bucket", "identifier", "cluster_identifier", "function_name", "tags.Name"];
const MOST_TAGS: usize = 20;

/// Adds what the plan knows of the suspects, so that they can be looked for.
pub fn name_suspects(suspects: &mut [Suspect], plan: &PlanSummary) {
    for suspect in suspects {
        let Some(change) = plan.changes.iter().find(|change| change.address == suspect.address) else { continue };
        let told: Vec<(&str, &str)> = change
            .attributes
            .iter()
            .filter(|attribute| !attribute.sensitive && !attribute.unknown)
            .filter_map(|attribute| Some((attribute.path.as_str(), attribute.after.as_str()?)))
            .collect();
        let named = |name: &&str| told.iter().find(|(path, _)| path == name).map(|(_, value)| (*value).to_owned());
        suspect.name = NAMES.iter().find_map(named);
        let tags = told.iter().filter_map(|(path, value)| Some((path.strip_prefix("tags.")?, *value)));
        suspect.tags = tags.take(MOST_TAGS).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    }
}

/// What a plan would have made, of a run whose events were not all heard: every one of these may have been begun after the last
/// event, unless there was an event of it, or the last good state has an object there which the run did not start from.
pub fn unheard(
    creates: impl IntoIterator<Item = String>,
    heard: &[ApplyEvent],
    given_state: Option<&str>,
    last_good_state: Option<&str>,
) -> Vec<Suspect> {
    let ids = |state: Option<&str>| -> HashSet<(String, Option<String>)> {
        let objects = state.and_then(|text| State::read(text).ok()).map(|state| state.objects).unwrap_or_default();
        objects.into_iter().map(|object| (object.address, object.id)).collect()
    };
    let (before, after) = (ids(given_state), ids(last_good_state));
    let new: HashSet<&str> = after.difference(&before).map(|(address, _)| address.as_str()).collect();
    let begun: HashSet<&str> =
        heard.iter().filter(|event| event.action == "create").map(|event| event.address.as_str()).collect();
    let silent = |address: &String| !begun.contains(address.as_str()) && !new.contains(address.as_str());
    let suspect = |address| Suspect { address, action: "create".into(), id: None, name: None, tags: BTreeMap::new() };
    creates.into_iter().filter(silent).map(suspect).collect()
}

fn gathered(events: impl IntoIterator<Item = ApplyEvent>) -> Vec<Work> {
    let mut works: Vec<Work> = Vec::new();
    for event in events {
        let begins = event.stage == ApplyStage::Started;
        let of_same = |work: &&mut Work| work.address == event.address && work.action == event.action;
        // Two objects at one address can go at once: the current one, and one deposed before.
        let other = |work: &Work| begins && work.id.is_some() && event.id.is_some() && work.id != event.id;
        match works.iter_mut().rev().find(of_same).filter(|work| !other(work)) {
            Some(work) => {
                work.stage = if event.stage == ApplyStage::Progressed { work.stage } else { event.stage };
                work.id = event.id.or_else(|| work.id.take());
            }
            None => works.push(Work { address: event.address, action: event.action, id: event.id, stage: event.stage }),
        }
    }
    works
}

impl Work {
    fn suspect(&self) -> Suspect {
        let Work { address, action, id, .. } = self;
        Suspect { address: address.clone(), action: action.clone(), id: id.clone(), name: None, tags: BTreeMap::new() }
    }

    fn is_settled(&self, objects: &[StateObject], leaving: &HashSet<&str>, finished: bool) -> bool {
        // Terraform wrote down what it knows before it ended, and an object that it could not make is none.
        if finished && self.stage == ApplyStage::Errored {
            return true;
        }
        let mut there = objects.iter().filter(|object| object.address == self.address);
        match self.action.as_str() {
            "delete" => self.stage == ApplyStage::Completed && !there.any(|object| self.is(object)),
            // The state has it before and after alike, and only a state from afterwards has it as it is.
            "update" => finished && self.stage == ApplyStage::Completed && there.any(|object| self.is(object)),
            // At the same address there may still be the one that it replaces.
            _ => match &self.id {
                Some(_) => there.any(|object| self.is(object)),
                None => there.any(|object| !object.id.as_deref().is_some_and(|id| leaving.contains(id))),
            },
        }
    }

    fn is(&self, object: &StateObject) -> bool {
        self.id.is_none() || object.id == self.id
    }
}
