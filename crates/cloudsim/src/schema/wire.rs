//! Schemas in Terraform's words.

use serde_json::{Value as Json, json};

use super::{Attribute, Block, Kind, NestedBlock, Nesting, ProviderSchema, Schema, Type};
use crate::protocol;

impl ProviderSchema {
    pub fn to_protocol(&self) -> protocol::ProviderSchema {
        let schemas = |schemas: &std::collections::BTreeMap<String, Schema>| {
            schemas.iter().map(|(name, schema)| (name.clone(), schema.to_protocol())).collect()
        };
        protocol::ProviderSchema {
            provider: Some(protocol::Schema { version: 0, block: Some(self.config.to_protocol()) }),
            resource_schemas: schemas(&self.resources),
            data_source_schemas: schemas(&self.data_sources),
            // Terraform starts several processes per run; only the first then has to be asked for all this.
            server_capabilities: Some(protocol::ServerCapabilities { get_provider_schema_optional: true }),
        }
    }
}

impl Schema {
    fn to_protocol(&self) -> protocol::Schema {
        protocol::Schema { version: self.version.cast_signed(), block: Some(self.block.to_protocol()) }
    }
}

impl Block {
    fn to_protocol(&self) -> protocol::Block {
        protocol::Block {
            attributes: self.attributes.iter().map(Attribute::to_protocol).collect(),
            block_types: self.blocks.iter().map(NestedBlock::to_protocol).collect(),
        }
    }
}

impl NestedBlock {
    fn to_protocol(&self) -> protocol::NestedBlock {
        protocol::NestedBlock {
            type_name: self.name.clone(),
            block: Some(self.block.to_protocol()),
            nesting: match self.nesting {
                Nesting::Single => 1,
                Nesting::List => 2,
                Nesting::Set => 3,
                Nesting::Map => 4,
                Nesting::Group => 5,
            },
            min_items: self.min.cast_signed(),
            max_items: self.max.cast_signed(),
        }
    }
}

impl Attribute {
    fn to_protocol(&self) -> protocol::Attribute {
        let (r#type, nested_type) = match &self.kind {
            Kind::Plain(r#type) => (r#type.to_json().to_string().into_bytes(), None),
            Kind::Nested(nesting, attributes) => (
                Vec::new(),
                Some(protocol::NestedType {
                    attributes: attributes.iter().map(Attribute::to_protocol).collect(),
                    nesting: match nesting {
                        Nesting::Single | Nesting::Group => 1,
                        Nesting::List => 2,
                        Nesting::Set => 3,
                        Nesting::Map => 4,
                    },
                }),
            ),
        };
        protocol::Attribute {
            name: self.name.clone(),
            r#type,
            nested_type,
            description: self.description.clone(),
            required: self.flags.required,
            optional: self.flags.optional,
            computed: self.flags.computed,
            sensitive: self.flags.sensitive,
            deprecated: self.flags.deprecated,
            write_only: self.flags.write_only,
        }
    }
}

impl Type {
    pub fn to_json(&self) -> Json {
        match self {
            Type::String => json!("string"),
            Type::Number => json!("number"),
            Type::Bool => json!("bool"),
            Type::Dynamic => json!("dynamic"),
            Type::List(of) => json!(["list", of.to_json()]),
            Type::Set(of) => json!(["set", of.to_json()]),
            Type::Map(of) => json!(["map", of.to_json()]),
            Type::Object(fields) => {
                let fields: serde_json::Map<_, _> =
                    fields.iter().map(|(name, of)| (name.clone(), of.to_json())).collect();
                json!(["object", fields])
            }
            Type::Tuple(of) => json!(["tuple", of.iter().map(Type::to_json).collect::<Vec<_>>()]),
        }
    }
}
