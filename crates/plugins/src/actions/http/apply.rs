//! Making it so: the intent is written down, then the request is sent, then, if it is asked for, its end is awaited.

use model::plugin::{Answer, Changes, Done, Step};
use model::{Class, Failure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Asked;
use super::config::{Request, Verb};
use super::held::{Held, Pending};
use super::poll::{self, Polling};
use super::request::{Prepared, response};
use super::status;
use crate::door::Incoming;
use crate::expr::{Scope, evaluate, render};

/// What is written down between two calls.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoint {
    /// About to be sent, with this key.
    Intent {
        verb: Verb,
        key: String,
    },
    Polling(Polling),
}

pub async fn apply(asked: &Asked<'_>) -> Result<Answer, Failure> {
    match serde_json::from_value(asked.call.checkpoint.clone()) {
        Ok(Checkpoint::Intent { verb, key }) => send(asked, verb, key).await,
        Ok(Checkpoint::Polling(polling)) => poll::poll(asked, polling).await,
        Err(_) => intend(asked, if asked.held.exists { Verb::Update } else { Verb::Create }, "apply"),
    }
}

/// Writes down what is about to be sent. A request whose answer never came is sent again with the key it had, in whichever
/// operation, as long as it is the same request.
fn intend(asked: &Asked<'_>, verb: Verb, step: &str) -> Result<Answer, Failure> {
    let digest = asked.prepare(asked.config.of(verb))?.digest;
    let earlier = asked.held.pending.clone().filter(|pending| pending.verb == verb && pending.digest == digest);
    let pending = earlier.unwrap_or_else(|| {
        let key = format!("terrane-{}-{step}", asked.call.operation.id);
        Pending { verb, key, digest, unanswered: false }
    });
    let checkpoint = json!(Checkpoint::Intent { verb, key: pending.key.clone() });
    let held = Held { exists: verb == Verb::Update, pending: Some(pending), ..asked.held.clone() };
    Ok(Answer::wait(checkpoint, 0, "is about to send its request").remembering(held.memory()))
}

async fn send(asked: &Asked<'_>, verb: Verb, key: String) -> Result<Answer, Failure> {
    let request = asked.config.of(verb);
    let prepared = asked.prepare(request)?;
    let header = request.idempotency_header.as_deref().unwrap_or("Idempotency-Key");
    let outgoing = prepared.outgoing.clone().header(header, key);
    let incoming = match asked.world.send(outgoing).await {
        Ok(incoming) => incoming,
        Err(error) => return Ok(unmade(asked, error.failure(asked.call.step), error.may_have_arrived())),
    };
    if status::is_expected(&request.expect, &incoming) {
        return made(asked, verb, request, &prepared, &incoming);
    }
    if verb == Verb::Update && status::is_gone(&incoming) {
        // Somebody removed it: it is made anew, by another request and therefore with another key.
        return intend(asked, Verb::Create, "apply-create");
    }
    let failure = status::failure(Step::Apply, &prepared.said, &incoming, &asked.world.secrets);
    // A success that was not expected is a success nevertheless; an outage may come after the deed.
    let unclear = matches!(incoming.status, 200..=299 | 408 | 500..=599);
    Ok(unmade(asked, failure, unclear))
}

/// It failed. What was about to be sent is forgotten only if neither this attempt nor one before it can have made anything.
fn unmade(asked: &Asked<'_>, failure: Failure, unclear: bool) -> Answer {
    let mut held = asked.held.clone();
    held.pending = held.pending.map(|pending| Pending { unanswered: pending.unanswered || unclear, ..pending });
    held.pending = held.pending.filter(|pending| pending.unanswered);
    Answer::from(failure).remembering(held.memory())
}

fn made(
    asked: &Asked<'_>,
    verb: Verb,
    request: &Request,
    prepared: &Prepared,
    incoming: &Incoming,
) -> Result<Answer, Failure> {
    let scope = asked.scope.clone().with("response", response(incoming, &asked.world.secrets));
    let mut held = Held { exists: true, digest: prepared.digest.clone(), pending: None, ..asked.held.clone() };
    if verb == Verb::Create {
        held.made_by = prepared.said.clone();
        held.id = match identify(request, &scope) {
            Ok(id) => id,
            Err(why) => {
                let failure =
                    asked.failure(Class::InvalidConfig, format!("it was made, but its id is not known: {why}"));
                let answer = Answer::from(failure).remembering(held.memory());
                return Ok(answer.holding(held.holds()));
            }
        };
    }
    let scope = scope.with("memory", held.memory());
    let outputs = outputs(&request.outputs, &scope).map_err(|why| asked.failure(Class::InvalidConfig, why));
    let answer = match outputs {
        Err(failure) => failure.into(),
        Ok(outputs) => match &request.poll {
            Some(poll) => poll::begin(verb, poll, outputs),
            None => done(verb, outputs),
        },
    };
    Ok(answer.remembering(held.memory()).holding(held.holds()))
}

pub fn done(verb: Verb, outputs: Map<String, Value>) -> Answer {
    let changes = Changes {
        created: i64::from(verb == Verb::Create),
        updated: i64::from(verb == Verb::Update),
        deleted: i64::from(verb == Verb::Delete),
    };
    let outputs = (verb != Verb::Delete).then_some(Value::Object(outputs));
    Answer::done(Done { changes: Some(changes), outputs, ..Done::default() })
}

/// The id that the answer gives. Where none is configured, there need not be one.
fn identify(request: &Request, scope: &Scope) -> Result<Value, String> {
    match &request.id {
        Some(id) => evaluate(bare(id), scope).map_err(|error| error.to_string()),
        None => Ok(evaluate("response.body.id", scope).unwrap_or(Value::Null)),
    }
}

/// Where only an expression can stand, `${…}` around it is optional.
pub fn bare(expression: &str) -> &str {
    let trimmed = expression.trim();
    trimmed.strip_prefix("${").and_then(|inside| inside.strip_suffix('}')).unwrap_or(trimmed)
}

pub fn outputs(outputs: &Map<String, Value>, scope: &Scope) -> Result<Map<String, Value>, String> {
    match render(&Value::Object(outputs.clone()), scope) {
        Ok(Value::Object(outputs)) => Ok(outputs),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(error.to_string()),
    }
}
