//! What is wrong with a blueprint, all of it at once, for its author.

use std::collections::{BTreeMap, BTreeSet};

use model::schema::Schema;
use serde::{Deserialize, Serialize};

use crate::blueprint::{Blueprint, Component, Input, split};
use crate::check::{PROVIDER, schema_for};
use crate::expr::legal;
use crate::hcl::is_name;
use crate::nearest::nearest;
use crate::render::{GIVEN, RESERVED, in_order};
use crate::version::Version;

/// What a module takes and gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    pub version: Version,
    pub inputs: BTreeMap<String, Takes>,
    pub outputs: BTreeSet<String>,
}

/// One variable of a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Takes {
    /// In Terraform's words.
    #[serde(rename = "type")]
    pub kind: String,
    pub required: bool,
}

/// By path within the set of modules, as `modules/interface.json` has them.
pub type Interfaces = BTreeMap<String, Interface>;

pub fn lint(blueprint: &Blueprint, modules: &Interfaces) -> Vec<String> {
    let mut lint = Lint { blueprint, modules, found: Vec::new() };
    lint.names();
    lint.variables();
    lint.rules();
    for component in &blueprint.components {
        lint.component(component);
    }
    if let Err(error) = in_order(blueprint.components.iter().collect()) {
        lint.found.push(format!("{error}"));
    }
    lint.outputs();
    lint.found
}

struct Lint<'a> {
    blueprint: &'a Blueprint,
    modules: &'a Interfaces,
    found: Vec<String>,
}

