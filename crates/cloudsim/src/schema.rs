//! How a provider describes what it manages: attributes, their types, who sets them, and what a change of one means.
//! The catalogue is written in these words; this module says them in Terraform's.

use std::time::Duration;

use serde_json::json;

use crate::{
    protocol::{self, Diagnostic},
    value::{ValueError, Values},
};

/// A provider, as Terraform installs it.
pub struct ProviderType {
    pub namespace: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    pub config: &'static [Attribute],
    pub resources: &'static [ResourceType],
}

pub struct ResourceType {
    pub name: &'static str,
    /// What one of them is called in messages, and in its id.
    pub noun: &'static str,
    pub description: &'static str,
    pub attributes: &'static [Attribute],
    /// What is wrong with a configuration, beyond its types. What is not known yet reads as `null`.
    pub faults: fn(&Values) -> Vec<Diagnostic>,
    /// The computed attributes of a new object with this name and id.
    pub computed: fn(name: &str, id: &str) -> Values,
    /// How the cloud is to behave towards an object with these attributes.
    pub conduct: fn(&Values) -> Conduct,
}

/// The cloud's manners, so that a test can choose them.
#[derive(Debug, Default, PartialEq)]
pub struct Conduct {
    pub create_takes: Duration,
    pub destroy_takes: Duration,
    pub failure: Option<Failure>,
}

/// A create is refused with this message: always, or the first so many times.
#[derive(Debug, PartialEq)]
pub struct Failure {
    pub message: String,
    pub times: Option<u64>,
}

pub struct Attribute {
    pub name: &'static str,
    pub r#type: Type,
    pub usage: Usage,
    pub sensitive: bool,
    /// Whether a change means a new object.
    pub replaces: bool,
    pub description: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    String,
    Number,
    MapOfString,
}

/// Who sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Usage {
    Required,
    Optional,
    /// The user may; else it is this.
    Default(i64),
    /// The cloud does.
    Computed,
}

impl Attribute {
    pub const fn new(name: &'static str, r#type: Type, usage: Usage, description: &'static str) -> Attribute {
        Attribute { name, r#type, usage, sensitive: false, replaces: false, description }
    }

    pub const fn sensitive(self) -> Attribute {
        Attribute { sensitive: true, ..self }
    }

    pub const fn replaces(self) -> Attribute {
        Attribute { replaces: true, ..self }
    }

    pub fn wrong_type(&self) -> ValueError {
        ValueError::WrongType { attribute: self.name, wanted: self.r#type.noun() }
    }

    fn to_protocol(&self) -> protocol::Attribute {
        protocol::Attribute {
            name: self.name.to_owned(),
            r#type: self.r#type.to_protocol(),
            description: self.description.to_owned(),
            required: self.usage == Usage::Required,
            optional: matches!(self.usage, Usage::Optional | Usage::Default(_)),
            // A default counts as computed: it is the provider that fills it in.
            computed: matches!(self.usage, Usage::Computed | Usage::Default(_)),
            sensitive: self.sensitive,
        }
    }
}

impl Type {
    fn noun(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Number => "number",
            Type::MapOfString => "map of strings",
        }
    }

    fn to_protocol(self) -> Vec<u8> {
        let r#type = match self {
            Type::String => json!("string"),
            Type::Number => json!("number"),
            Type::MapOfString => json!(["map", "string"]),
        };
        r#type.to_string().into_bytes()
    }
}

impl ProviderType {
    pub fn to_protocol(&self) -> protocol::ProviderSchema {
        let resources = self.resources.iter();
        protocol::ProviderSchema {
            provider: Some(schema(self.description, self.config)),
            resource_schemas: resources.map(|r| (r.name.to_owned(), schema(r.description, r.attributes))).collect(),
            // Terraform starts several processes per run; only the first then has to be asked for all this.
            server_capabilities: Some(protocol::ServerCapabilities { get_provider_schema_optional: true }),
        }
    }
}

fn schema(description: &str, attributes: &[Attribute]) -> protocol::Schema {
    let attributes = attributes.iter().map(Attribute::to_protocol).collect();
    protocol::Schema { version: 0, block: Some(protocol::Block { attributes, description: description.to_owned() }) }
}
