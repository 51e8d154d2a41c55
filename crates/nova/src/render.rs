//! The Terraform root of one resource: plain files that a person can read, and run without Terrane.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::blueprint::{Blueprint, BlueprintError, Component, Input, split};
use crate::check::{PROVIDER, Wish, given};
use crate::expr::{ExprError, Scope, evaluate};
use crate::hcl::{attributes, literal, quoted, type_of};

/// Names that Terraform keeps for itself.
pub const RESERVED: [&str; 8] =
    ["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"];

/// What every root is given besides what the user has set: the name of the resource, and whose it is.
pub const GIVEN: [(&str, &str, &str); 2] = [
    ("cluster_name", "string", "The name of the resource"),
    ("ownership", "map(string)", "Whose everything is: laid on all that can carry tags or labels"),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Root {
    /// By their names, to lie in one folder.
    pub files: BTreeMap<String, String>,
    /// What `modules/` in that folder must hold, by path within the set of modules.
    pub modules: BTreeSet<String>,
    /// What the variables are set to.
    pub variables: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
    #[error("components.{component}.when: {error}")]
    When { component: String, error: ExprError },
    #[error("components.{component}.when is neither true nor false")]
    NoAnswer { component: String },
    #[error("the components {0} wait for each other")]
    Circle(String),
}

pub fn render(
    blueprint: &Blueprint,
    wish: &Wish,
    name: &str,
    ownership: &BTreeMap<String, String>,
) -> Result<Root, RenderError> {
    let provider = blueprint.provider(&wish.provider)?;
    let components = in_order(chosen(blueprint, wish)?)?;
    let present: BTreeSet<&str> = components.iter().map(|component| component.name.as_str()).collect();
    let mut main =
        format!("# {} {}, on {}.\n\n{}\n", blueprint.title, blueprint.version, wish.provider, provider.root.trim_end());
    for component in &components {
        main.push('\n');
        main.push_str(&module(component, &wish.provider, &present)?);
    }
    let mut variables = given(&wish.spec);
    // The root is already the cloud's own, and Terraform lets no variable have this name.
    variables.remove(PROVIDER);
    variables.insert(GIVEN[0].0.into(), json!(name));
    variables.insert(GIVEN[1].0.into(), json!(ownership));
    let values = serde_json::to_string_pretty(&variables).unwrap_or_default() + "\n";
    let files = [
        ("main.tf", main),
        ("variables.tf", variables_of(blueprint)),
        ("outputs.tf", outputs_of(blueprint, &present)?),
        ("terraform.tfvars.json", values),
    ];
    Ok(Root {
        files: files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
        modules: components.iter().map(|component| component.module_for(&wish.provider)).collect(),
        variables,
    })
}

fn chosen<'b>(blueprint: &'b Blueprint, wish: &Wish) -> Result<Vec<&'b Component>, RenderError> {
    let scope = Scope::default().with("spec", wish.spec.clone()).with("provider", json!(wish.provider));
    let mut chosen = Vec::new();
    for component in &blueprint.components {
        let name = || component.name.clone();
        let wanted = match &component.when {
            None => Value::Bool(true),
            Some(when) => evaluate(when, &scope).map_err(|error| RenderError::When { component: name(), error })?,
        };
        match wanted {
            Value::Bool(true) => chosen.push(component),
            Value::Bool(false) => {}
            _ => return Err(RenderError::NoAnswer { component: name() }),
        }
    }
    Ok(chosen)
}

/// Each after those that it needs; otherwise as the author has them.
pub(crate) fn in_order(mut waiting: Vec<&Component>) -> Result<Vec<&Component>, RenderError> {
    let mut ordered: Vec<&Component> = Vec::new();
    while !waiting.is_empty() {
        let mut ready = None;
        for (at, component) in waiting.iter().enumerate() {
            let needs = component.needs()?;
            if !waiting.iter().any(|other| needs.contains(&other.name)) {
                ready = Some(at);
                break;
            }
        }
        let Some(at) = ready else {
            let names: Vec<&str> = waiting.iter().map(|component| component.name.as_str()).collect();
            return Err(RenderError::Circle(names.join(", ")));
        };
        ordered.push(waiting.remove(at));
    }
    Ok(ordered)
}

/// What comes from a component that is not there is left out: the module's own default serves.
fn module(component: &Component, provider: &str, present: &BTreeSet<&str>) -> Result<String, BlueprintError> {
    let mut inputs = Vec::new();
    for (name, input) in component.inputs()? {
        let value = match input {
            Input::Variable(variable) => format!("var.{variable}"),
            Input::From { component, output } if present.contains(component.as_str()) => {
                format!("module.{component}.{output}")
            }
            Input::From { .. } => continue,
            Input::Literal(value) => literal(&value),
        };
        inputs.push((name.to_owned(), value));
    }
    let source = ("source".to_owned(), quoted(&format!("./modules/{}", component.module_for(provider))));
    let mut text = format!("module {} {{\n{}", quoted(&component.name), attributes(&[source]));
    if !inputs.is_empty() {
        text.push('\n');
        text.push_str(&attributes(&inputs));
    }
    let after = component.after.iter().filter(|name| present.contains(name.as_str()));
    let after: Vec<String> = after.map(|name| format!("module.{name}")).collect();
    if !after.is_empty() {
        text.push_str(&format!("\n  depends_on = [{}]\n", after.join(", ")));
    }
    Ok(text + "}\n")
}

fn variables_of(blueprint: &Blueprint) -> String {
    let mut blocks: Vec<String> =
        GIVEN.iter().map(|(name, kind, text)| variable(name, kind, text, false, false)).collect();
    let properties = blueprint.variables["properties"].as_object().into_iter().flatten();
    let properties = properties.filter(|(name, _)| *name != PROVIDER);
    let required: Vec<&str> =
        blueprint.variables["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, schema) in properties {
        let text = ["description", "title"].iter().find_map(|key| schema[*key].as_str()).unwrap_or_default();
        let optional = !required.contains(&name.as_str());
        blocks.push(variable(name, &type_of(schema), text, optional, schema["writeOnly"] == json!(true)));
    }
    blocks.join("\n")
}

fn variable(name: &str, kind: &str, text: &str, optional: bool, sensitive: bool) -> String {
    let mut lines = vec![("type".to_owned(), kind.to_owned())];
    if !text.is_empty() {
        lines.push(("description".into(), quoted(text.trim())));
    }
    if optional {
        lines.push(("default".into(), "null".into()));
    }
    if sensitive {
        lines.push(("sensitive".into(), "true".into()));
    }
    format!("variable {} {{\n{}}}\n", quoted(name), attributes(&lines))
}

fn outputs_of(blueprint: &Blueprint, present: &BTreeSet<&str>) -> Result<String, BlueprintError> {
    let mut blocks = Vec::new();
    for name in blueprint.outputs.keys() {
        let output = blueprint.output(name)?;
        let wrong = |why| BlueprintError::Output { name: name.clone(), why };
        let (component, from) = split(&output.from).map_err(wrong)?;
        if !present.contains(component.as_str()) {
            continue;
        }
        let mut lines = vec![
            ("description".to_owned(), quoted(output.description.trim())),
            ("value".to_owned(), format!("module.{component}.{from}")),
        ];
        if output.sensitive {
            lines.push(("sensitive".into(), "true".into()));
        }
        blocks.push(format!("output {} {{\n{}}}\n", quoted(name), attributes(&lines)));
    }
    Ok(blocks.join("\n"))
}
