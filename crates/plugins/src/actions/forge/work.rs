//! What a forge is asked to do, as values.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Of a request's parts, in the order given: the same parts, the same digest.
pub(crate) fn digest(parts: &Value) -> String {
    let hash = Sha256::digest(parts.to_string().as_bytes());
    hash.iter().take(16).fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A name or a number as text; none for null.
pub(crate) fn scalar(value: &Value) -> Result<Option<String>, &'static str> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => Ok(Some(text.trim().to_owned())),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err("is neither text nor a number"),
    }
}
