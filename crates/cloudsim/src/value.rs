//! The two forms of a value: MessagePack on the wire, and JSON everywhere else, with a mark where something is known only
//! after the apply. A number that is no integer crosses as text, because Terraform computes in decimal and would take the
//! nearest double for a different number. A value that brings its own type is `{"type": …, "value": …}` in JSON, as in
//! Terraform's states.

use rmpv::Value as Wire;
use serde_json::{Map, Number, Value as Json, json};

use crate::{protocol::DynamicValue, schema::Type};

/// The attributes of an object.
pub type Values = Map<String, Json>;

#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    #[error("a value from Terraform cannot be read")]
    Encoding(#[from] rmpv::decode::Error),
    #[error("a value from Terraform is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("the attribute {attribute} is not a {wanted}")]
    WrongType { attribute: String, wanted: String },
}

/// No text of Terraform's has this name for a field: it is a control character.
const UNKNOWN: &str = "\u{0}";

/// A value that only the apply will tell.
pub fn unknown() -> Json {
    json!({ UNKNOWN: null })
}

pub fn is_unknown(value: &Json) -> bool {
    value.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key(UNKNOWN))
}

/// Whether no part of it is unknown.
pub fn is_known(value: &Json) -> bool {
    match value {
        Json::Array(elements) => elements.iter().all(is_known),
        Json::Object(fields) => !is_unknown(value) && fields.values().all(is_known),
        _ => true,
    }
}

/// The same, with `null` for what is unknown: for those who ask what is the case so far.
pub fn known(value: Json) -> Json {
    match value {
        value if is_unknown(&value) => Json::Null,
        Json::Array(elements) => elements.into_iter().map(known).collect(),
        Json::Object(fields) => Json::Object(fields.into_iter().map(|(name, value)| (name, known(value))).collect()),
        value => value,
    }
}

/// Everything at a path such as `vpc_config.subnet_ids`: collections on the way are gone through, and so is the last.
pub fn at<'a>(value: &'a Json, path: &str) -> Vec<&'a Json> {
    let mut found = vec![value];
    for name in path.split('.') {
        found = found.into_iter().flat_map(flat).filter_map(|value| value.get(name)).collect();
    }
    found.into_iter().flat_map(flat).filter(|value| !value.is_null()).collect()
}

fn flat(value: &Json) -> Vec<&Json> {
    match value {
        Json::Array(elements) => elements.iter().flat_map(flat).collect(),
        value => vec![value],
    }
}

/// A text or number as text: clouds are not of one mind what an id is.
pub fn plain(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_number().map(ToString::to_string))
}

/// The first text at a path; empty, if there is none.
pub fn text<'a>(value: &'a Json, path: &str) -> &'a str {
    at(value, path).into_iter().find_map(Json::as_str).unwrap_or_default()
}

