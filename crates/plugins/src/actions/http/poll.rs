//! Waiting for the end of what a request has begun.

use model::plugin::{Answer, Step};
use model::{Class, Failure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Asked;
use super::apply::{Checkpoint, bare, done, outputs};
use super::config::{Poll, Verb};
use super::held::Held;
use super::request::response;
use super::status;
use crate::expr::{Scope, evaluate, shortened};

#[derive(Serialize, Deserialize)]
pub struct Polling {
    verb: Verb,
    /// In seconds since 1970.
    since: i64,
    outputs: Map<String, Value>,
}

pub fn begin(verb: Verb, poll: &Poll, outputs: Map<String, Value>) -> Answer {
    again(Polling { verb, since: now(), outputs }, poll)
}

fn again(polling: Polling, poll: &Poll) -> Answer {
    Answer::wait(json!(Checkpoint::Polling(polling)), poll.every_seconds, format!("waits until {}", bare(&poll.until)))
}

pub async fn poll(asked: &Asked<'_>, polling: Polling) -> Result<Answer, Failure> {
    let wrong = |why: String| asked.failure(Class::InvalidConfig, why);
    let Some(poll) = &asked.config.of(polling.verb).poll else {
        // The configuration was changed meanwhile, and nothing is to be awaited any more.
        return Ok(finished(asked, polling.verb, polling.outputs));
    };
    let prepared = asked.prepare(&poll.request())?;
    let incoming = asked.world.send(prepared.outgoing).await.map_err(|error| error.failure(asked.call.step))?;
    if !incoming.is_success() && !status::is_gone(&incoming) {
        return Err(status::failure(asked.call.step, &prepared.said, &incoming, &asked.world.secrets));
    }
    let scope = asked.scope.clone().with("response", response(&incoming, &asked.world.secrets));
    let holds = |condition: &str| truth(condition, &scope).map_err(wrong);
    if poll.fail_if.as_deref().map(holds).transpose()?.unwrap_or(false) {
        let body = shortened(asked.world.secrets.redact(&incoming.text()).trim(), 500);
        return Err(asked.failure(Class::Rejected, format!("{} reported a failure: {body}", prepared.said)));
    }
    if holds(&poll.until)? {
        let mut all = polling.outputs;
        all.extend(outputs(&poll.outputs, &scope).map_err(wrong)?);
        return Ok(finished(asked, polling.verb, all));
    }
    if now() - polling.since > poll.timeout_seconds {
        let message = format!("{} was not ready within {} s", prepared.said, poll.timeout_seconds);
        return Err(asked.failure(Class::Timeout, message));
    }
    Ok(again(polling, poll))
}

fn finished(asked: &Asked<'_>, verb: Verb, outputs: Map<String, Value>) -> Answer {
    let answer = done(verb, outputs);
    if asked.call.step == Step::Destroy {
        return answer.remembering(Held::default().memory()).holding(Vec::new());
    }
    answer
}

fn truth(condition: &str, scope: &Scope) -> Result<bool, String> {
    match evaluate(bare(condition), scope).map_err(|error| error.to_string())? {
        Value::Bool(truth) => Ok(truth),
        other => Err(format!("`{condition}` must be true or false, and is {}", shortened(&other.to_string(), 100))),
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}