impl Lint<'_> {
    fn names(&mut self) {
        let mut seen = BTreeSet::new();
        for component in &self.blueprint.components {
            if !is_name(&component.name) {
                self.found.push(format!("components.{}: the name is letters, digits, _ and -", component.name));
            }
            if !seen.insert(component.name.as_str()) {
                self.found.push(format!("components.{}: there are two of this name", component.name));
            }
        }
        if self.blueprint.providers.is_empty() {
            self.found.push("providers: there is none, and nothing can be made".into());
        }
    }

    fn variables(&mut self) {
        let known: BTreeSet<&str> = self.blueprint.variables().collect();
        if !known.contains(PROVIDER) && self.blueprint.providers.len() > 1 {
            self.found.push(format!("variables: with several providers there must be a variable `{PROVIDER}`"));
        }
        for (given, _, _) in GIVEN {
            if known.contains(given) {
                self.found.push(format!("variables.{given}: Terrane itself sets it"));
            }
        }
        for name in &known {
            if RESERVED.contains(name) {
                self.found.push(format!("variables.{name}: Terraform keeps this name for itself"));
            }
            if !is_name(name) {
                self.found.push(format!("variables.{name}: the name is letters, digits, _ and -"));
            }
        }
        let looked = &self.blueprint.catalogue;
        for name in [&looked.region, &looked.instance_type, &looked.kubernetes_version].into_iter().flatten() {
            if !known.contains(name.as_str()) {
                self.found.push(format!("catalogue: there is no variable `{name}`{}", meant(name, &known)));
            }
        }
        for name in self.blueprint.providers.keys() {
            let Ok(provider) = self.blueprint.provider(name) else { continue };
            for variable in provider.defaults.keys().chain(provider.limits.keys()) {
                if !known.contains(variable.as_str()) {
                    let meant = meant(variable, &known);
                    self.found.push(format!("providers.{name}: there is no variable `{variable}`{meant}"));
                }
            }
            if let Err(violations) = Schema::compile(&schema_for(self.blueprint, &provider)) {
                self.found.extend(violations.iter().map(|violation| format!("variables, on {name}: {violation}")));
            }
        }
    }

    fn rules(&mut self) {
        let known: BTreeSet<&str> = self.blueprint.variables().collect();
        for (which, rules) in [("rules", &self.blueprint.rules), ("changes", &self.blueprint.changes)] {
            for rule in rules {
                if let Err(error) = legal(&rule.check) {
                    self.found.push(format!("{which}: {error}"));
                }
                if !known.contains(rule.field.as_str()) {
                    let meant = meant(&rule.field, &known);
                    self.found.push(format!("{which}: there is no variable `{}` to point at{meant}", rule.field));
                }
            }
        }
    }

    fn component(&mut self, component: &Component) {
        let at = format!("components.{}", component.name);
        if let Some(Err(error)) = component.when.as_deref().map(legal) {
            self.found.push(format!("{at}.when: {error}"));
        }
        for other in &component.after {
            if self.blueprint.component(other).is_none() {
                self.found.push(format!("{at}.after: there is no component `{other}`"));
            }
        }
        let variables: BTreeSet<&str> =
            self.blueprint.variables().chain(GIVEN.iter().map(|(name, _, _)| *name)).collect();
        let clouds: Vec<String> = self.blueprint.providers.keys().cloned().collect();
        for (name, input) in component.inputs().unwrap_or_default() {
            match input {
                Input::Variable(variable) if !variables.contains(variable.as_str()) => {
                    let meant = meant(&variable, &variables);
                    self.found.push(format!("{at}.inputs.{name}: there is no variable `{variable}`{meant}"));
                }
                Input::From { component, output } => {
                    for cloud in &clouds {
                        self.output_is_there(&format!("{at}.inputs.{name}"), cloud, &component, &output);
                    }
                }
                Input::Variable(_) | Input::Literal(_) => {}
            }
        }
        for cloud in &clouds {
            self.fits(&at, cloud, component);
        }
        self.found.dedup();
    }

    /// What the module takes is what it is given.
    fn fits(&mut self, at: &str, cloud: &str, component: &Component) {
        let path = component.module_for(cloud);
        let Some(module) = self.modules.get(&path) else {
            self.found.push(format!("{at}.module: there is no module {path}"));
            return;
        };
        if module.version != component.version {
            self.found.push(format!("{at}.version: {path} has version {}, not {}", module.version, component.version));
        }
        let takes: BTreeSet<&str> = module.inputs.keys().map(String::as_str).collect();
        for name in component.inputs.keys().filter(|name| !takes.contains(name.as_str())) {
            self.found.push(format!("{at}.inputs.{name}: {path} has no such variable{}", meant(name, &takes)));
        }
        for (name, _) in
            module.inputs.iter().filter(|(name, takes)| takes.required && !component.inputs.contains_key(*name))
        {
            self.found.push(format!("{at}.inputs: {path} must be given `{name}`"));
        }
    }

    fn output_is_there(&mut self, at: &str, cloud: &str, component: &str, output: &str) {
        let Some(source) = self.blueprint.component(component) else {
            self.found.push(format!("{at}: there is no component `{component}`"));
            return;
        };
        let path = source.module_for(cloud);
        if let Some(module) = self.modules.get(&path)
            && !module.outputs.contains(output)
        {
            let outputs = module.outputs.iter().map(String::as_str).collect();
            self.found.push(format!("{at}: {path} has no output `{output}`{}", meant(output, &outputs)));
        }
    }

    fn outputs(&mut self) {
        for name in self.blueprint.outputs.keys() {
            let at = format!("outputs.{name}");
            let from = self.blueprint.output(name).map_err(|error| error.to_string());
            match from.and_then(|output| split(&output.from)) {
                Err(why) => self.found.push(format!("{at}: {why}")),
                Ok((component, output)) => {
                    let clouds: Vec<String> = self.blueprint.providers.keys().cloned().collect();
                    for cloud in clouds {
                        self.output_is_there(&at, &cloud, &component, &output);
                    }
                }
            }
        }
        self.found.dedup();
    }
}

fn meant(name: &str, known: &BTreeSet<&str>) -> String {
    let known: Vec<&str> = known.iter().copied().collect();
    match nearest(name, &known).first() {
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    }
}