/// Null for no object.
pub fn decode(value: Option<&DynamicValue>, r#type: &Type) -> Result<Json, ValueError> {
    let Some(value) = value else { return Ok(Json::Null) };
    if !value.msgpack.is_empty() {
        return to_json(&rmpv::decode::read_value(&mut &*value.msgpack)?, r#type);
    }
    if value.json.is_empty() { Ok(Json::Null) } else { Ok(serde_json::from_slice(&value.json)?) }
}

pub fn encode(value: &Json, r#type: &Type) -> Result<DynamicValue, ValueError> {
    let mut msgpack = Vec::new();
    rmpv::encode::write_value(&mut msgpack, &to_wire(value, r#type)?).expect("writing to memory does not fail");
    Ok(DynamicValue { msgpack, json: Vec::new() })
}

fn to_wire(value: &Json, r#type: &Type) -> Result<Wire, ValueError> {
    if value.is_null() {
        return Ok(Wire::Nil);
    }
    if is_unknown(value) {
        return Ok(Wire::Ext(0, vec![0]));
    }
    Ok(match (r#type, value) {
        (Type::String, Json::String(text)) => text.as_str().into(),
        (Type::Bool, Json::Bool(truth)) => (*truth).into(),
        (Type::Number, Json::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(integer)) => integer.into(),
            (None, None) => number.to_string().into(),
        },
        (Type::Dynamic, Json::Object(fields)) if fields.contains_key("type") && fields.contains_key("value") => {
            let r#type = Type::from_json(&fields["type"]).map_err(|_| wrong(r#type))?;
            Wire::Array(vec![
                Wire::Binary(r#type.to_json().to_string().into_bytes()),
                to_wire(&fields["value"], &r#type)?,
            ])
        }
        (Type::List(of) | Type::Set(of), Json::Array(elements)) => {
            Wire::Array(elements.iter().map(|element| to_wire(element, of)).collect::<Result<_, _>>()?)
        }
        (Type::Tuple(of), Json::Array(elements)) if of.len() == elements.len() => {
            let elements = elements.iter().zip(of).map(|(element, of)| to_wire(element, of));
            Wire::Array(elements.collect::<Result<_, _>>()?)
        }
        (Type::Map(of), Json::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| Ok((key.as_str().into(), to_wire(value, of)?)));
            Wire::Map(entries.collect::<Result<_, ValueError>>()?)
        }
        (Type::Object(of), Json::Object(fields)) => {
            let fields = of.iter().map(|(name, of)| {
                let value = to_wire(fields.get(name).unwrap_or(&Json::Null), of).map_err(inside(name))?;
                Ok((name.as_str().into(), value))
            });
            Wire::Map(fields.collect::<Result<_, ValueError>>()?)
        }
        _ => return Err(wrong(r#type)),
    })
}

fn to_json(value: &Wire, r#type: &Type) -> Result<Json, ValueError> {
    let elements = |of: &Type| {
        let elements = value.as_array().ok_or_else(|| wrong(r#type))?;
        elements.iter().map(|element| to_json(element, of)).collect::<Result<Json, _>>()
    };
    Ok(match (r#type, value) {
        (_, Wire::Nil) => Json::Null,
        (_, Wire::Ext(..)) => unknown(),
        (Type::String, _) => Json::from(value.as_str().ok_or_else(|| wrong(r#type))?),
        (Type::Bool, _) => Json::from(value.as_bool().ok_or_else(|| wrong(r#type))?),
        (Type::Number, _) => Json::Number(number(value).ok_or_else(|| wrong(r#type))?),
        (Type::Dynamic, Wire::Array(parts)) if parts.len() == 2 => {
            let stated: Json = serde_json::from_slice(bytes(&parts[0]).ok_or_else(|| wrong(r#type))?)?;
            let inner = Type::from_json(&stated).map_err(|_| wrong(r#type))?;
            json!({ "type": stated, "value": to_json(&parts[1], &inner)? })
        }
        (Type::List(of) | Type::Set(of), _) => elements(of)?,
        (Type::Tuple(of), Wire::Array(parts)) if of.len() == parts.len() => {
            parts.iter().zip(of).map(|(element, of)| to_json(element, of)).collect::<Result<Json, _>>()?
        }
        (Type::Map(of), Wire::Map(entries)) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Ok((key.as_str().ok_or_else(|| wrong(r#type))?.to_owned(), to_json(value, of)?)));
            Json::Object(entries.collect::<Result<_, ValueError>>()?)
        }
        (Type::Object(of), Wire::Map(entries)) => {
            let fields = of.iter().map(|(name, of)| {
                let value = entries.iter().find(|(key, _)| key.as_str() == Some(name)).map_or(&Wire::Nil, |(_, v)| v);
                Ok((name.clone(), to_json(value, of).map_err(inside(name))?))
            });
            Json::Object(fields.collect::<Result<_, ValueError>>()?)
        }
        _ => return Err(wrong(r#type)),
    })
}

fn number(value: &Wire) -> Option<Number> {
    match value {
        Wire::Integer(integer) => integer.as_i64().map(Number::from).or_else(|| integer.as_u64().map(Number::from)),
        Wire::String(text) => text.as_str()?.parse().ok(),
        other => other.as_f64().and_then(Number::from_f64),
    }
}

fn bytes(value: &Wire) -> Option<&[u8]> {
    value.as_slice().or_else(|| value.as_str().map(str::as_bytes))
}

fn wrong(r#type: &Type) -> ValueError {
    ValueError::WrongType { attribute: String::new(), wanted: r#type.to_string() }
}

/// Says where it was.
fn inside(name: &str) -> impl FnOnce(ValueError) -> ValueError {
    move |error| match error {
        ValueError::WrongType { attribute, wanted } if attribute.is_empty() => {
            ValueError::WrongType { attribute: name.to_owned(), wanted }
        }
        ValueError::WrongType { attribute, wanted } => {
            ValueError::WrongType { attribute: format!("{name}.{attribute}"), wanted }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type with all that Terraform has, and a value of it.
    fn sample() -> (Type, Json) {
        let text = Box::new(Type::String);
        let fields = [
            ("text", Type::String),
            ("truth", Type::Bool),
            ("number", Type::Number),
            ("list", Type::List(text.clone())),
            ("map", Type::Map(text)),
            ("pair", Type::Tuple(vec![Type::Number, Type::String])),
            ("any", Type::Dynamic),
            ("later", Type::String),
            ("none", Type::Number),
        ];
        let r#type = Type::Object(fields.map(|(name, of)| (name.to_owned(), of)).into());
        let value = json!({
            "text": "ü", "truth": true, "number": 2.5, "list": ["a", unknown()], "map": { "k": "v" }, "pair": [1, "x"],
            "any": { "type": ["list", "number"], "value": [1, 18446744073709551615_u64] }, "later": unknown(), "none": null,
        });
        (r#type, value)
    }

    #[test]
    fn values_cross_the_wire_and_come_back_as_they_were() {
        let (r#type, value) = sample();
        let wire = encode(&value, &r#type).unwrap();
        assert_eq!(decode(Some(&wire), &r#type).unwrap(), value);
        assert!(!is_known(&value));
        assert!(is_known(&known(value)));
    }

    #[test]
    fn what_is_not_of_its_type_is_refused_with_its_place() {
        let r#type = Type::Object(vec![("outer".to_owned(), Type::Object(vec![("inner".to_owned(), Type::Number)]))]);
        let error = encode(&json!({ "outer": { "inner": "text" } }), &r#type).unwrap_err();
        assert_eq!(error.to_string(), "the attribute outer.inner is not a number");
    }

    /// Whatever bytes come, nothing worse happens than an error.
    #[test]
    fn broken_bytes_are_errors() {
        let (r#type, value) = sample();
        let whole = encode(&value, &r#type).unwrap().msgpack;
        for cut in 1..whole.len() {
            let value = DynamicValue { msgpack: whole[..cut].to_vec(), json: Vec::new() };
            assert!(decode(Some(&value), &r#type).is_err(), "{cut} of {}", whole.len());
        }
        for at in 0..whole.len() {
            for byte in [0x00, 0xc1, 0xdf, 0xff] {
                let mut msgpack = whole.clone();
                msgpack[at] = byte;
                let _read = decode(Some(&DynamicValue { msgpack, json: Vec::new() }), &r#type);
            }
        }
    }

    #[test]
    fn paths_go_through_collections() {
        let value = json!({ "a": [{ "b": ["x", null] }, { "b": ["y"] }], "c": null });
        assert_eq!(at(&value, "a.b"), [&json!("x"), &json!("y")]);
        assert!(at(&value, "c").is_empty() && at(&value, "a.z").is_empty() && at(&value, "").is_empty());
        assert_eq!(text(&value, "a.b"), "x");
    }
}
