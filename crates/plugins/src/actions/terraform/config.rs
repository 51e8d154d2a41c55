//! The configuration, read and rendered into what a runner is asked to do.

use std::collections::BTreeMap;

use model::job::{Approval, Goal, JobRequest, Limits, Source, Terraform, Work};
use model::plugin::{Call, Step};
use model::{Class, Failure, Labels, Reason, is_variable};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::memory::Memory;
use crate::actions::forge::Seconds;
use crate::expr::{Scope, render};
use crate::secrets::reference;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnFailure {
    /// Destroy what a failed first provision has made.
    #[default]
    Cleanup,
    Keep,
    /// Nothing is done until a person chooses.
    Ask,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    source: Option<Value>,
    variables: Option<Map<String, Value>>,
    #[serde(default)]
    environment: Map<String, Value>,
    account: Option<String>,
    #[serde(default = "auto")]
    approval: Approval,
    #[serde(default)]
    pub on_failure: OnFailure,
    timeout: Option<Seconds>,
    #[serde(default)]
    runner: Labels,
}

fn auto() -> Approval {
    Approval::Auto
}

impl Config {
    pub fn read(call: &Call) -> Result<Config, Failure> {
        let config = if call.config.is_null() { json!({}) } else { call.config.clone() };
        Config::deserialize(config)
            .map_err(|error| invalid(call.step, format!("`plugin_config` cannot be read: {error}")))
    }

    /// What a queued job waits for.
    pub fn awaited(&self) -> String {
        let asked: Vec<_> = self.runner.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if asked.is_empty() {
            "Waiting for a runner".into()
        } else {
            format!("Waiting for a runner with {}", asked.join(", "))
        }
    }

    pub fn request(&self, call: &Call, goal: Goal) -> Result<JobRequest, Failure> {
        let mut secrets = BTreeMap::new();
        let variables = self.variables(call, &mut secrets)?;
        let environment = self.environment(call, &mut secrets)?;
        let source = locked(self.source(call)?, call);
        model::check_labels(&self.runner).map_err(|error| invalid(call.step, format!("`runner`: {error}")))?;
        let rolls_back = call.operation.reason == Reason::RolledBack;
        let timeout = self.timeout.map_or(Limits::default().timeout_seconds, |limit| limit.0.unsigned_abs());
        Ok(JobRequest {
            work: Work::Terraform(Terraform {
                goal,
                source,
                variables,
                environment,
                state: None,
                plan: None,
                import: None,
                // What a person wants back is shown to them first.
                approval: if rolls_back { Approval::Manual } else { self.approval },
            }),
            limits: Limits { timeout_seconds: timeout, ..Limits::default() },
            secrets,
            labels: self.runner.clone(),
            imports: goal == Goal::Apply && call.operation.reason == Reason::Imported,
            account: self.account(call)?,
            plan_of: None,
        })
    }

    fn account(&self, call: &Call) -> Result<Option<String>, Failure> {
        let Some(account) = &self.account else { return Ok(None) };
        match rendered(&Value::String(account.clone()), call, "account")? {
            Value::String(name) => Ok(Some(name)),
            _ => Err(invalid(call.step, "`account` is no name".into())),
        }
    }

    fn source(&self, call: &Call) -> Result<Source, Failure> {
        let Some(source) = &self.source else {
            return Err(invalid(
                call.step,
                "`source` is missing: where does the Terraform root module come from?".into(),
            )
            .with_hint("Set plugin_config.source to {git: URL, path: FOLDER, ref: TAG} or {path: FOLDER}."));
        };
        let source = rendered(source, call, "source")?;
        Source::deserialize(source).map_err(|_| {
            invalid(call.step, "`source` is neither {git, path, ref} nor {path}".into())
                .with_hint("For instance: source: {git: https://git.example/infra.git, path: stacks/db, ref: v1.4.2}")
        })
    }

    /// A variable that is a secret as a whole goes by the environment; inside of a value there can be none.
    fn variables(&self, call: &Call, secrets: &mut BTreeMap<String, String>) -> Result<Map<String, Value>, Failure> {
        let given = match (&self.variables, &call.spec) {
            (Some(variables), _) => rendered(&Value::Object(variables.clone()), call, "variables")?,
            (None, spec) => spec.clone(),
        };
        let Value::Object(given) = given else { return Ok(Map::new()) };
        let mut open = Map::new();
        for (name, value) in given {
            if let Some(secret) = reference(&value) {
                secrets.insert(format!("TF_VAR_{name}"), secret.to_owned());
            } else if crate::secrets::references(&value).is_empty() {
                open.insert(name, value);
            } else {
                return Err(invalid(call.step, format!("the variable `{name}` has a secret inside of its value"))
                    .with_hint(
                        "A variable is a secret as a whole or not at all: give the secret a variable of its own.",
                    ));
            }
        }
        Ok(open)
    }

    fn environment(
        &self,
        call: &Call,
        secrets: &mut BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let mut open = BTreeMap::new();
        let Value::Object(given) = rendered(&Value::Object(self.environment.clone()), call, "environment")? else {
            return Ok(open);
        };
        for (name, value) in given {
            if !is_variable_name(&name) {
                return Err(invalid(call.step, format!("`{name}` cannot be set in the environment of a job"))
                    .with_hint(
                        "Names are letters, digits and _. PATH, HOME, LD_… and TF_CLI_… are the runner's own.",
                    ));
            }
            if let Some(secret) = reference(&value) {
                secrets.insert(name, secret.to_owned());
                continue;
            }
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                _ => return Err(invalid(call.step, format!("the environment variable `{name}` is no text"))),
            };
            open.insert(name, text);
        }
        Ok(open)
    }
}

/// What was applied well is applied from the same commit as long as nothing else is asked for.
fn locked(source: Source, call: &Call) -> Source {
    let memory = Memory::of(call);
    match source {
        Source::Git { git, reference, commit: None, path } if memory.applied == Some(call.resource.generation) => {
            Source::Git { git, reference, commit: memory.commit, path }
        }
        source => source,
    }
}

/// How a private Git repository is reached.
const GIT_CREDENTIALS: [&str; 2] = ["TERRANE_GIT_USERNAME", "TERRANE_GIT_PASSWORD"];

fn is_variable_name(name: &str) -> bool {
    GIT_CREDENTIALS.contains(&name) || is_variable(name)
}

fn rendered(value: &Value, call: &Call, what: &str) -> Result<Value, Failure> {
    render(value, &Scope::of(call)).map_err(|error| invalid(call.step, format!("`{what}`: {error}")))
}

fn invalid(step: Step, message: String) -> Failure {
    Failure::new(Class::InvalidConfig, step, message)
}
