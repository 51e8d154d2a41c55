//! `cloudsim_thing`: the simplest infrastructure that can be slow, fail, drift, collide and get lost.

use std::time::Duration;

use serde_json::Value as Json;

use crate::{protocol::Diagnostic, world::Action};

use super::{Cloud, Refusing};

const LONGEST_NAME: usize = 100;

pub struct Cloudsim;

impl Cloud for Cloudsim {
    fn faults(&self, _type: &str, values: &Json) -> Vec<Diagnostic> {
        faults(values)
    }

    fn takes(&self, action: Action, values: &Json) -> Option<Duration> {
        Some(match action {
            Action::Create => seconds(values, "create_seconds"),
            Action::Destroy => seconds(values, "destroy_seconds"),
            Action::Update | Action::Read => Duration::ZERO,
        })
    }

    fn refuses(&self, _type: &str, values: &Json) -> Option<Refusing> {
        values["fail"].as_str().map(|message| Refusing {
            message: message.to_owned(),
            times: values["fail_times"].as_f64().map(|times| times as u64),
            after: seconds(values, "create_seconds"),
        })
    }
}

fn faults(values: &Json) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    // The name is also that of the thing's file.
    let speakable = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(allowed) && !name.starts_with('.')
    };
    if values["name"].as_str().is_some_and(|name| !speakable(name)) {
        let rule = format!(
            "InvalidParameterValue: a name has 1 to {LONGEST_NAME} letters, digits, dots, underscores or dashes, \
             and does not begin with a dot"
        );
        faults.push(Diagnostic::error(rule).at("name"));
    }
    for attribute in ["size", "create_seconds", "destroy_seconds", "fail_times"] {
        if values[attribute].as_f64().is_some_and(|number| number < 0.0) {
            faults.push(Diagnostic::error(format!("InvalidParameterValue: {attribute} is negative")).at(attribute));
        }
    }
    faults
}

fn seconds(values: &Json, name: &str) -> Duration {
    Duration::try_from_secs_f64(values[name].as_f64().unwrap_or_default()).unwrap_or(Duration::MAX)
}
