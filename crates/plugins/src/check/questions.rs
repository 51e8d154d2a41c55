//! What is asked.

use std::time::Duration;

use model::plugin::{Answer, CONTRACT, Descriptor, Outcome, Step, Wait};
use serde_json::{Value, json};

use super::Sample;
use super::conversation::Conversation;
use super::report::Report;
use crate::schema::schema_of;

/// How often a plugin may say `wait` before it counts as one that never ends.
const ROUNDS: usize = 100;
/// Nothing here takes longer than a moment; what a plugin wants to wait beyond is not waited for.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
const OVERSIZED: usize = 32 * 1024 * 1024;

pub async fn descriptor(conversation: &mut Conversation, report: &mut Report) -> Option<Descriptor> {
    let read = async {
        let incoming = conversation.get().await.map_err(|error| error.to_string())?;
        if incoming.status != 200 {
            return Err(format!("GET was answered with status {}", incoming.status));
        }
        let value = incoming.json().map_err(|error| format!("GET was not answered with JSON: {error}"))?;
        let descriptor: Descriptor = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
        if !descriptor.contracts.iter().any(|contract| contract == CONTRACT) {
            return Err(format!("it speaks {}, and not {CONTRACT}", descriptor.contracts.join(", ")));
        }
        model::check_plugin_name("name", &descriptor.name).map_err(|error| error.to_string())?;
        conforms(&value, "Descriptor")?;
        Ok(descriptor)
    };
    let read = read.await;
    let said = read.as_ref().map(|descriptor| format!("{} {}", descriptor.name, descriptor.version));
    report.enter("the descriptor is valid", said.map_err(Clone::clone));
    let descriptor = read.ok()?;
    let schema = &descriptor.config_schema;
    let compiled = if schema.is_null() {
        Ok(())
    } else {
        jsonschema::validator_for(schema).map(|_| ()).map_err(|error| error.to_string())
    };
    report.enter("the configuration schema compiles", compiled.map(|()| "it does".to_owned()));
    Some(descriptor)
}

/// What to make, where nobody says: the schema's first example.
pub fn sample(descriptor: &Descriptor) -> Sample {
    let example = descriptor.config_schema["examples"].get(0).cloned();
    Sample { config: example.unwrap_or_else(|| json!({})), spec: json!({}) }
}

fn conforms(value: &Value, name: &str) -> Result<(), String> {
    let validator = jsonschema::validator_for(&schema_of(name)).map_err(|error| error.to_string())?;
    validator.validate(value).map_err(|error| format!("{error} at `{}`", error.instance_path()))
}

pub struct Asking {
    pub conversation: Conversation,
    pub descriptor: Descriptor,
    pub sample: Sample,
    /// What the plugin asked to remember.
    pub memory: Value,
}

impl Asking {
    fn call(&self, step: Step, operation: i64, checkpoint: &Value) -> Value {
        let reason = if step == Step::Destroy { "deleted" } else { "created" };
        json!({
            "contract": CONTRACT,
            "step": step,
            "operation": { "id": operation, "reason": reason, "attempt": 1, "started_at": 1_700_000_000 },
            "resource": {
                "id": 4_711,
                "name": "terrane-plugin-check",
                "tenant": "default",
                "type_name": "PluginCheck",
                "type_version": "v1",
                "generation": 1,
                "labels": {},
                "annotations": {},
            },
            "spec": self.sample.spec,
            "config": self.sample.config,
            "outputs": {},
            "checkpoint": checkpoint,
            "memory": self.memory,
        })
    }

    /// A question's answer, and the same question's again.
    async fn twice(&mut self, call: &Value) -> Result<(Answer, Answer), String> {
        Ok((self.conversation.ask(call).await?, self.conversation.ask(call).await?))
    }

    pub async fn tolerance(&mut self, report: &mut Report) {
        let harmless = [Step::Validate, Step::Plan, Step::Outputs, Step::Observe];
        let step = harmless.into_iter().find(|step| self.descriptor.takes(*step)).unwrap_or(Step::Validate);
        let mut call = self.call(step, 1, &Value::Null);
        let known = self.conversation.ask(&call).await;
        call["from_the_future"] = json!({ "a": [1, 2, 3] });
        call["operation"]["priority"] = json!("high");
        call["resource"]["owner"] = json!(null);
        let unknown = self.conversation.ask(&call).await;
        let ignored = match (known, unknown) {
            (Ok(known), Ok(unknown)) if known == unknown => Ok("they are".to_owned()),
            (Ok(_), Ok(_)) => Err("the answer differs when the call has fields that the plugin cannot know".to_owned()),
            (Err(why), _) | (_, Err(why)) => Err(why),
        };
        report.enter("unknown fields are ignored", ignored);

        let mut call = self.call(Step::Validate, 1, &Value::Null);
        call["step"] = json!("dance");
        let refused = match self.conversation.post(call.to_string().into_bytes()).await {
            Ok(incoming) if (400..500).contains(&incoming.status) => Ok(format!("with status {}", incoming.status)),
            Ok(incoming)
                if incoming.status == 200 && incoming.json().is_ok_and(|answer| answer["result"] == "failed") =>
            {
                Ok("with a failure".to_owned())
            }
            Ok(incoming) => {
                Err(format!("it was answered with status {}; a 4xx or a failure is expected", incoming.status))
            }
            Err(error) => Err(error.to_string()),
        };
        report.enter("an unknown step is refused", refused);
    }

