//! Making it gone. What is gone already is done.

use model::plugin::{Answer, Done};
use model::{Class, Failure};
use serde_json::Map;

use super::Asked;
use super::apply::{Checkpoint, done};
use super::config::Verb;
use super::held::Held;
use super::{poll, status};

pub async fn destroy(asked: &Asked<'_>) -> Result<Answer, Failure> {
    if let Ok(Checkpoint::Polling(polling)) = serde_json::from_value(asked.call.checkpoint.clone()) {
        return poll::poll(asked, polling).await;
    }
    if !asked.held.exists {
        return nothing_held(asked);
    }
    let Some(request) = &asked.config.delete else {
        let message = Some("`delete` is not configured: what was made stays".to_owned());
        let answer = Answer::done(Done { message, ..Done::default() });
        return Ok(answer.remembering(Held::default().memory()).holding(Vec::new()));
    };
    let prepared = asked.prepare(request)?;
    let header = request.idempotency_header.as_deref().unwrap_or("Idempotency-Key");
    let outgoing = prepared.outgoing.header(header, format!("terrane-{}-destroy", asked.call.operation.id));
    let incoming = asked.world.send(outgoing).await.map_err(|error| error.failure(asked.call.step))?;
    let gone = status::is_gone(&incoming);
    if !gone && !status::is_expected(&request.expect, &incoming) {
        return Err(status::failure(asked.call.step, &prepared.said, &incoming, &asked.world.secrets));
    }
    match &request.poll {
        Some(poll) if !gone => Ok(poll::begin(Verb::Delete, poll, Map::new())),
        _ => Ok(done(Verb::Delete, Map::new()).remembering(Held::default().memory()).holding(Vec::new())),
    }
}

/// Nothing is known to exist. If a request to make it was never answered, that does not mean that nothing does.
fn nothing_held(asked: &Asked<'_>) -> Result<Answer, Failure> {
    match &asked.held.pending {
        Some(pending) if pending.verb == Verb::Create => {
            let message = format!("it may exist: the request to make it (key {}) was never answered", pending.key);
            let hint = "Look for it at the other side, remove it there, and `terrane delete --forget` the resource.";
            Err(asked.failure(Class::Uncertain, message).with_hint(hint))
        }
        _ => Ok(Answer::nothing().holding(Vec::new())),
    }
}
