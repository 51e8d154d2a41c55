//! Between JSON and CEL. By hand, because numbers must stay the integers they look like, and because the order of a map's
//! keys must not differ from run to run: requests are compared by their digest.

use std::collections::{BTreeMap, HashMap};

use cel::Value as Cel;
use serde_json::{Map, Number, Value};

pub fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(bool) => Cel::Bool(*bool),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Cel::Int(int),
            (None, Some(uint)) => Cel::UInt(uint),
            (None, None) => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::String(text.clone().into()),
        Value::Array(items) => Cel::List(items.iter().map(to_cel).collect::<Vec<_>>().into()),
        Value::Object(map) => {
            let map: HashMap<String, Cel> = map.iter().map(|(key, value)| (key.clone(), to_cel(value))).collect();
            map.into()
        }
    }
}

/// The other way round; the error says what has no JSON.
pub fn to_json(value: &Cel) -> Result<Value, String> {
    Ok(match value {
        Cel::Null => Value::Null,
        Cel::Bool(bool) => Value::Bool(*bool),
        Cel::Int(int) => Value::from(*int),
        Cel::UInt(uint) => Value::from(*uint),
        Cel::Float(float) => Number::from_f64(*float).map(Value::Number).ok_or("its result is not a finite number")?,
        Cel::String(text) => Value::String(text.as_ref().clone()),
        Cel::List(items) => Value::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        Cel::Map(map) => {
            let sorted: BTreeMap<String, &Cel> = map.map.iter().map(|(key, value)| (key.to_string(), value)).collect();
            let object: Result<Map<_, _>, String> =
                sorted.into_iter().map(|(key, value)| Ok((key, to_json(value)?))).collect();
            Value::Object(object?)
        }
        other => return Err(format!("its result is a {}, which JSON does not have", other.type_of())),
    })
}