    pub async fn reading(&mut self, report: &mut Report) {
        for (step, name) in [(Step::Validate, "validate changes nothing"), (Step::Plan, "plan changes nothing")] {
            let call = self.call(step, 1, &Value::Null);
            if !self.descriptor.takes(step) {
                continue;
            }
            let same = self.twice(&call).await.and_then(|(first, second)| match first.outcome {
                Outcome::Failed(failure) => Err(format!("it failed: {failure}")),
                _ if first == second => Ok("asked twice, it answers the same".to_owned()),
                _ => Err("asked twice, it answers differently".to_owned()),
            });
            report.enter(name, same);
        }
    }

    pub async fn making(&mut self, report: &mut Report) {
        if !self.descriptor.takes(Step::Apply) {
            return;
        }
        let mut waits = Ok("they do".to_owned());
        let ended = self.run(Step::Apply, 2, &mut waits).await;
        report.enter("every wait carries a checkpoint", waits);
        let repeated = match &ended {
            Err(why) => Err(why.clone()),
            Ok((last, call)) => self.again_after_the_end(last, call).await,
        };
        report.enter("apply ends", ended.map(|_| "it does".to_owned()));
        report.enter("apply can be repeated", repeated);
        for (step, name) in [(Step::Outputs, "outputs are given"), (Step::Observe, "observe changes nothing")] {
            if self.descriptor.takes(step) {
                let call = self.call(step, 3, &Value::Null);
                let answered = self.twice(&call).await.and_then(|(first, second)| match first.outcome {
                    Outcome::Failed(failure) => Err(format!("it failed: {failure}")),
                    _ if first == second => Ok("asked twice, it answers the same".to_owned()),
                    _ => Err("asked twice, it answers differently".to_owned()),
                });
                report.enter(name, answered);
            }
        }
    }

    /// Asks until it is done; every question twice, as after a crash. Gives the last answer and its question.
    async fn run(
        &mut self,
        step: Step,
        operation: i64,
        waits: &mut Result<String, String>,
    ) -> Result<(Answer, Value), String> {
        let mut checkpoint = Value::Null;
        for _ in 0..ROUNDS {
            let call = self.call(step, operation, &checkpoint);
            let (_, answer) = self.twice(&call).await?;
            self.memory = answer.memory.clone().unwrap_or_else(|| self.memory.clone());
            match &answer.outcome {
                Outcome::Done(_) => return Ok((answer, call)),
                Outcome::Failed(failure) => return Err(format!("`{}` failed: {failure}", step.as_str())),
                Outcome::Wait(Wait { checkpoint: next, wake, .. }) => {
                    if next.is_null() {
                        *waits = Err(format!("`{}` waits with null: it would begin anew for ever", step.as_str()));
                        return Err("it waits without a checkpoint".to_owned());
                    }
                    checkpoint = next.clone();
                    tokio::time::sleep(Duration::from_secs(wake.after_seconds).min(LONGEST_WAIT)).await;
                }
            }
        }
        Err(format!("after {ROUNDS} calls, `{}` still waits", step.as_str()))
    }

    /// The answer got lost: the same question comes once more, and nothing may be made a second time.
    async fn again_after_the_end(&mut self, last: &Answer, call: &Value) -> Result<String, String> {
        let again = self.conversation.ask(call).await?;
        if let Outcome::Failed(failure) = again.outcome {
            return Err(format!("asked again with the same operation and checkpoint, it failed: {failure}"));
        }
        if again.holds != last.holds {
            return Err(format!("asked again, it holds {:?} instead of {:?}", again.holds, last.holds));
        }
        if again.memory != last.memory {
            return Err("asked again, it remembers something else: something was made twice".to_owned());
        }
        Ok("asked again with the same operation and checkpoint, it holds the same".to_owned())
    }

    pub async fn removing(&mut self, report: &mut Report) {
        if !self.descriptor.takes(Step::Destroy) {
            return;
        }
        let mut waits = Ok(String::new());
        let mut removed = self.run(Step::Destroy, 4, &mut waits).await;
        if removed.is_ok() {
            removed = self.run(Step::Destroy, 5, &mut waits).await;
        }
        let held = |answer: &Answer| answer.holds.clone().unwrap_or_default();
        let result = removed.and_then(|(answer, _)| match held(&answer) {
            holds if holds.is_empty() => Ok("what is gone stays gone".to_owned()),
            holds => Err(format!("it is done, and still holds {holds:?}")),
        });
        report.enter("destroy can be repeated", result);
    }

    pub async fn endurance(&mut self, report: &mut Report) {
        for (name, body) in [
            ("malformed JSON gets a 4xx", b"{\"contract\": \"terrane.pl".to_vec()),
            ("an oversized body gets a 4xx", vec![b' '; OVERSIZED]),
        ] {
            let refused = match self.conversation.post(body).await {
                Ok(incoming) if (400..500).contains(&incoming.status) => Ok(format!("status {}", incoming.status)),
                Ok(incoming) => Err(format!("it was answered with status {}", incoming.status)),
                // Hanging up before the end is what a server may do with a body it does not want.
                Err(error) if error.may_have_arrived() && name.contains("oversized") => Ok("it hung up".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            report.enter(name, refused);
        }
        let alive = match self.conversation.get().await {
            Ok(incoming) if incoming.status == 200 => Ok("it answers still".to_owned()),
            Ok(incoming) => Err(format!("afterwards GET was answered with status {}", incoming.status)),
            Err(error) => Err(format!("afterwards {error}")),
        };
        report.enter("the plugin lives on", alive);
    }

    pub fn shapes(&mut self, report: &mut Report) {
        let wrong = self.conversation.answers.iter().find_map(|answer| conforms(answer, "Answer").err());
        let count = self.conversation.answers.len();
        report.enter("answers follow the schema", wrong.map_or(Ok(format!("all {count} do")), Err));
    }
}
