//! The outside system: a file that outlives the process, one line for each effect. It can be asked whether an effect took
//! place, by the key that the plugin chose before.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use controller::plugins::{Action, World};
use futures::future::BoxFuture;
use model::plugin::{Answer, CONTRACT, Call, Changes, Descriptor, Done, DriftedAttribute, Observation, Step};
use serde_json::{Value, json};

pub struct Outside {
    record: PathBuf,
    descriptor: Descriptor,
}

impl Outside {
    pub fn new(record: &Path) -> Outside {
        Outside {
            record: record.into(),
            descriptor: Descriptor {
                name: "outside".into(),
                version: "1".into(),
                contracts: vec![CONTRACT.into()],
                description: String::new(),
                steps: Step::ALL.to_vec(),
                config_schema: json!({}),
            },
        }
    }

    fn act(&self, key: &str) {
        if effects(&self.record).contains_key(key) {
            return;
        }
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&self.record);
        writeln!(file.expect("the record"), "{key}").expect("a line");
    }

    fn answer(&self, call: &Call) -> Answer {
        let at = call.checkpoint.get("at").and_then(Value::as_u64).unwrap_or(0);
        let next = json!({ "at": at + 1, "key": call.checkpoint.get("key") });
        let words = call.config.get(call.step.as_str()).and_then(Value::as_array);
        let word = words.and_then(|words| words.get(at as usize)).and_then(Value::as_str).unwrap_or("done");
        match (call.step, word) {
            (Step::Observe, _) => self.observe(),
            (_, "intent") => {
                let key = format!("{} {} {}", call.step.as_str(), call.operation.reason.as_str(), call.operation.id);
                Answer::wait(json!({ "at": at + 1, "key": key }), 0, "about to act")
            }
            (_, "act") => {
                self.act(call.checkpoint.get("key").and_then(Value::as_str).expect("the intent"));
                Answer::wait(next, 0, "acted")
            }
            (_, "wait") => Answer::wait(next, 1, "waiting"),
            (step, _) => Answer::done(Done {
                changes: matches!(step, Step::Apply | Step::Destroy)
                    .then(|| Changes { created: 1, ..Changes::default() }),
                ..Done::default()
            }),
        }
    }

    /// Drifted, until it was corrected.
    fn observe(&self) -> Answer {
        let corrected = effects(&self.record).keys().any(|key| key.starts_with("apply drifted"));
        let attribute = DriftedAttribute { path: "size".into(), expected: json!(1), found: json!(2) };
        let observation =
            if corrected { Observation::Unchanged } else { Observation::Drifted { attributes: vec![attribute] } };
        Answer::done(Done { observation: Some(observation), ..Done::default() })
    }
}

/// What took place, and how often.
pub fn effects(record: &Path) -> BTreeMap<String, u32> {
    let mut effects = BTreeMap::new();
    for line in std::fs::read_to_string(record).unwrap_or_default().lines() {
        *effects.entry(line.to_string()).or_default() += 1;
    }
    effects
}

impl Action for Outside {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn observes(&self, config: &Value) -> bool {
        config.get("observe").is_some()
    }

    fn call<'a>(&'a self, call: &'a Call, _: &'a World) -> BoxFuture<'a, Answer> {
        Box::pin(async move { self.answer(call) })
    }
}
