//! `cloudsim_thing`: the simplest infrastructure that can be slow, fail, drift, collide and get lost.

use std::time::Duration;

use serde_json::Value;

use crate::{
    protocol::Diagnostic,
    schema::{Attribute, Conduct, Failure, ResourceType, Type, Usage},
    value::Values,
};

const LONGEST_NAME: usize = 100;

pub const THING: ResourceType = ResourceType {
    name: "cloudsim_thing",
    noun: "thing",
    description: "A thing in the simulated cloud.",
    attributes: &[
        Attribute::new("id", Type::String, Usage::Computed, "Given by the cloud."),
        Attribute::new("endpoint", Type::String, Usage::Computed, "Where the thing would answer."),
        Attribute::new("name", Type::String, Usage::Required, "Unique in its world. Another name is another thing.")
            .replaces(),
        Attribute::new("size", Type::Number, Usage::Default(1), "Can be changed in place."),
        Attribute::new("tags", Type::MapOfString, Usage::Optional, "Can be changed in place."),
        Attribute::new("secret", Type::String, Usage::Optional, "Something that must not be shown.").sensitive(),
        Attribute::new("create_seconds", Type::Number, Usage::Default(0), "How long a create takes."),
        Attribute::new("destroy_seconds", Type::Number, Usage::Default(0), "How long a destroy takes."),
        Attribute::new("fail", Type::String, Usage::Optional, "The error with which a create is refused."),
        Attribute::new(
            "fail_times",
            Type::Number,
            Usage::Optional,
            "How many creates of this name are refused, counted per world, before one succeeds. All, if not set.",
        ),
    ],
    faults,
    computed,
    conduct,
};

fn faults(values: &Values) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    // The name is also that of the thing's file.
    let speakable = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(allowed) && !name.starts_with('.')
    };
    if values.get("name").and_then(Value::as_str).is_some_and(|name| !speakable(name)) {
        let rule = format!(
            "InvalidParameterValue: a name has 1 to {LONGEST_NAME} letters, digits, dots, underscores or dashes, \
             and does not begin with a dot"
        );
        faults.push(Diagnostic::error(rule).at("name"));
    }
    for attribute in ["size", "create_seconds", "destroy_seconds", "fail_times"] {
        if values.get(attribute).and_then(Value::as_f64).is_some_and(|number| number < 0.0) {
            faults.push(Diagnostic::error(format!("InvalidParameterValue: {attribute} is negative")).at(attribute));
        }
    }
    faults
}

fn computed(name: &str, id: &str) -> Values {
    let endpoint = format!("https://{name}.{id}.cloudsim.internal");
    Values::from_iter([("endpoint".to_owned(), Value::from(endpoint))])
}

fn conduct(values: &Values) -> Conduct {
    let number = |name: &str| values.get(name).and_then(Value::as_f64);
    let seconds = |name: &str| Duration::try_from_secs_f64(number(name).unwrap_or_default()).unwrap_or(Duration::MAX);
    Conduct {
        create_takes: seconds("create_seconds"),
        destroy_takes: seconds("destroy_seconds"),
        failure: values.get("fail").and_then(Value::as_str).map(|message| Failure {
            message: message.to_owned(),
            times: number("fail_times").map(|times| times as u64),
        }),
    }
}
