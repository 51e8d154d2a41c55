//! A URL's path, put together from text that its author wrote and values that somebody else supplied. A value stays one
//! segment: it cannot climb out of the path it is put into.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::expr::{ExprError, Scope, fill};

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Renders a path. What an expression gives is encoded, unless it is the whole path.
pub fn render_path(path: &str, scope: &Scope) -> Result<String, String> {
    let mut climbing = None;
    let rendered = fill(path, scope, |value| {
        let text = as_text(value);
        if text.is_empty() || text.chars().all(|character| character == '.') {
            climbing = Some(text.clone());
        }
        utf8_percent_encode(&text, SEGMENT).to_string()
    });
    let rendered = rendered.map_err(|error: ExprError| error.to_string())?;
    match climbing {
        Some(text) => Err(format!("`{text}` cannot be a part of the path `{path}`")),
        None => Ok(as_text(rendered)),
    }
}

pub fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
