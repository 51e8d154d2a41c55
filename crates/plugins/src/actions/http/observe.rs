//! Looking whether it is still as it was made.

use model::plugin::{Answer, Done, DriftedAttribute, Observation};
use model::{Class, Failure};
use serde_json::{Value, json};

use super::Asked;
use super::config::Request;
use super::request::response;
use super::status;
use crate::expr::{Scope, render};

pub async fn observe(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let observation = match &asked.config.read {
        None => Observation::CannotTell { why: "`read` is not configured".to_owned() },
        Some(_) if !asked.held.exists => Observation::CannotTell { why: "nothing was made yet".to_owned() },
        Some(read) => look(asked, read).await?,
    };
    Ok(Answer::done(Done { observation: Some(observation), ..Done::default() }))
}

async fn look(asked: &Asked<'_>, read: &Request) -> Result<Observation, Failure> {
    let prepared = asked.prepare(read)?;
    let incoming = asked.world.send(prepared.outgoing).await.map_err(|error| error.failure(asked.call.step))?;
    if !status::is_expected(&read.expect, &incoming) {
        if status::is_gone(&incoming) {
            let gone = DriftedAttribute { path: String::new(), expected: json!("there"), found: json!("gone") };
            return Ok(Observation::Drifted { attributes: vec![gone] });
        }
        return Err(status::failure(asked.call.step, &prepared.said, &incoming, &asked.world.secrets));
    }
    if read.compare.is_empty() {
        return Ok(Observation::CannotTell { why: "it is there, and `read.compare` is not configured".to_owned() });
    }
    let scope = asked.scope.clone().with("response", response(&incoming, &asked.world.secrets));
    let attributes = differences(read, &scope).map_err(|why| asked.failure(Class::InvalidConfig, why))?;
    Ok(if attributes.is_empty() { Observation::Unchanged } else { Observation::Drifted { attributes } })
}

fn differences(read: &Request, scope: &Scope) -> Result<Vec<DriftedAttribute>, String> {
    let mut attributes = Vec::new();
    for (path, comparison) in &read.compare {
        let expected = render(&comparison.expected, scope).map_err(|error| error.to_string())?;
        // What the answer no longer has is a difference too.
        let found = render(&comparison.found, scope).unwrap_or(Value::Null);
        if expected != found {
            attributes.push(DriftedAttribute { path: path.clone(), expected, found });
        }
    }
    Ok(attributes)
}
