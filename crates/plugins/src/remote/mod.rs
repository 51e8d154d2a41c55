//! A plugin of somebody else, over HTTP: `GET` on its URL gives its descriptor, `POST` asks it a question of the contract.
//! It gets its configuration rendered and its secrets opened; how it answers is not trusted.

mod descriptors;
mod reply;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use model::plugin::{Answer, CONTRACT, Call, Descriptor, Outcome, Step};
use model::{Class, Failure};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use crate::action::{Action, World};
use crate::door::{Door, Outgoing};
use crate::expr::{Scope, render_with_secrets};
use crate::secrets::{Secrets, opened};
use descriptors::Descriptors;

/// A plugin that is called over HTTP.
pub struct Remote {
    name: String,
    url: String,
    token: Option<SecretString>,
    door: Door,
    descriptors: Descriptors,
    /// Whether what is known of it may be out of date.
    stale: AtomicBool,
}

impl Remote {
    /// Calls nothing yet: the plugin may be down while Terrane starts.
    pub fn connect(name: impl Into<String>, url: impl Into<String>, token: Option<SecretString>, door: Door) -> Remote {
        let name = name.into();
        let unknown = Descriptor {
            name: name.clone(),
            version: String::new(),
            contracts: vec![CONTRACT.to_owned()],
            description: "A plugin that has not answered yet.".to_owned(),
            steps: Step::ALL.to_vec(),
            config_schema: json!({}),
        };
        let descriptors = Descriptors::beginning_with(unknown);
        Remote { name, url: url.into(), token, door, descriptors, stale: AtomicBool::new(true) }
    }

    /// Asks the plugin what it is.
    pub async fn refresh(&self) -> Result<&Descriptor, Failure> {
        self.refresh_until(None).await
    }

    async fn refresh_until(&self, until: Option<Instant>) -> Result<&Descriptor, Failure> {
        let step = Step::Validate;
        let request = self.authorised(Outgoing::get(&self.url));
        let incoming = self.door.send(request, &Secrets::default(), until).await;
        let incoming = incoming.map_err(|error| reply::unsent(&self.name, &error, step))?;
        let mut descriptor: Descriptor = reply::read(&self.name, "descriptor", &incoming, step, &Secrets::default())?;
        if !descriptor.contracts.iter().any(|contract| contract == CONTRACT) {
            let spoken = descriptor.contracts.join(", ");
            let message = format!("the plugin `{}` speaks {spoken}; this Terrane speaks {CONTRACT}", self.name);
            return Err(Failure::new(Class::Plugin, step, message).with_hint(format!(
                "Use a version of the plugin that speaks {CONTRACT}, or another version of Terrane."
            )));
        }
        // It goes by the name that the operator gave it.
        descriptor.name = self.name.clone();
        self.stale.store(false, Ordering::Relaxed);
        Ok(self.descriptors.add(descriptor))
    }

    fn authorised(&self, request: Outgoing) -> Outgoing {
        let request = request.header("Accept", "application/json");
        match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {}", token.expose_secret())),
            None => request,
        }
    }

    async fn ask(&self, call: &Call, world: &World) -> Result<Answer, Failure> {
        if self.stale.load(Ordering::Relaxed) {
            self.refresh_until(world.until.instant())
                .await
                .map_err(|failure| Failure { step: call.step, ..failure })?;
        }
        if !self.descriptor().takes(call.step) {
            return Ok(Answer::nothing());
        }
        let config = render_with_secrets(&call.config, &Scope::of(call), &world.secrets)
            .map_err(|error| Failure::new(Class::InvalidConfig, call.step, error.to_string()))?;
        // Expressions are the configuration's; a spec is what somebody wrote, and only its secrets are put in.
        let spec = opened(&call.spec, &world.secrets);
        let asked = json!(Call { config, spec, ..call.clone() });
        // Through the operator's door: it is the operator who said where this plugin is.
        let request = self.authorised(Outgoing::post(&self.url)).json(&asked);
        let incoming = self.door.send(request, &world.secrets, world.until.instant()).await;
        let incoming = incoming.map_err(|error| reply::unsent(&self.name, &error, call.step))?;
        reply::read(&self.name, "answer", &incoming, call.step, &world.secrets)
    }
}

impl Action for Remote {
    fn descriptor(&self) -> &Descriptor {
        self.descriptors.latest()
    }

    fn call<'a>(&'a self, call: &'a Call, world: &'a World) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let answer = self.ask(call, world).await.unwrap_or_else(Answer::from);
            if let Outcome::Failed(_) = &answer.outcome {
                // It may be another version by the next call.
                self.stale.store(true, Ordering::Relaxed);
            }
            answer
        })
    }
}
