//! What of a cloud's conduct takes code: sums over several objects, texts that are computed, lists by tag. Everything
//! else about a cloud is in the catalogue.

mod aws;
mod azurerm;
mod cloudsim;
mod digitalocean;
mod google;
mod kubernetes;
mod linode;
mod network;
mod tags;
mod upgrade;

use std::time::Duration;

use serde_json::Value as Json;

use crate::{
    protocol::Diagnostic,
    provider::{Request, ResourceType, Session},
    value::Values,
    world::{Action, WorldError},
};

/// A cloud's own part. Each function has an answer that fits a cloud with nothing special about it.
pub trait Cloud: Sync {
    /// Has the last word on who the session is.
    fn begin(&self, _session: &mut Session) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// What is wrong with a configuration, beyond types and rules. What is not known yet reads as `null`.
    fn faults(&self, _type: &str, _values: &Json) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What the provider adds to a plan.
    fn plan(&self, _resource: ResourceType<'_>, _session: &Session, _config: &Json, _planned: &mut Json) {}

    /// Fills in what no template can, before the templates.
    fn complete(&self, _type: &str, _session: &Session, _planned: &mut Json) {}

    /// Fills in what depends on other objects, or on all else that is filled in.
    fn look(&self, _request: &Request<'_>) -> Result<Option<Values>, WorldError> {
        Ok(None)
    }

    /// Whether the cloud answers at all.
    fn reach(&self, _request: &Request<'_>) -> Result<(), String> {
        Ok(())
    }

    /// What the cloud refuses in view of all that it holds.
    fn check(&self, _request: &Request<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    /// The answer of a data source that is more than one object or a text.
    fn data(&self, _type: &str, _request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        None
    }

    /// How long a change takes, where the object itself says so.
    fn takes(&self, _action: Action, _values: &Json) -> Option<Duration> {
        None
    }

    /// The object's own wish to be refused.
    fn refuses(&self, _type: &str, _values: &Json) -> Option<Refusing> {
        None
    }
}

/// A create is refused with this message: always, or the first so many times.
#[derive(Debug, PartialEq)]
pub struct Refusing {
    pub message: String,
    pub times: Option<u64>,
    pub after: Duration,
}

/// Why not: because the cloud says so, or because the world cannot be read.
#[derive(Debug)]
pub enum Refusal {
    Said(String),
    World(WorldError),
}

impl From<WorldError> for Refusal {
    fn from(error: WorldError) -> Refusal {
        Refusal::World(error)
    }
}

impl Refusal {
    pub fn diagnostic(self, request: &Request<'_>) -> Diagnostic {
        match self {
            Refusal::Said(text) => request.error(&text),
            Refusal::World(error) => Diagnostic::error(error.to_string()),
        }
    }
}

/// A cloud of which nothing is known but its schemas.
struct Plain;

impl Cloud for Plain {}

pub fn named(provider: &str) -> &'static dyn Cloud {
    match provider {
        "aws" => &aws::Aws,
        "azurerm" => &azurerm::Azure,
        "cloudsim" => &cloudsim::Cloudsim,
        "digitalocean" => &digitalocean::DigitalOcean,
        "google" => &google::Google,
        "helm" | "kubernetes" => &kubernetes::Kubernetes,
        "linode" => &linode::Linode,
        _ => &Plain,
    }
}

/// The name of a host, out of a URL.
pub fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    authority.split(':').next().unwrap_or_default().to_owned()
}
