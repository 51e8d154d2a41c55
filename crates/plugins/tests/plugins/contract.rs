//! The published schema of the contract.

use std::path::Path;

use model::plugin::{Answer, Done, Step};
use plugins::contract_schema;
use serde_json::json;

use crate::harness::call;

#[test]
fn the_published_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/terrane.plugin-v1.schema.json");
    let current = serde_json::to_string_pretty(&contract_schema()).unwrap() + "\n";
    // Only the author of a change sets it; nothing else reads the environment here.
    if option_env!("UPDATE_CONTRACT_SCHEMA").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == current,
        "run the test with UPDATE_CONTRACT_SCHEMA=1 and commit docs/src/terrane.plugin-v1.schema.json"
    );
}

#[test]
fn what_is_sent_and_answered_follows_the_schema() {
    let validator = |name: &str| {
        let mut schema = contract_schema();
        schema.as_object_mut().unwrap().remove("anyOf");
        schema["$ref"] = json!(format!("#/$defs/{name}"));
        jsonschema::validator_for(&schema).unwrap()
    };
    let sent = json!(call(Step::Apply, json!({}), json!({})));
    if let Err(error) = validator("Call").validate(&sent) {
        panic!("{error}");
    }
    for answer in [
        Answer::done(Done { outputs: Some(json!({ "a": 1 })), ..Done::default() }).remembering(json!({ "id": 1 })),
        Answer::wait(json!({ "at": 1 }), 0, "waits"),
        model::Failure::new(model::Class::Quota, Step::Apply, "full").into(),
    ] {
        let answer = json!(answer);
        if let Err(error) = validator("Answer").validate(&answer) {
            panic!("{error}: {answer}");
        }
    }
    assert!(!validator("Answer").is_valid(&json!({ "result": "perhaps" })));
    assert!(!validator("Answer").is_valid(&json!({ "result": "wait" })));
    assert!(!validator("Descriptor").is_valid(&json!({ "name": "x" })));
}
