//! Talking to a plugin, and keeping what it said to look at its shape afterwards.

use std::time::Duration;

use model::plugin::Answer;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::door::{Door, DoorError, Incoming, Outgoing};
use crate::expr::shortened;
use crate::secrets::Secrets;

/// Long enough for anything that is not to wait.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Conversation {
    url: String,
    token: Option<SecretString>,
    door: Door,
    /// Every answer that was JSON.
    pub answers: Vec<Value>,
}

impl Conversation {
    pub fn new(url: &str, token: Option<SecretString>, door: Door) -> Conversation {
        Conversation { url: url.to_owned(), token, door, answers: Vec::new() }
    }

    pub async fn get(&self) -> Result<Incoming, DoorError> {
        self.send(Outgoing::get(&self.url)).await
    }

    pub async fn post(&self, body: Vec<u8>) -> Result<Incoming, DoorError> {
        let request = Outgoing::post(&self.url).header("Content-Type", "application/json");
        self.send(Outgoing { body, ..request }).await
    }

    async fn send(&self, request: Outgoing) -> Result<Incoming, DoorError> {
        let request = match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {}", token.expose_secret())),
            None => request,
        };
        self.door.send(request.within(PATIENCE), &Secrets::default(), None).await
    }

    /// Asks a question and reads the answer; the error says what was wrong with it.
    pub async fn ask(&mut self, call: &Value) -> Result<Answer, String> {
        let incoming = self.post(call.to_string().into_bytes()).await.map_err(|error| error.to_string())?;
        if incoming.status != 200 {
            let body = shortened(incoming.text().trim(), 200);
            return Err(format!("`{}` was answered with status {}: {body}", step(call), incoming.status));
        }
        let answer =
            incoming.json().map_err(|error| format!("`{}` was not answered with JSON: {error}", step(call)))?;
        self.answers.push(answer.clone());
        serde_json::from_value(answer).map_err(|error| format!("the answer to `{}` is none: {error}", step(call)))
    }
}

fn step(call: &Value) -> &str {
    call["step"].as_str().unwrap_or_default()
}
