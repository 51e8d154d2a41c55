//! `noop`: changes nothing, and says that it did. For trying out Terrane: how long things take, how they fail and how they
//! drift can be configured.

use futures::future::BoxFuture;
use model::plugin::{Answer, CONTRACT, Call, Changes, Descriptor, Done, DriftedAttribute, Observation, Step};
use model::{Class, Failure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::action::{Action, World};
use crate::expr::{Scope, render};

pub struct Noop {
    descriptor: Descriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    wait_seconds: u64,
    fail: Option<Fail>,
    drift: Option<Drift>,
    outputs: Option<serde_json::Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fail {
    class: Class,
    message: String,
    step: Option<Step>,
    /// Of each generation; always, if it is not given.
    times: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Drift {
    Any(bool),
    Attributes(Vec<DriftedAttribute>),
}

impl Default for Noop {
    fn default() -> Noop {
        Noop {
            descriptor: Descriptor {
                name: "noop".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                contracts: vec![CONTRACT.to_owned()],
                description: "Changes nothing, and says that it did. For trying out Terrane.".to_owned(),
                steps: Step::ALL.to_vec(),
                config_schema: schema(),
            },
        }
    }
}

impl Action for Noop {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn observes(&self, config: &Value) -> bool {
        config.get("drift").is_some()
    }

    fn call<'a>(&'a self, call: &'a Call, _world: &'a World) -> BoxFuture<'a, Answer> {
        Box::pin(async move { answer(call).unwrap_or_else(Answer::from) })
    }
}

/// How many seconds are left to wait, however early it is called again.
fn left(call: &Call, config: &Config) -> i64 {
    let whole = i64::try_from(config.wait_seconds).unwrap_or(i64::MAX);
    call.checkpoint["until"].as_i64().map_or(whole, |until| until - now())
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn answer(call: &Call) -> Result<Answer, Failure> {
    let wrong = |why: String| Failure::new(Class::InvalidConfig, call.step, why);
    let config = render(&call.config, &Scope::of(call)).map_err(|error| wrong(error.to_string()))?;
    let config: Config = serde_json::from_value(config)
        .map_err(|error| wrong(format!("the configuration of `noop` is wrong: {error}")))?;
    if let Some(answer) = config.fail.as_ref().and_then(|fail| failing(fail, call)) {
        return Ok(answer);
    }
    let made = call.memory["made"] == json!(true);
    let changes = Changes { created: i64::from(!made), updated: i64::from(made), deleted: 0 };
    Ok(match call.step {
        Step::Validate => Answer::nothing(),
        Step::Plan => Answer::done(Done { changes: Some(changes), ..Done::default() }),
        Step::Apply if left(call, &config) > 0 => {
            let left = left(call, &config);
            let until = call.checkpoint["until"].as_i64().unwrap_or(now() + left);
            Answer::wait(json!({ "until": until }), left.unsigned_abs(), "waits, as it is configured to")
        }
        Step::Apply => {
            let outputs = Value::Object(config.outputs.unwrap_or_default());
            Answer::done(Done { changes: Some(changes), outputs: Some(outputs), ..Done::default() })
                .remembering(json!({ "made": true }))
                .holding(vec![format!("nothing, in the name of {}", call.resource.name)])
        }
        Step::Outputs => {
            let outputs = Value::Object(config.outputs.unwrap_or_default());
            Answer::done(Done { outputs: Some(outputs), ..Done::default() })
        }
        Step::Observe => {
            let observation = Some(observed(config.drift));
            Answer::done(Done { observation, ..Done::default() })
        }
        Step::Destroy => {
            let changes = Some(Changes { deleted: i64::from(made), ..Changes::default() });
            Answer::done(Done { changes, ..Done::default() }).remembering(json!({ "made": false })).holding(Vec::new())
        }
    })
}

/// The failure, if it is this step's turn and it has not failed often enough.
fn failing(fail: &Fail, call: &Call) -> Option<Answer> {
    if fail.step.unwrap_or(Step::Apply) != call.step {
        return None;
    }
    let generation = call.resource.generation;
    let before = &call.memory["failed"];
    let failed = if before["generation"] == json!(generation) { before["times"].as_u64().unwrap_or(0) } else { 0 };
    if fail.times.is_some_and(|times| failed >= times) {
        return None;
    }
    let made = call.memory["made"] == json!(true);
    let memory = json!({ "made": made, "failed": { "generation": generation, "times": failed + 1 } });
    let failure = Failure::new(fail.class, call.step, fail.message.clone())
        .with_hint("It was configured to fail: see `fail` in the configuration of the plugin.");
    Some(Answer::from(failure).remembering(memory))
}

fn observed(drift: Option<Drift>) -> Observation {
    match drift {
        None => Observation::CannotTell { why: "`drift` is not configured".to_owned() },
        Some(Drift::Any(false)) => Observation::Unchanged,
        Some(Drift::Attributes(attributes)) if attributes.is_empty() => Observation::Unchanged,
        Some(Drift::Attributes(attributes)) => Observation::Drifted { attributes },
        Some(Drift::Any(true)) => Observation::Drifted {
            attributes: vec![DriftedAttribute {
                path: "noop".to_owned(),
                expected: json!("as it was made"),
                found: json!("drifted, as it is configured to"),
            }],
        },
    }
}

fn schema() -> Value {
    let classes: Vec<&str> = Class::ALL.iter().map(|class| class.as_str()).collect();
    let steps: Vec<&str> = Step::ALL.iter().map(|step| step.as_str()).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "wait_seconds": { "description": "How long `apply` takes.", "type": ["integer", "string"], "minimum": 0 },
            "fail": {
                "description": "Fail at a step.",
                "type": "object",
                "additionalProperties": false,
                "required": ["class", "message"],
                "properties": {
                    "class": { "type": "string", "enum": classes },
                    "message": { "type": "string" },
                    "step": { "description": "`apply`, if not given.", "type": "string", "enum": steps },
                    "times": { "description": "How often in each generation; always, if not given.", "type": ["integer", "string"] },
                },
            },
            "drift": { "description": "What `observe` finds: true, false, or a list of attributes." },
            "outputs": { "description": "What it puts out.", "type": "object" },
        },
    })
}
