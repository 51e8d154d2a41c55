//! The two forms of a value: MessagePack on the wire, where a part may still be unknown, and JSON in the simulated cloud,
//! where everything is known. A number that is no integer crosses as text, because Terraform computes in decimal and
//! would take the nearest double for a different number.

use std::collections::BTreeMap;

use rmpv::Value as Wire;
use serde_json::{Map, Number, Value as Json};

use crate::{
    protocol::DynamicValue,
    schema::{Attribute, Type},
};

/// The attributes of an object that is known in full.
pub type Values = Map<String, Json>;

#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    #[error("a value from Terraform cannot be read")]
    Encoding(#[from] rmpv::decode::Error),
    #[error("a value from Terraform is no object")]
    NoObject,
    #[error("the attribute {attribute} is not a {wanted}")]
    WrongType { attribute: &'static str, wanted: &'static str },
}

/// The attributes of an object of which some may be unknown, as during a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(BTreeMap<String, Wire>);

impl Fields {
    /// Of no object (`null`), there are no fields.
    pub fn decode(value: Option<&DynamicValue>) -> Result<Option<Fields>, ValueError> {
        let Some(bytes) = value.map(|value| value.msgpack.as_slice()).filter(|bytes| !bytes.is_empty()) else {
            return Ok(None);
        };
        match rmpv::decode::read_value(&mut &*bytes)? {
            Wire::Nil => Ok(None),
            Wire::Map(entries) => {
                let fields = entries.into_iter().map(|(name, value)| Some((name.as_str()?.to_owned(), value)));
                fields.collect::<Option<_>>().map(|fields| Some(Fields(fields))).ok_or(ValueError::NoObject)
            }
            _ => Err(ValueError::NoObject),
        }
    }

    pub fn encode(&self) -> DynamicValue {
        encode(&Wire::Map(self.0.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect()))
    }

    pub fn of(values: &Values, attributes: &'static [Attribute]) -> Result<Fields, ValueError> {
        let fields = attributes.iter().map(|attribute| {
            let value = values.get(attribute.name).unwrap_or(&Json::Null);
            Ok((attribute.name.to_owned(), to_wire(attribute, value)?))
        });
        fields.collect::<Result<_, _>>().map(Fields)
    }

    /// What is known; the rest reads as `null`.
    pub fn known(&self, attributes: &'static [Attribute]) -> Result<Values, ValueError> {
        attributes
            .iter()
            .map(|attribute| Ok((attribute.name.to_owned(), to_json(attribute, self.get(attribute.name))?)))
            .collect()
    }

    pub fn get(&self, name: &str) -> &Wire {
        self.0.get(name).unwrap_or(&Wire::Nil)
    }

    pub fn set(&mut self, name: &str, value: Wire) {
        self.0.insert(name.to_owned(), value);
    }
}

/// No object at all: what a destroyed resource is.
pub fn null() -> DynamicValue {
    encode(&Wire::Nil)
}

/// A value that only the apply will tell.
pub fn unknown() -> Wire {
    Wire::Ext(0, vec![0])
}

pub fn is_unknown(value: &Wire) -> bool {
    matches!(value, Wire::Ext(..))
}

fn encode(value: &Wire) -> DynamicValue {
    let mut msgpack = Vec::new();
    rmpv::encode::write_value(&mut msgpack, value).expect("writing to memory does not fail");
    DynamicValue { msgpack, json: Vec::new() }
}

fn to_wire(attribute: &Attribute, value: &Json) -> Result<Wire, ValueError> {
    Ok(match (attribute.r#type, value) {
        (_, Json::Null) => Wire::Nil,
        (Type::String, Json::String(text)) => text.as_str().into(),
        (Type::Number, Json::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(integer)) => integer.into(),
            (None, None) => number.to_string().into(),
        },
        (Type::MapOfString, Json::Object(map)) => {
            let entries = map.iter().map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into())));
            Wire::Map(entries.collect::<Option<_>>().ok_or_else(|| attribute.wrong_type())?)
        }
        _ => return Err(attribute.wrong_type()),
    })
}

fn to_json(attribute: &Attribute, value: &Wire) -> Result<Json, ValueError> {
    if value.is_nil() || is_unknown(value) {
        return Ok(Json::Null);
    }
    let known = match attribute.r#type {
        Type::String => value.as_str().map(Json::from),
        Type::Number => number(value).map(Json::Number),
        Type::MapOfString => value.as_map().and_then(|entries| {
            let text = |value: &Wire| if is_unknown(value) { Some(Json::Null) } else { value.as_str().map(Json::from) };
            entries.iter().map(|(key, value)| Some((key.as_str()?.to_owned(), text(value)?))).collect()
        }),
    };
    known.ok_or_else(|| attribute.wrong_type())
}

fn number(value: &Wire) -> Option<Number> {
    match value {
        Wire::Integer(integer) => integer.as_i64().map(Number::from).or_else(|| integer.as_u64().map(Number::from)),
        Wire::String(text) => text.as_str()?.parse().ok(),
        other => other.as_f64().and_then(Number::from_f64),
    }
}
