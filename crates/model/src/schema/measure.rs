//! The size of a value, found without recursion: what is measured has not been bounded yet.

use serde_json::Value;

pub(super) struct Measure {
    pub bytes: usize,
    pub nodes: usize,
    pub depth: usize,
}

/// Bytes as compact JSON, values, and levels of nesting (a scalar has none).
pub(super) fn measure(value: &Value) -> Measure {
    let mut total = Measure { bytes: 0, nodes: 0, depth: 0 };
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        total.nodes += 1;
        total.bytes += match value {
            Value::Null => 4,
            Value::Bool(flag) => 5 - usize::from(*flag),
            Value::Number(number) => number.to_string().len(),
            Value::String(text) => string_bytes(text),
            Value::Array(items) => {
                pending.extend(items.iter().map(|item| (item, depth + 1)));
                2 + items.len().saturating_sub(1)
            }
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
                2 + members.len().saturating_sub(1) + members.keys().map(|key| string_bytes(key) + 1).sum::<usize>()
            }
        };
        let levels = depth + usize::from(value.is_array() || value.is_object());
        total.depth = total.depth.max(levels);
    }
    total
}

/// Drops a value level by level: the ordinary way recurses, and a value that is too deep would overflow the stack.
pub(super) fn dismantle(value: Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}

pub(super) fn string_bytes(text: &str) -> usize {
    let escapes: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    text.len() + escapes + 2
}

/// A text that two values share exactly when JSON Schema calls them equal: `1` and `1.0` are, and so are objects whatever
/// the order of their keys.
pub(super) fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => text.push('0'),
            Some(float) if number.is_f64() && float.fract() == 0.0 => text.push_str(&format!("{float:.0}")),
            _ => text.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (key, member) in members {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                canonical(member, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}
