//! The configuration, read and rendered. `api_url` and `token` are never rendered: where a token goes is not for a spec to
//! say.

use std::collections::BTreeMap;

use model::plugin::{Call, Step};
use model::{Class, Failure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::action::World;
use crate::actions::forge::{Pace, Seconds, digest, scalar};
use crate::expr::{ExprError, Scope, render, render_with_secrets};

/// As many as GitHub takes.
const MOST_INPUTS: usize = 25;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    owner: Option<Value>,
    repo: Option<Value>,
    workflow: Option<Value>,
    r#ref: Option<Value>,
    #[serde(default)]
    inputs: Map<String, Value>,
    pub marker_input: Option<String>,
    #[serde(default)]
    webhook: bool,
    start_timeout: Option<Seconds>,
    timeout: Option<Seconds>,
    pub api_url: Option<String>,
    pub token: Option<Value>,
    destroy_workflow: Option<Value>,
    #[serde(default)]
    destroy_inputs: Map<String, Value>,
}

/// What GitHub is asked to do.
pub(super) struct Work {
    pub owner: String,
    pub repo: String,
    pub workflow: String,
    /// None is the repository's default branch.
    pub reference: Option<String>,
    /// With their secrets: only to be sent.
    pub inputs: BTreeMap<String, String>,
    pub marker_input: Option<String>,
    /// Without them.
    pub digest: String,
}

impl Config {
    pub fn read(call: &Call) -> Result<Config, Failure> {
        let config = if call.config.is_null() { json!({}) } else { call.config.clone() };
        Config::deserialize(config)
            .map_err(|error| invalid(call.step, format!("`plugin_config` cannot be read: {error}")))
    }

    pub fn work(&self, call: &Call, world: &World) -> Result<Work, Failure> {
        self.rendered(call, world, "workflow", self.workflow.as_ref(), "inputs", &self.inputs)
    }

    /// None where nothing is dispatched to make a resource gone.
    pub fn destroy_work(&self, call: &Call, world: &World) -> Result<Option<Work>, Failure> {
        match &self.destroy_workflow {
            None | Some(Value::Null) => Ok(None),
            workflow => {
                let inputs = &self.destroy_inputs;
                self.rendered(call, world, "destroy_workflow", workflow.as_ref(), "destroy_inputs", inputs).map(Some)
            }
        }
    }

    pub fn pace(&self) -> Pace {
        Pace {
            start_timeout: self.start_timeout.map_or(30 * 60, |time| time.0),
            timeout: self.timeout.map_or(6 * 3600, |time| time.0),
            webhook: self.webhook,
        }
    }

    fn rendered(
        &self,
        call: &Call,
        world: &World,
        workflow_key: &str,
        workflow: Option<&Value>,
        inputs_key: &str,
        inputs: &Map<String, Value>,
    ) -> Result<Work, Failure> {
        let scope = Scope::of(call);
        let wrong = |error: ExprError| invalid(call.step, error.to_string());
        let text = |key: &str, value: Option<&Value>| -> Result<Option<String>, Failure> {
            let rendered = render(value.unwrap_or(&Value::Null), &scope).map_err(wrong)?;
            scalar(&rendered).map_err(|why| invalid(call.step, format!("`{key}` {why}")))
        };
        let workflow = text(workflow_key, workflow)?.map(|path| path.replace(".github/workflows/", ""));
        let found = [
            ("owner", text("owner", self.owner.as_ref())?),
            ("repo", text("repo", self.repo.as_ref())?),
            (workflow_key, workflow),
        ];
        let [owner, repo, workflow] = required(call.step, found)?;
        let reference = text("ref", self.r#ref.as_ref())?;

        let inputs = Value::Object(inputs.clone());
        let shown = inputs_of(call.step, inputs_key, render(&inputs, &scope).map_err(wrong)?)?;
        let secret = render_with_secrets(&inputs, &scope, &world.secrets).map_err(wrong)?;
        let inputs = inputs_of(call.step, inputs_key, secret)?;
        let markers = usize::from(self.marker_input.is_some());
        if inputs.len() + markers > MOST_INPUTS {
            let message =
                format!("`{inputs_key}` are {}, and GitHub takes {MOST_INPUTS} at most", inputs.len() + markers);
            return Err(
                invalid(call.step, message).with_hint("Put several values into one input: an object becomes JSON text")
            );
        }
        let digest = digest(&json!({
            "api_url": self.api_url, "owner": owner, "repo": repo, "workflow": workflow, "ref": reference, "inputs": shown,
        }));
        Ok(Work { owner, repo, workflow, reference, inputs, marker_input: self.marker_input.clone(), digest })
    }
}

/// Inputs are text to GitHub: what is null is left out, what is structured becomes JSON.
fn inputs_of(step: Step, key: &str, inputs: Value) -> Result<BTreeMap<String, String>, Failure> {
    let Value::Object(inputs) = inputs else {
        return Err(invalid(step, format!("`{key}` is not an object")));
    };
    Ok(inputs
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::Null => None,
            Value::String(text) => Some((name, text)),
            other => Some((name, other.to_string())),
        })
        .collect())
}

fn required(step: Step, found: [(&str, Option<String>); 3]) -> Result<[String; 3], Failure> {
    let is_there = |text: &Option<String>| text.as_deref().is_some_and(is_a_segment);
    let missing: Vec<_> = found.iter().filter(|(_, text)| !is_there(text)).map(|(key, _)| format!("`{key}`")).collect();
    if missing.is_empty() {
        return Ok(found.map(|(_, text)| text.unwrap_or_default()));
    }
    let message =
        format!("`plugin_config` does not say which workflow to run: {} is missing or no name", missing.join(", "));
    Err(invalid(step, message).with_hint(
        "Set it in `plugin_config` of the resource or of its type, for instance {\"owner\": \"acme\", \"repo\": \
         \"infrastructure\", \"workflow\": \"deploy.yml\", \"inputs\": {\"size\": \"${spec.size}\"}}",
    ))
}

/// Whether it can be one part of a path; dots alone would climb it.
fn is_a_segment(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\']) && !text.chars().all(|c| c == '.')
}

fn invalid(step: Step, message: impl Into<String>) -> Failure {
    Failure::new(Class::InvalidConfig, step, message)
}
