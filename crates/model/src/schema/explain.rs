//! Puts what the `jsonschema` crate found into the words of this product: what was expected, and what was found.

use jsonschema::{
    Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::path::{Path, child};
use super::violation::{Report, Violation, quote};

const LISTED_CHARS: usize = 200;

pub(super) fn explain(validator: &Validator, value: &Value, path: &Path<'_>, root: &str, report: &mut Report) {
    for error in validator.iter_errors(value) {
        report.add(|| {
            let at = path.render(root);
            match error.kind() {
                Kind::Required { property } => {
                    let at = child(&at, property.as_str().unwrap_or_default());
                    Violation::new(at, "a value (required)", "nothing")
                }
                kind => Violation::new(at, expected(kind), quote(value)),
            }
        });
    }
}

fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => types(kind),
        Kind::Enum { options } => format!("one of {}", listed(options)),
        Kind::Constant { expected_value } => quote(expected_value),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("at most {limit} fields"),
        Kind::Pattern { pattern } => format!("a string that matches {pattern}"),
        Kind::Format { format } => format!("a string in the format {format}"),
        other => format!("a value that satisfies {}", other.keyword()),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(name) => with_article(name.as_str()),
        TypeKind::Multiple(names) => {
            names.iter().map(|name| with_article(name.as_str())).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn with_article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

fn listed(options: &Value) -> String {
    let mut text = String::new();
    for (index, option) in options.as_array().into_iter().flatten().enumerate() {
        if text.len() > LISTED_CHARS {
            text.push_str(", …");
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&quote(option));
    }
    text
}

/// One violation for a choice of which nothing matched.
pub(super) fn alternatives(at: String, reasons: &[Report], found: String) -> Violation {
    let mut expected = format!("one of {} alternatives to match", reasons.len());
    for (index, reason) in reasons.iter().enumerate() {
        if expected.len() > LISTED_CHARS * 5 {
            expected.push_str("; …");
            break;
        }
        let parts: Vec<String> = (reason.kept().iter())
            .map(|violation| {
                let place = violation.path.strip_prefix(at.as_str()).unwrap_or_default();
                let place = place.trim_start_matches('.');
                if place.is_empty() { violation.expected.clone() } else { format!("{place}: {}", violation.expected) }
            })
            .collect();
        expected.push_str(&format!("; ({}) {}", index + 1, parts.join(", ")));
    }
    Violation::new(at, expected, found)
}
