//! Changes by hand, as text: `size=5`, `tags.owner=me`, `scaling_config.0.desired_size=3`.

use std::str::FromStr;

use serde_json::{Map, Number, Value as Json};

use crate::{
    catalogue,
    schema::{Block, Type},
    world::Object,
};

#[derive(Clone, Debug)]
pub struct Assignment {
    path: String,
    value: String,
}

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{0:?} is not KEY=VALUE")]
    NoAssignment(String),
    #[error("{0} is what the object is known by, and cannot be changed")]
    Identity(String),
    #[error("there is no attribute {key}; there are {}", known.join(", "))]
    NoAttribute { key: String, known: Vec<String> },
    #[error("{0:?} is not a number")]
    NoNumber(String),
    #[error("{0:?} is neither true nor false")]
    NoTruth(String),
    #[error("{0:?} is not JSON, in which lists and objects are written here")]
    NoJson(String),
    #[error("{0} is a map: change one entry at a time, as in {0}.KEY=VALUE")]
    WholeMap(String),
    #[error("{0} is not a map")]
    NoMap(String),
    #[error("{0} has no such element; elements are counted from 0, as in {0}.0.KEY=VALUE")]
    NoElement(String),
}

impl FromStr for Assignment {
    type Err = EditError;

    fn from_str(text: &str) -> Result<Assignment, EditError> {
        let (path, value) = text.split_once('=').ok_or_else(|| EditError::NoAssignment(text.to_owned()))?;
        Ok(Assignment { path: path.to_owned(), value: value.to_owned() })
    }
}

impl Assignment {
    pub fn make(self, object: &mut Object) -> Result<(), EditError> {
        if matches!(self.path.as_str(), "id" | "name") {
            return Err(EditError::Identity(self.path));
        }
        let r#type = described(object).map_or_else(|| implied(&object.attributes), |block| block.r#type());
        set(&mut object.attributes, &r#type, "", &self.path, self.value)
    }
}

fn set(current: &mut Json, r#type: &Type, place: &str, path: &str, value: String) -> Result<(), EditError> {
    if path.is_empty() {
        *current = parse(place, r#type, value)?;
        return Ok(());
    }
    let (key, rest) = path.split_once('.').unwrap_or((path, ""));
    let inner_place = if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match r#type {
        Type::Object(fields) => {
            let field = fields.iter().find(|(name, _)| name == key);
            let (_, of) = field.ok_or_else(|| EditError::NoAttribute {
                key: inner_place.clone(),
                known: fields.iter().map(|(name, _)| name.clone()).collect(),
            })?;
            set(entry(current, key), of, &inner_place, rest, value)
        }
        // An entry's key may have dots.
        Type::Map(_) if value.is_empty() => {
            if let Some(entries) = current.as_object_mut() {
                entries.shift_remove(path);
            }
            Ok(())
        }
        Type::Map(of) => set(entry(current, path), of, &inner_place, "", value),
        Type::List(of) | Type::Set(of) => {
            let at = key.parse::<usize>().map_err(|_| EditError::NoElement(place.to_owned()))?;
            let element = current.get_mut(at).ok_or_else(|| EditError::NoElement(place.to_owned()))?;
            set(element, of, &inner_place, rest, value)
        }
        _ => Err(EditError::NoMap(place.to_owned())),
    }
}

fn entry<'a>(value: &'a mut Json, key: &str) -> &'a mut Json {
    if !value.is_object() {
        *value = Json::Object(Map::new());
    }
    &mut value[key]
}

fn parse(place: &str, r#type: &Type, value: String) -> Result<Json, EditError> {
    if value.is_empty() {
        return Ok(Json::Null);
    }
    match r#type {
        Type::String => Ok(Json::String(value)),
        Type::Number => value.parse::<Number>().map(Json::Number).map_err(|_| EditError::NoNumber(value)),
        Type::Bool => value.parse::<bool>().map(Json::Bool).map_err(|_| EditError::NoTruth(value)),
        Type::Map(_) => Err(EditError::WholeMap(place.to_owned())),
        _ => serde_json::from_str(&value).map_err(|_| EditError::NoJson(value)),
    }
}

/// How the catalogue describes the object.
fn described(object: &Object) -> Option<Block> {
    let mut provider = catalogue::provider(&object.address.provider).ok()?;
    provider.schema.resources.remove(&object.address.r#type).map(|schema| schema.block)
}

/// The type that a value seems to have, where nothing describes it.
fn implied(value: &Json) -> Type {
    match value {
        Json::Bool(_) => Type::Bool,
        Json::Number(_) => Type::Number,
        Json::Array(elements) => Type::List(Box::new(elements.first().map_or(Type::String, implied))),
        Json::Object(fields) => Type::Object(fields.iter().map(|(name, of)| (name.clone(), implied(of))).collect()),
        Json::String(_) | Json::Null => Type::String,
    }
}
