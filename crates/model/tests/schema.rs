//! The schema module, entered by its front door: what it admits, what it fills in, what it refuses, and in which words.

#[path = "schema/bounds.rs"]
mod bounds;
#[path = "schema/defaults.rs"]
mod defaults;
#[path = "schema/documents.rs"]
mod documents;
#[path = "schema/random.rs"]
mod random;
#[path = "schema/schemas.rs"]
mod schemas;

use model::schema::{Schema, Violation};
use serde_json::{Value, json};

fn compiled(schema: Value) -> Schema {
    Schema::compile(&schema).unwrap_or_else(|violations| panic!("{schema}: {violations:?}"))
}

fn refused(schema: Value) -> Vec<Violation> {
    match Schema::compile(&schema) {
        Ok(_) => panic!("compiled: {}", schema.to_string().chars().take(200).collect::<String>()),
        Err(violations) => violations,
    }
}

/// The refusal as text, for what has to be said in it.
fn refusal(schema: Value) -> String {
    refused(schema).iter().map(|violation| format!("{violation}\n")).collect()
}

/// A schema with one field, `x`.
fn of_x(x: Value) -> Value {
    json!({"type": "object", "properties": {"x": x}})
}

fn admits(x: Value, value: Value) -> bool {
    compiled(of_x(x)).admit(json!({"x": value})).is_ok()
}

fn rejection(schema: Value, spec: Value) -> String {
    match compiled(schema).admit(spec) {
        Ok(spec) => panic!("admitted {spec}"),
        Err(violations) => violations.iter().map(|violation| format!("{violation}\n")).collect(),
    }
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}
