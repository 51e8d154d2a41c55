//! The contract as JSON Schema, for authors of plugins in other languages. Derived from the types, so that it cannot
//! differ from what is sent.

use model::plugin::{Answer, CONTRACT, Call, Descriptor};
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(components(schemas(Call, Answer, Descriptor)))]
struct Contract;

/// Fields that hold any JSON, null too; what their types say of them is only that they are JSON.
const ANYTHING: [(&str, &str); 6] = [
    ("Call", "checkpoint"),
    ("Call", "memory"),
    ("Answer", "memory"),
    ("Wait", "checkpoint"),
    ("DriftedAttribute", "expected"),
    ("DriftedAttribute", "found"),
];

/// The schemas of `Call`, `Answer` and `Descriptor`, each under `$defs`.
pub fn contract_schema() -> Value {
    let document = serde_json::to_value(Contract::openapi()).unwrap_or_default();
    let mut schemas = document["components"]["schemas"].clone();
    refer_to_definitions(&mut schemas);
    for (name, field) in ANYTHING {
        loosen(&mut schemas[name], field);
    }
    let any_of = ["Call", "Answer", "Descriptor"].map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": CONTRACT,
        "description": "A Terrane plugin is asked with a Call (POST) and answers with an Answer; GET gives its Descriptor. \
            Unknown fields are to be ignored.",
        "anyOf": any_of,
        "$defs": schemas,
    })
}

/// The schema of one of the contract's types alone.
pub fn schema_of(name: &str) -> Value {
    let mut schema = contract_schema();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("anyOf");
        schema.insert("$ref".to_owned(), json!(format!("#/$defs/{name}")));
    }
    schema
}

fn refer_to_definitions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/$defs/");
            }
            map.values_mut().for_each(refer_to_definitions);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_definitions),
        _ => {}
    }
}

/// Lets a field be any JSON, wherever in the schema it is described.
fn loosen(schema: &mut Value, field: &str) {
    match schema {
        Value::Object(map) => {
            if let Some(described) = map.get_mut("properties").and_then(|properties| properties.get_mut(field)) {
                let description = described.get("description").cloned();
                let kept: Map<_, _> = description.into_iter().map(|text| ("description".to_owned(), text)).collect();
                *described = Value::Object(kept);
            }
            map.values_mut().for_each(|value| loosen(value, field));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| loosen(item, field)),
        _ => {}
    }
}
