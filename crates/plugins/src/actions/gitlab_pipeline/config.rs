//! The configuration, read and rendered. `api_url` and the tokens are never rendered: where a token goes is not for a spec to
//! say.

use std::collections::BTreeMap;

use model::plugin::{Call, Step};
use model::{Class, Failure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::action::World;
use crate::actions::forge::{Credential, Pace, Seconds, digest, scalar};
use crate::expr::{ExprError, Scope, render, render_with_secrets};
use crate::secrets::reference;

const MARKER_VARIABLE: &str = "TERRANE_MARKER";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    project: Option<Value>,
    r#ref: Option<Value>,
    #[serde(default)]
    variables: Map<String, Value>,
    #[serde(default)]
    inputs: Map<String, Value>,
    /// Left out, it is the usual one; null, there is none.
    #[serde(default = "usual_marker")]
    marker_variable: Option<String>,
    #[serde(default)]
    webhook: bool,
    start_timeout: Option<Seconds>,
    timeout: Option<Seconds>,
    pub api_url: Option<String>,
    pub token: Option<Value>,
    trigger_token: Option<Value>,
    #[serde(default)]
    destroy: bool,
    destroy_ref: Option<Value>,
    #[serde(default)]
    destroy_variables: Map<String, Value>,
    #[serde(default)]
    destroy_inputs: Map<String, Value>,
}

fn usual_marker() -> Option<String> {
    Some(MARKER_VARIABLE.to_owned())
}

/// What GitLab is asked to do.
pub(super) struct Work {
    pub project: String,
    /// None is the project's default branch.
    pub reference: Option<String>,
    /// With their secrets: only to be sent.
    pub variables: BTreeMap<String, String>,
    pub inputs: Map<String, Value>,
    pub marker_variable: Option<String>,
    /// Without them.
    pub digest: String,
}

/// What makes up a pipeline, before it is rendered.
struct Recipe<'a> {
    reference: Option<&'a Value>,
    variables: &'a Map<String, Value>,
    inputs: &'a Map<String, Value>,
}

impl Config {
    pub fn read(call: &Call) -> Result<Config, Failure> {
        let config = if call.config.is_null() { json!({}) } else { call.config.clone() };
        Config::deserialize(config)
            .map_err(|error| invalid(call.step, format!("`plugin_config` cannot be read: {error}")))
    }

    pub fn work(&self, call: &Call, world: &World) -> Result<Work, Failure> {
        let recipe = Recipe { reference: self.r#ref.as_ref(), variables: &self.variables, inputs: &self.inputs };
        self.rendered(call, world, &recipe)
    }

    /// None where nothing is run to make a resource gone.
    pub fn destroy_work(&self, call: &Call, world: &World) -> Result<Option<Work>, Failure> {
        if !self.destroy {
            return Ok(None);
        }
        let reference = self.destroy_ref.as_ref().or(self.r#ref.as_ref());
        let recipe = Recipe { reference, variables: &self.destroy_variables, inputs: &self.destroy_inputs };
        self.rendered(call, world, &recipe).map(Some)
    }

    pub fn marker(&self) -> Option<&str> {
        self.marker_variable.as_deref()
    }

    pub fn trigger(&self, call: &Call, world: &World) -> Result<Option<Credential>, Failure> {
        let Some(configured) = &self.trigger_token else { return Ok(None) };
        let Some(name) = reference(configured) else {
            return Err(invalid(call.step, "`trigger_token` is not a reference to a secret")
                .with_hint("Put the token into a secret and write `\"trigger_token\": {\"secret\": \"its name\"}`"));
        };
        match world.secrets.0.get(name) {
            Some(secret) => Ok(Some(Credential(secret.value.clone()))),
            None => Err(Failure::new(Class::Credentials, call.step, format!("There is no secret `{name}`"))),
        }
    }

    pub fn pace(&self) -> Pace {
        Pace {
            start_timeout: self.start_timeout.map_or(30 * 60, |time| time.0),
            timeout: self.timeout.map_or(6 * 3600, |time| time.0),
            webhook: self.webhook,
        }
    }

    fn rendered(&self, call: &Call, world: &World, recipe: &Recipe<'_>) -> Result<Work, Failure> {
        let scope = Scope::of(call);
        let wrong = |error: ExprError| invalid(call.step, error.to_string());
        let text = |key: &str, value: Option<&Value>| -> Result<Option<String>, Failure> {
            let rendered = render(value.unwrap_or(&Value::Null), &scope).map_err(wrong)?;
            scalar(&rendered).map_err(|why| invalid(call.step, format!("`{key}` {why}")))
        };
        let project = text("project", self.project.as_ref())?.map(|path| path.trim_matches('/').to_owned());
        let Some(project) = project.filter(|path| is_a_project(path)) else {
            let message =
                "`plugin_config` does not say whose pipeline to run: `project` is missing or no project's path";
            return Err(invalid(call.step, message).with_hint(
                "Set it in `plugin_config` of the resource or of its type, for instance {\"project\": \
                 \"acme/infrastructure\", \"ref\": \"main\", \"variables\": {\"SIZE\": \"${spec.size}\"}}",
            ));
        };
        let reference = text("ref", recipe.reference)?;
        let values = json!({ "variables": recipe.variables, "inputs": recipe.inputs });
        let shown = render(&values, &scope).map_err(wrong)?;
        let secret = render_with_secrets(&values, &scope, &world.secrets).map_err(wrong)?;
        let digest = digest(&json!({
            "api_url": self.api_url, "project": project, "ref": reference,
            "variables": variables(&shown), "inputs": shown.get("inputs"),
        }));
        let inputs = secret.get("inputs").and_then(Value::as_object).cloned().unwrap_or_default();
        let marker_variable = self.marker_variable.clone();
        Ok(Work { project, reference, variables: variables(&secret), inputs, marker_variable, digest })
    }
}

/// Variables are text to GitLab: what is null is left out, what is structured becomes JSON. Inputs have types, and keep them.
fn variables(values: &Value) -> BTreeMap<String, String> {
    let variables = values.get("variables").and_then(Value::as_object);
    variables
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| match value {
            Value::Null => None,
            Value::String(text) => Some((name.clone(), text.clone())),
            other => Some((name.clone(), other.to_string())),
        })
        .collect()
}

/// A path's parts, of which none is only dots: it is sent as one part of an address.
fn is_a_project(path: &str) -> bool {
    path.split('/').all(|part| !part.is_empty() && !part.chars().all(|c| c == '.'))
}

fn invalid(step: Step, message: impl Into<String>) -> Failure {
    Failure::new(Class::InvalidConfig, step, message)
}
