//! The outside world: a plugin that follows a script, and a record of what really happened.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use controller::plugins::{Action, World};
use futures::future::BoxFuture;
use model::plugin::{
    Answer, CONTRACT, Call, Changes, Descriptor, Done, DriftedAttribute, Observation, Outcome, Step, Wait, Wake,
};
use model::{Class, Failure};
use serde_json::{Value, json};

/// What happened outside.
#[derive(Default)]
pub struct Outside {
    /// Every call, as `step generation`.
    pub calls: Mutex<Vec<String>>,
    /// The spec that each apply was given.
    pub specs: Mutex<Vec<Value>>,
    /// How often each effect took place. Its key names resource, operation and step.
    pub effects: Mutex<BTreeMap<String, u32>>,
    /// What an observation finds, by the resource's name.
    pub drift: Mutex<BTreeMap<String, Vec<String>>>,
}

impl Outside {
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("the record").clone()
    }

    pub fn forget_calls(&self) {
        self.calls.lock().expect("the record").clear();
    }

    pub fn effects(&self) -> BTreeMap<String, u32> {
        self.effects.lock().expect("the record").clone()
    }

    fn act(&self, key: String) {
        *self.effects.lock().expect("the record").entry(key).or_default() += 1;
    }
}

/// Follows `plugin_config`: for a step, a list of words, one for each call of an operation's step:
/// `done`, `nothing` (for plan), `note`, `act` (an effect, then on), `wait:SECONDS`, `signal:NAME`, `fail:CLASS`, `panic`; `apply: [hang]` never answers.
pub struct Script {
    descriptor: Descriptor,
    outside: Arc<Outside>,
}

impl Script {
    pub fn new(outside: Arc<Outside>) -> Script {
        Script {
            descriptor: Descriptor {
                name: "script".into(),
                version: "1".into(),
                contracts: vec![CONTRACT.into()],
                description: String::new(),
                steps: Step::ALL.to_vec(),
                config_schema: json!({}),
            },
            outside,
        }
    }

    fn answer(&self, call: &Call) -> Answer {
        let entry = format!("{} {}", call.step.as_str(), call.resource.generation);
        self.outside.calls.lock().expect("the record").push(entry);
        if call.step == Step::Observe {
            return self.observe(call);
        }
        if call.step == Step::Apply {
            self.outside.specs.lock().expect("the record").push(call.spec.clone());
        }
        let at = call.checkpoint.get("at").and_then(Value::as_u64).unwrap_or(0);
        let words = call.config.get(call.step.as_str()).and_then(Value::as_array);
        let word = words.and_then(|words| words.get(at as usize)).and_then(Value::as_str).unwrap_or("done");
        let next = json!({ "at": at + 1 });
        match word.split_once(':').unwrap_or((word, "")) {
            ("done", _) => self.done(call),
            ("nothing", _) => Answer::done(Done { changes: Some(Changes::default()), ..Done::default() }),
            ("note", _) => Answer::wait(next, 0, "noted"),
            ("act", _) => {
                self.outside.act(format!("{}/{}/{}", call.resource.name, call.operation.id, call.step.as_str()));
                Answer::wait(next, 0, "acted")
            }
            ("wait", seconds) => Answer::wait(next, seconds.parse().expect("seconds"), "waiting for the script"),
            ("signal", name) => {
                let wake = Wake { after_seconds: 600, signal: Some(name.into()) };
                Outcome::Wait(Wait { checkpoint: next, wake, message: Some("waiting for a signal".into()) }).into()
            }
            ("fail", class) => {
                let class = Class::parse(class).expect("a class");
                Failure::new(class, call.step, "the script says so").with_hint("Change the script.").into()
            }
            ("panic", _) => panic!("the script says so"),
            (other, _) => unreachable!("the script says {other}"),
        }
    }

    fn done(&self, call: &Call) -> Answer {
        let name = &call.resource.name;
        let answer = Answer::done(Done {
            changes: match call.step {
                Step::Apply => Some(Changes { created: 1, ..Changes::default() }),
                Step::Destroy => Some(Changes { deleted: 1, ..Changes::default() }),
                Step::Validate | Step::Plan | Step::Outputs | Step::Observe => None,
            },
            outputs: (call.step == Step::Outputs).then(|| json!({ "generation": call.resource.generation })),
            ..Done::default()
        });
        match call.step {
            Step::Apply => {
                answer.holding(vec![format!("thing {name}")]).remembering(json!({ "made": call.resource.generation }))
            }
            Step::Validate | Step::Plan | Step::Outputs | Step::Observe | Step::Destroy => answer,
        }
    }

    fn observe(&self, call: &Call) -> Answer {
        let found = self.outside.drift.lock().expect("the record").get(&call.resource.name).cloned();
        let observation = match found {
            None => Observation::Unchanged,
            Some(paths) if paths.is_empty() => Observation::CannotTell { why: "it is dark".into() },
            Some(paths) => {
                let attribute = |path| DriftedAttribute { path, expected: json!(1), found: json!(2) };
                Observation::Drifted { attributes: paths.into_iter().map(attribute).collect() }
            }
        };
        Answer::done(Done { observation: Some(observation), ..Done::default() })
    }
}

impl Action for Script {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn call<'a>(&'a self, call: &'a Call, _: &'a World) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            if call.config["apply"] == json!(["hang"]) && call.step == Step::Apply {
                self.outside.calls.lock().expect("the record").push(format!("apply {}", call.resource.generation));
                std::future::pending::<()>().await;
            }
            self.answer(call)
        })
    }
}
