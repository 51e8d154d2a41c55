//! What is wrong with a user's wishes, told before Terraform ever runs: the field, the reason, and what would be right.

use std::fmt;

use model::schema::{Schema, Violation};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::blueprint::{Blueprint, Provider, Rule};
use crate::catalogue::{Catalogue, Missing};
use crate::expr::{Scope, evaluate};
use crate::nearest::nearest;

/// The variable that says which cloud it shall be.
pub const PROVIDER: &str = "provider";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    pub field: String,
    pub reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub suggestion: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)?;
        if self.suggestion.is_empty() { Ok(()) } else { write!(f, " ({})", self.suggestion) }
    }
}

/// A user's wishes that can be carried out, with what they left open filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    pub provider: String,
    pub spec: Value,
}

/// `catalogues`: of all clouds that there are.
pub fn check(blueprint: &Blueprint, catalogues: &[Catalogue], spec: &Value) -> Result<Wish, Vec<Refusal>> {
    let name = provider_of(blueprint, spec).map_err(|refusal| vec![refusal])?;
    let refused = |error: &dyn fmt::Display| vec![refusal(PROVIDER, error.to_string(), "")];
    let provider = blueprint.provider(&name).map_err(|error| refused(&error))?;
    let spec = with_defaults(&provider, spec);
    let schema = Schema::compile(&schema_for(blueprint, &provider)).map_err(told)?;
    let spec = schema.admit(spec).map_err(told)?;
    let mut refusals = Vec::new();
    if let Some(catalogue) = catalogues.iter().find(|catalogue| catalogue.provider == name) {
        refusals.extend(looked_up(blueprint, catalogue, &spec));
    }
    let scope = Scope::default().with("spec", spec.clone()).with(PROVIDER, json!(name));
    refusals.extend(broken(&blueprint.rules, &scope));
    if refusals.is_empty() { Ok(Wish { provider: name, spec }) } else { Err(refusals) }
}

fn provider_of(blueprint: &Blueprint, spec: &Value) -> Result<String, Refusal> {
    let known: Vec<&str> = blueprint.providers.keys().map(String::as_str).collect();
    let all = || format!("one of {}", known.join(", "));
    match &spec[PROVIDER] {
        Value::String(name) if known.contains(&name.as_str()) => Ok(name.clone()),
        Value::String(name) => {
            let near = nearest(name, &known);
            let suggestion = if near.is_empty() { all() } else { format!("did you mean {}?", near.join(" or ")) };
            Err(refusal(PROVIDER, format!("the template {} does not work on {name:?}", blueprint.template), suggestion))
        }
        Value::Null if known.len() == 1 => Ok(known[0].to_owned()),
        Value::Null => Err(refusal(PROVIDER, "which cloud it shall be is not said", all())),
        other => Err(refusal(PROVIDER, format!("{other} is no name of a cloud"), all())),
    }
}

fn with_defaults(provider: &Provider, spec: &Value) -> Value {
    let mut filled = spec.clone();
    if let Value::Object(map) = &mut filled {
        for (name, value) in &provider.defaults {
            map.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    filled
}

/// The schema of the variables, with the provider's limits laid over it.
pub fn schema_for(blueprint: &Blueprint, provider: &Provider) -> Value {
    let mut schema = blueprint.variables.clone();
    for (name, limit) in &provider.limits {
        if let (Some(property), Some(limit)) = (schema["properties"][name].as_object_mut(), limit.as_object()) {
            property.extend(limit.clone());
        }
    }
    schema
}

fn looked_up(blueprint: &Blueprint, catalogue: &Catalogue, spec: &Value) -> Vec<Refusal> {
    let looked = &blueprint.catalogue;
    let value = |variable: &Option<String>| {
        let name = variable.clone()?;
        let value = spec[name.as_str()].as_str()?.to_owned();
        Some((name, value))
    };
    let region = value(&looked.region);
    let here = region.as_ref().map(|(_, region)| region.clone());
    let mut refusals = Vec::new();
    let mut missing = |field: String, missing: Option<Missing>| {
        refusals.extend(missing.map(|missing| refusal(&field, missing.reason, missing.suggestion)));
    };
    if let Some((field, region)) = region {
        missing(field, catalogue.region(&region).err());
    }
    if let Some((field, kind)) = value(&looked.instance_type) {
        missing(field, catalogue.instance_type(&kind, here.as_deref()).err());
    }
    if let Some((field, version)) = value(&looked.kubernetes_version) {
        missing(field, catalogue.kubernetes_version(&version).err());
    }
    refusals
}

/// The rules that do not hold. One that cannot be evaluated does not hold.
pub(crate) fn broken(rules: &[Rule], scope: &Scope) -> Vec<Refusal> {
    let broken = |rule: &Rule| match evaluate(&rule.check, scope) {
        Ok(Value::Bool(true)) => None,
        Ok(Value::Bool(false)) => Some(refusal(&rule.field, &rule.message, "")),
        Ok(_) => Some(refusal(&rule.field, format!("the rule `{}` is neither true nor false", rule.check), "")),
        Err(error) => Some(refusal(&rule.field, format!("the template's own rule fails: {error}"), "")),
    };
    rules.iter().filter_map(broken).collect()
}

pub(crate) fn refusal(field: &str, reason: impl Into<String>, suggestion: impl Into<String>) -> Refusal {
    Refusal { field: field.to_owned(), reason: reason.into(), suggestion: suggestion.into() }
}

fn told(violations: Vec<Violation>) -> Vec<Refusal> {
    let field = |path: &str| path.strip_prefix("spec.").unwrap_or(path).to_owned();
    violations
        .into_iter()
        .map(|violation| Refusal {
            field: field(&violation.path),
            reason: format!("expected {}, found {}", violation.expected, violation.found),
            suggestion: String::new(),
        })
        .collect()
}

/// An object without what is null: what a user left open.
pub fn given(spec: &Value) -> Map<String, Value> {
    let all = spec.as_object().cloned().unwrap_or_default();
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
