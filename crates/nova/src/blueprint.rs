//! A blueprint, as its author writes it: one YAML file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::version::Version;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blueprint {
    /// The template's name.
    pub template: String,
    pub version: Version,
    /// The resource type that it becomes, for instance `Cluster`.
    pub kind: String,
    #[serde(default = "first")]
    pub kind_version: String,
    pub title: String,
    pub description: String,
    /// By the name of the cloud.
    pub providers: Map<String, Value>,
    /// What a user may set: a JSON Schema of an object, with titles, groups, units and help, so that a form can be drawn from it.
    pub variables: Value,
    /// Which variables are looked up in the provider's catalogue.
    #[serde(default)]
    pub catalogue: Looked,
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Rules for updates: they see what was there as `old`.
    #[serde(default)]
    pub changes: Vec<Rule>,
    pub components: Vec<Component>,
    #[serde(default)]
    pub outputs: Map<String, Value>,
}

fn first() -> String {
    "v1".into()
}

/// The variable that holds each of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looked {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
}

/// A cloud that the template works on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Of variables, where the user sets none.
    #[serde(default)]
    pub defaults: Map<String, Value>,
    /// Further schemas of variables, for instance `node_count: {maximum: 450}`.
    #[serde(default)]
    pub limits: Map<String, Value>,
    /// Terraform text that stands at the beginning of the root: which providers there are, and how they are set up. It sees the
    /// variables as `var.NAME` and the components as `module.NAME`.
    pub root: String,
}

/// Something that must hold: CEL over `spec` and `provider`, and what a user is told where it does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub check: String,
    /// The variable that the user should look at.
    pub field: String,
    pub message: String,
}

/// One module, and what it is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    pub name: String,
    /// Within the set of modules; `PROVIDER` in it is the cloud's name.
    pub module: String,
    /// The locked version of the module.
    pub version: Version,
    /// CEL over `spec` and `provider`; absent: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Components that must be there before it, beyond those whose outputs it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    #[serde(default)]
    pub inputs: Map<String, Value>,
}

/// What a module's variable is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// `{var: NAME}`: what the user has set.
    Variable(String),
    /// `{from: COMPONENT.OUTPUT}`
    From {
        component: String,
        output: String,
    },
    Literal(Value),
}

/// `{from: COMPONENT.OUTPUT, description: …, sensitive: …}`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub from: String,
    pub description: String,
    #[serde(default)]
    pub sensitive: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlueprintError {
    #[error("the blueprint cannot be read: {0}")]
    Unreadable(String),
    #[error("providers.{name}: {why}")]
    Provider { name: String, why: String },
    #[error("outputs.{name}: {why}")]
    Output { name: String, why: String },
    #[error("components.{component}.inputs.{input}: {why}")]
    Input { component: String, input: String, why: String },
}

impl Blueprint {
    pub fn read(yaml: &str) -> Result<Blueprint, BlueprintError> {
        let blueprint: Blueprint =
            serde_saphyr::from_str(yaml).map_err(|problem| BlueprintError::Unreadable(problem.to_string()))?;
        // Every part is read once, so that nobody comes upon a mistake later.
        for name in blueprint.providers.keys() {
            blueprint.provider(name)?;
        }
        for name in blueprint.outputs.keys() {
            blueprint.output(name)?;
        }
        for component in &blueprint.components {
            component.inputs()?;
        }
        Ok(blueprint)
    }

    pub fn provider(&self, name: &str) -> Result<Provider, BlueprintError> {
        let error = |why: String| BlueprintError::Provider { name: name.to_owned(), why };
        let known = || self.providers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let value = self.providers.get(name).ok_or_else(|| error(format!("the template works on {}", known())))?;
        Provider::deserialize(value).map_err(|problem| error(problem.to_string()))
    }

    pub fn output(&self, name: &str) -> Result<Output, BlueprintError> {
        let error = |why: String| BlueprintError::Output { name: name.to_owned(), why };
        let value = self.outputs.get(name).ok_or_else(|| error("there is none of this name".into()))?;
        Output::deserialize(value).map_err(|problem| error(problem.to_string()))
    }

    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }

    /// The names of what a user may set.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str())
    }
}

impl Component {
    pub fn module_for(&self, provider: &str) -> String {
        self.module.replace("PROVIDER", provider)
    }

    pub fn inputs(&self) -> Result<Vec<(&str, Input)>, BlueprintError> {
        let read = |(name, value)| Ok((name, Input::read(value).map_err(|why| self.wrong(name, why))?));
        self.inputs.iter().map(|(name, value)| (name.as_str(), value)).map(read).collect()
    }

    /// The components that this one must come after.
    pub fn needs(&self) -> Result<Vec<String>, BlueprintError> {
        let mut needs = self.after.clone();
        for (_, input) in self.inputs()? {
            if let Input::From { component, .. } = input {
                needs.push(component);
            }
        }
        needs.sort();
        needs.dedup();
        Ok(needs)
    }

    fn wrong(&self, input: &str, why: String) -> BlueprintError {
        BlueprintError::Input { component: self.name.clone(), input: input.to_owned(), why }
    }
}

impl Input {
    fn read(value: &Value) -> Result<Input, String> {
        let Value::Object(map) = value else { return Ok(Input::Literal(value.clone())) };
        let only = |key: &str| map.get(key).filter(|_| map.len() == 1);
        if let Some(variable) = only("var") {
            let name = variable.as_str().ok_or("`var` names a variable")?;
            return Ok(Input::Variable(name.to_owned()));
        }
        if let Some(from) = only("from") {
            let (component, output) = split(from.as_str().unwrap_or_default())?;
            return Ok(Input::From { component, output });
        }
        Ok(Input::Literal(value.clone()))
    }
}

/// `COMPONENT.OUTPUT`
pub(crate) fn split(from: &str) -> Result<(String, String), String> {
    match from.split_once('.') {
        Some((component, output)) if !component.is_empty() && !output.is_empty() && !output.contains('.') => {
            Ok((component.to_owned(), output.to_owned()))
        }
        _ => Err(format!("`from` is COMPONENT.OUTPUT, not {from:?}")),
    }
}
