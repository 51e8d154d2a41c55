//! Changes by hand, as text: `size=5`, `tags.owner=me`.

use std::str::FromStr;

use serde_json::{Map, Number, Value};

use crate::{
    catalogue::CLOUDSIM,
    schema::{Attribute, Type},
    world::Object,
};

#[derive(Clone, Debug)]
pub struct Assignment {
    key: String,
    /// In a map.
    entry: Option<String>,
    value: String,
}

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{0:?} is not KEY=VALUE")]
    NoAssignment(String),
    #[error("{0} is what the object is known by, and cannot be changed")]
    Identity(String),
    #[error("there is no attribute {key}; there are {}", known.join(", "))]
    NoAttribute { key: String, known: Vec<&'static str> },
    #[error("{0:?} is not a number")]
    NoNumber(String),
    #[error("{0} is a map: change one entry at a time, as in {0}.KEY=VALUE")]
    WholeMap(String),
    #[error("{0} is not a map")]
    NoMap(String),
}

impl FromStr for Assignment {
    type Err = EditError;

    fn from_str(text: &str) -> Result<Assignment, EditError> {
        let (key, value) = text.split_once('=').ok_or_else(|| EditError::NoAssignment(text.to_owned()))?;
        let (key, entry) = key.split_once('.').map_or((key, None), |(key, entry)| (key, Some(entry.to_owned())));
        Ok(Assignment { key: key.to_owned(), entry, value: value.to_owned() })
    }
}

impl Assignment {
    pub fn make(self, object: &mut Object) -> Result<(), EditError> {
        let Assignment { key, entry, value } = self;
        if matches!(key.as_str(), "id" | "name") {
            return Err(EditError::Identity(key));
        }
        let attribute = attribute(&object.r#type, &key)?;
        let current = object.attributes.entry(key.clone()).or_insert(Value::Null);
        match (attribute.r#type, entry) {
            (Type::MapOfString, Some(entry)) => set_entry(current, entry, value),
            (_, Some(_)) => return Err(EditError::NoMap(key)),
            (_, None) if value.is_empty() => *current = Value::Null,
            (Type::String, None) => *current = Value::String(value),
            (Type::Number, None) => {
                *current = Value::Number(value.parse::<Number>().map_err(|_| EditError::NoNumber(value))?);
            }
            (Type::MapOfString, None) => return Err(EditError::WholeMap(key)),
        }
        Ok(())
    }
}

fn attribute(r#type: &str, key: &str) -> Result<&'static Attribute, EditError> {
    let resource = CLOUDSIM.resources.iter().find(|resource| resource.name == r#type);
    let attributes = resource.map_or(&[][..], |resource| resource.attributes);
    attributes.iter().find(|attribute| attribute.name == key).ok_or_else(|| EditError::NoAttribute {
        key: key.to_owned(),
        known: attributes.iter().map(|attribute| attribute.name).collect(),
    })
}

fn set_entry(map: &mut Value, entry: String, value: String) {
    let mut entries = match map.take() {
        Value::Object(entries) => entries,
        _ => Map::new(),
    };
    if value.is_empty() {
        entries.remove(&entry);
    } else {
        entries.insert(entry, Value::String(value));
    }
    *map = Value::Object(entries);
}
