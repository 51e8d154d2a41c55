//! Reads what `terraform show -json` says of a plan.

use serde_json::Value;

use super::diff::{self, Side};
use super::{MAX_ATTRIBUTES, MAX_CHANGES, PlanSummary, PlannedAction, PlannedAttribute, PlannedChange};
use crate::plugin::DriftedAttribute;

/// A plan that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadablePlan {
    #[error("this is no plan: it has no format_version")]
    NoPlan,
    #[error("the plan has format version {0}, and only 1.x is understood")]
    Version(String),
    #[error("the plan is of a run that failed")]
    Errored,
}

impl PlanSummary {
    /// From the JSON that `terraform show -json PLANFILE` prints.
    pub fn of(show_json: &Value) -> Result<PlanSummary, UnreadablePlan> {
        check(show_json)?;
        if show_json["errored"] == Value::Bool(true) {
            return Err(UnreadablePlan::Errored);
        }
        let mut summary = PlanSummary::default();
        for entry in show_json["resource_changes"].as_array().into_iter().flatten() {
            summary.count(entry);
        }
        let outputs = show_json["output_changes"].as_object().into_iter().flatten();
        let outputs_change = outputs.map(|(_, change)| actions(change)).any(|actions| actions != ["no-op"]);
        summary.outputs_change = outputs_change && summary.changes.is_empty();
        Ok(summary)
    }

    fn count(&mut self, entry: &Value) {
        // Reading data changes nothing, whatever it is called.
        if entry["mode"] == "data" {
            return;
        }
        let change = &entry["change"];
        let action = match actions(change).as_slice() {
            ["create"] => PlannedAction::Create,
            ["update"] => PlannedAction::Update,
            // To forget leaves the object as it is, but nobody looks after it from then on: it is told as a deletion is,
            // so that it needs the same consent.
            ["delete"] | ["forget"] => PlannedAction::Delete,
            ["delete", "create"] | ["create", "delete"] | ["create", "forget"] | ["forget", "create"] => {
                PlannedAction::Replace
            }
            // Moved or taken over as it is: the state changes, and the apply must not be left out.
            ["no-op"] if entry["previous_address"].is_string() || change["importing"].is_object() => {
                PlannedAction::Update
            }
            _ => return,
        };
        *match action {
            PlannedAction::Create => &mut self.creates,
            PlannedAction::Update => &mut self.updates,
            PlannedAction::Replace => &mut self.replaces,
            PlannedAction::Delete => &mut self.deletes,
        } += 1;
        if self.changes.len() >= MAX_CHANGES {
            self.unlisted += 1;
            return;
        }
        self.changes.push(planned(entry, action));
    }
}

/// The addresses of all objects that the plan would make, those that take the place of others included.
pub fn creates_of(show_json: &Value) -> Vec<String> {
    let entries = show_json["resource_changes"].as_array().into_iter().flatten();
    entries.filter(|entry| actions(&entry["change"]).contains(&"create")).map(address).collect()
}

fn planned(entry: &Value, action: PlannedAction) -> PlannedChange {
    let change = &entry["change"];
    let forcing: Vec<String> = change["replace_paths"].as_array().into_iter().flatten().map(rendered).collect();
    let mut attributes: Vec<PlannedAttribute> = beside(entry).into_iter().collect();
    // What goes goes whole: its attributes would only drown the others.
    if action != PlannedAction::Delete {
        diff::walk(Side::of(change), "", 0, &mut |path, side| {
            if attributes.len() < MAX_ATTRIBUTES {
                attributes.push(diff::attribute(path, side, forcing.iter().any(|forced| covers(forced, path))));
            }
        });
    }
    PlannedChange { address: address(entry), action, attributes }
}

/// What happens to an object's place in the state, besides its attributes.
fn beside(entry: &Value) -> Option<PlannedAttribute> {
    let change = &entry["change"];
    let (path, before, after) = if entry["previous_address"].is_string() {
        ("(address)", entry["previous_address"].clone(), entry["address"].clone())
    } else if change["importing"].is_object() {
        ("(imported)", Value::Null, diff::bounded(&change["importing"]["id"]))
    } else if actions(change).contains(&"forget") {
        ("(state)", "managed".into(), "forgotten, not deleted".into())
    } else {
        return None;
    };
    let path = path.to_owned();
    Some(PlannedAttribute { path, before, after, sensitive: false, unknown: false, forces_replacement: false })
}

/// A path such as `["ebs_block_device", 0, "size"]` as it is shown.
fn rendered(path: &Value) -> String {
    let mut text = String::new();
    for step in path.as_array().into_iter().flatten() {
        match step {
            Value::String(name) if text.is_empty() => text.push_str(name),
            Value::String(name) => text.push_str(&format!(".{name}")),
            step => text.push_str(&format!("[{step}]")),
        }
    }
    text
}

/// Either is within the other: a list shown whole may have the item that forces it.
fn covers(forced: &str, path: &str) -> bool {
    let within = |outer: &str, inner: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    within(forced, path) || within(path, forced)
}

fn address(entry: &Value) -> String {
    let address = entry["address"].as_str().unwrap_or_default();
    match entry["deposed"].as_str() {
        Some(deposed) => format!("{address} (deposed object {deposed})"),
        None => address.to_owned(),
    }
}

fn actions(change: &Value) -> Vec<&str> {
    change["actions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn check(show_json: &Value) -> Result<(), UnreadablePlan> {
    let version = show_json["format_version"].as_str().ok_or(UnreadablePlan::NoPlan)?;
    if version.split('.').next() == Some("1") { Ok(()) } else { Err(UnreadablePlan::Version(version.to_owned())) }
}

/// What is no longer as it was made, from the JSON of a plan made with `-refresh-only`. An object that is gone is told by its
/// address alone.
pub fn drift_of(show_json: &Value) -> Result<Vec<DriftedAttribute>, UnreadablePlan> {
    check(show_json)?;
    let mut drifted = Vec::new();
    for entry in show_json["resource_drift"].as_array().into_iter().flatten() {
        let change = &entry["change"];
        let address = address(entry);
        if entry["mode"] == "data" || drifted.len() >= MAX_CHANGES {
            continue;
        }
        match actions(change).as_slice() {
            ["delete"] => {
                drifted.push(DriftedAttribute { path: address, expected: "there".into(), found: "gone".into() })
            }
            ["no-op"] => {}
            _ => diff::walk(Side::of(change), "", 0, &mut |path, side| {
                let attribute = diff::attribute(path, side, false);
                let masked = |value: Value| if attribute.sensitive { Value::from("(sensitive)") } else { value };
                if drifted.len() < MAX_CHANGES {
                    drifted.push(DriftedAttribute {
                        path: format!("{address}.{path}"),
                        expected: masked(attribute.before),
                        found: masked(attribute.after),
                    });
                }
            }),
        }
    }
    Ok(drifted)
}
