//! Reads what `terraform providers schema -json` prints.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::{Attribute, Block, Flags, Kind, NestedBlock, Nesting, ProviderSchema, Schema, Type};

#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    #[error("this is not what `terraform providers schema -json` prints")]
    Malformed(#[from] serde_json::Error),
    #[error("{0} is not a type of Terraform's")]
    Type(String),
    #[error("{0} is no way to nest blocks")]
    Nesting(String),
}

#[derive(Deserialize)]
struct Dump {
    provider_schemas: BTreeMap<String, Provider>,
}

#[derive(Deserialize)]
struct Provider {
    provider: TypeDump,
    #[serde(default)]
    resource_schemas: BTreeMap<String, TypeDump>,
    #[serde(default)]
    data_source_schemas: BTreeMap<String, TypeDump>,
}

#[derive(Deserialize)]
struct TypeDump {
    #[serde(default)]
    version: u64,
    block: BlockDump,
}

#[derive(Default, Deserialize)]
struct BlockDump {
    #[serde(default)]
    attributes: BTreeMap<String, AttributeDump>,
    #[serde(default)]
    block_types: BTreeMap<String, NestedBlockDump>,
}

#[derive(Deserialize)]
struct NestedBlockDump {
    nesting_mode: String,
    #[serde(default)]
    min_items: u64,
    #[serde(default)]
    max_items: u64,
    #[serde(default)]
    block: BlockDump,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AttributeDump {
    r#type: Option<Json>,
    nested_type: Option<NestedTypeDump>,
    description: String,
    required: bool,
    optional: bool,
    computed: bool,
    sensitive: bool,
    write_only: bool,
    deprecated: bool,
}

#[derive(Deserialize)]
struct NestedTypeDump {
    nesting_mode: String,
    #[serde(default)]
    attributes: BTreeMap<String, AttributeDump>,
}

/// The providers of a dump.
pub fn read(bytes: &[u8]) -> Result<Vec<ProviderSchema>, DumpError> {
    let dump: Dump = serde_json::from_slice(bytes)?;
    dump.provider_schemas.into_iter().map(|(source, provider)| read_provider(source, provider)).collect()
}

fn read_provider(source: String, provider: Provider) -> Result<ProviderSchema, DumpError> {
    let schemas = |dumps: BTreeMap<String, TypeDump>| {
        let schemas = dumps
            .into_iter()
            .map(|(name, dump)| Ok((name, Schema { version: dump.version, block: block(dump.block)? })));
        schemas.collect::<Result<BTreeMap<_, _>, DumpError>>()
    };
    Ok(ProviderSchema {
        source,
        version: String::new(),
        config: block(provider.provider.block)?,
        resources: schemas(provider.resource_schemas)?,
        data_sources: schemas(provider.data_source_schemas)?,
    })
}

fn block(dump: BlockDump) -> Result<Block, DumpError> {
    let blocks = dump.block_types.into_iter().map(|(name, nested)| {
        Ok(NestedBlock {
            name,
            nesting: nesting(&nested.nesting_mode)?,
            min: nested.min_items,
            max: nested.max_items,
            block: block(nested.block)?,
        })
    });
    Ok(Block { attributes: attributes(dump.attributes)?, blocks: blocks.collect::<Result<_, DumpError>>()? })
}

fn attributes(dumps: BTreeMap<String, AttributeDump>) -> Result<Vec<Attribute>, DumpError> {
    let attribute = |(name, dump): (String, AttributeDump)| {
        let kind = match dump.nested_type {
            Some(nested) => Kind::Nested(nesting(&nested.nesting_mode)?, attributes(nested.attributes)?),
            None => Kind::Plain(Type::from_json(&dump.r#type.unwrap_or_default())?),
        };
        let flags = Flags {
            required: dump.required,
            optional: dump.optional,
            computed: dump.computed,
            sensitive: dump.sensitive,
            write_only: dump.write_only,
            deprecated: dump.deprecated,
        };
        Ok(Attribute { name, kind, flags, description: dump.description })
    };
    dumps.into_iter().map(attribute).collect()
}

fn nesting(mode: &str) -> Result<Nesting, DumpError> {
    Nesting::named(mode).ok_or_else(|| DumpError::Nesting(mode.to_owned()))
}

impl Type {
    /// As Terraform writes types in JSON: `"string"`, `["list", "string"]`.
    pub fn from_json(json: &Json) -> Result<Type, DumpError> {
        let wrong = || DumpError::Type(json.to_string());
        if let Some(name) = json.as_str() {
            return Ok(match name {
                "string" => Type::String,
                "number" => Type::Number,
                "bool" => Type::Bool,
                "dynamic" => Type::Dynamic,
                _ => return Err(wrong()),
            });
        }
        let of = json.get(1).ok_or_else(wrong)?;
        let element = || Type::from_json(of).map(Box::new);
        Ok(match json[0].as_str().unwrap_or_default() {
            "list" => Type::List(element()?),
            "set" => Type::Set(element()?),
            "map" => Type::Map(element()?),
            "object" => {
                let fields = of.as_object().ok_or_else(wrong)?.iter();
                Type::Object(
                    fields
                        .map(|(name, of)| Ok((name.clone(), Type::from_json(of)?)))
                        .collect::<Result<_, DumpError>>()?,
                )
            }
            "tuple" => {
                let elements = of.as_array().ok_or_else(wrong)?.iter();
                Type::Tuple(elements.map(Type::from_json).collect::<Result<_, _>>()?)
            }
            _ => return Err(wrong()),
        })
    }
}
