//! The resource type that a blueprint becomes, so that a cluster is a resource like any other.

use serde_json::{Value, json};

use crate::blueprint::Blueprint;
use crate::check::PROVIDER;

#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    pub name: String,
    pub version: String,
    pub description: String,
    pub schema: Value,
    pub plugin_config: Value,
}

pub fn kind_of(blueprint: &Blueprint) -> Kind {
    let mut schema = blueprint.variables.clone();
    let clouds: Vec<&str> = blueprint.providers.keys().map(String::as_str).collect();
    if schema["properties"][PROVIDER].is_object() {
        schema["properties"][PROVIDER]["enum"] = json!(clouds);
    }
    Kind {
        name: blueprint.kind.clone(),
        version: blueprint.kind_version.clone(),
        description: blueprint.description.trim().to_owned(),
        schema,
        plugin_config: json!({
            "source": { "template": blueprint.template, "version": blueprint.version.to_string() },
        }),
    }
}
