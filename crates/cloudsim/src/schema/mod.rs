//! How a provider describes what it manages: attributes, blocks, their types, and who sets them. The same words whether
//! the description comes from the built-in catalogue or from a dump of `terraform providers schema -json`.

mod compare;
mod dump;
mod select;
mod text;
mod wire;

pub use compare::differences;
pub use dump::{DumpError, read as read_dump};
pub use select::select;
pub use text::{TextError, read as read_text, write as write_text};

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// A provider, as Terraform installs it.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// Host, namespace and name: `registry.terraform.io/hashicorp/aws`.
    pub source: String,
    /// Which release is described; empty in a dump, which does not say.
    pub version: String,
    pub config: Block,
    pub resources: BTreeMap<String, Schema>,
    pub data_sources: BTreeMap<String, Schema>,
}

/// A type of resource or data source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    pub version: u64,
    pub block: Block,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub attributes: Vec<Attribute>,
    pub blocks: Vec<NestedBlock>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    pub name: String,
    pub nesting: Nesting,
    pub min: u64,
    /// 0: any number.
    pub max: u64,
    pub block: Block,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub kind: Kind,
    pub flags: Flags,
    pub description: String,
}

/// Who sets an attribute, and who may see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub required: bool,
    pub optional: bool,
    pub computed: bool,
    pub sensitive: bool,
    pub write_only: bool,
    pub deprecated: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Plain(Type),
    /// An object, or a collection of them, whose attributes have flags of their own.
    Nested(Nesting, Vec<Attribute>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    Single,
    List,
    Set,
    Map,
    Group,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    String,
    Number,
    Bool,
    /// Whatever the value says it is.
    Dynamic,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>),
    Object(Vec<(String, Type)>),
    Tuple(Vec<Type>),
}

impl ProviderSchema {
    /// The last part of its source: what its resource types begin with.
    pub fn name(&self) -> &str {
        self.source.rsplit('/').next().unwrap_or_default()
    }
}

impl Block {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some() || self.blocks.iter().any(|block| block.name == name)
    }

    /// The type of a value of the whole block.
    pub fn r#type(&self) -> Type {
        let attributes = self.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.r#type()));
        let blocks = self.blocks.iter().map(|nested| (nested.name.clone(), nested.r#type()));
        Type::Object(attributes.chain(blocks).collect())
    }

    /// Absent blocks are empty collections, never null: Terraform insists on it.
    pub fn fill_absent_blocks(&self, value: &mut Json) {
        let Json::Object(fields) = value else { return };
        for nested in &self.blocks {
            let field = fields.entry(nested.name.clone()).or_insert(Json::Null);
            if field.is_null() {
                *field = nested.nesting.empty();
            }
            for element in nested.nesting.elements(field) {
                nested.block.fill_absent_blocks(element);
            }
        }
    }
}

impl NestedBlock {
    pub fn r#type(&self) -> Type {
        self.nesting.of(self.block.r#type())
    }
}

impl Attribute {
    pub fn r#type(&self) -> Type {
        match &self.kind {
            Kind::Plain(r#type) => r#type.clone(),
            Kind::Nested(nesting, attributes) => {
                nesting.of(Type::Object(attributes.iter().map(|a| (a.name.clone(), a.r#type())).collect()))
            }
        }
    }
}

impl Nesting {
    const ALL: [(Nesting, &'static str); 5] = [
        (Nesting::Single, "single"),
        (Nesting::List, "list"),
        (Nesting::Set, "set"),
        (Nesting::Map, "map"),
        (Nesting::Group, "group"),
    ];

    fn named(name: &str) -> Option<Nesting> {
        Nesting::ALL.into_iter().find(|(_, known)| *known == name).map(|(nesting, _)| nesting)
    }

    fn name(self) -> &'static str {
        Nesting::ALL.into_iter().find(|(nesting, _)| *nesting == self).map_or("", |(_, name)| name)
    }

    fn of(self, element: Type) -> Type {
        match self {
            Nesting::Single | Nesting::Group => element,
            Nesting::List => Type::List(Box::new(element)),
            Nesting::Set => Type::Set(Box::new(element)),
            Nesting::Map => Type::Map(Box::new(element)),
        }
    }

    fn empty(self) -> Json {
        match self {
            Nesting::Single | Nesting::Group => Json::Null,
            Nesting::List | Nesting::Set => Json::Array(Vec::new()),
            Nesting::Map => Json::Object(Map::new()),
        }
    }

    /// The objects in a value that is nested so.
    pub fn elements(self, value: &mut Json) -> Vec<&mut Json> {
        match (self, value) {
            (Nesting::List | Nesting::Set, Json::Array(elements)) => elements.iter_mut().collect(),
            (Nesting::Map, Json::Object(entries)) => entries.values_mut().collect(),
            (Nesting::Single | Nesting::Group, value @ Json::Object(_)) => vec![value],
            _ => Vec::new(),
        }
    }

    /// What one of those objects was before, by its place or key.
    pub fn counterpart(self, value: &Json, place: usize, key: Option<&str>) -> Json {
        match (self, key) {
            (Nesting::List | Nesting::Set, _) => value.get(place).cloned().unwrap_or_default(),
            (Nesting::Map, Some(key)) => value.get(key).cloned().unwrap_or_default(),
            (Nesting::Map, None) => Json::Null,
            (Nesting::Single | Nesting::Group, _) => value.clone(),
        }
    }
}
