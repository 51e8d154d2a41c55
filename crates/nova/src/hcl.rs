//! Terraform's language, written so that a person can read it and `terraform fmt` has nothing to change.

use serde_json::Value;

/// A literal, on one line.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".into(),
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{} = {}", name(key), literal(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A string in which nothing is evaluated.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    // Both would begin a template.
    quoted.replace("${", "$${").replace("%{", "%%{")
}

/// Attributes of a block, their signs below each other.
pub fn attributes(attributes: &[(String, String)]) -> String {
    let width = attributes.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    attributes.iter().map(|(name, value)| format!("  {name:width$} = {value}\n")).collect()
}

pub fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')
}

fn name(key: &str) -> String {
    if is_name(key) { key.to_owned() } else { quoted(key) }
}

/// The type of a variable, from its JSON Schema.
pub fn type_of(schema: &Value) -> String {
    match schema["type"].as_str() {
        Some("string") => "string".into(),
        Some("integer" | "number") => "number".into(),
        Some("boolean") => "bool".into(),
        Some("array") => format!("list({})", type_of(&schema["items"])),
        Some("object") if schema["properties"].is_object() => {
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let properties = schema["properties"].as_object().into_iter().flatten();
            let property = |(key, value): (&String, &Value)| {
                let kind = type_of(value);
                let optional = !required.contains(&key.as_str());
                format!("{} = {}", name(key), if optional { format!("optional({kind})") } else { kind })
            };
            format!("object({{ {} }})", properties.map(property).collect::<Vec<_>>().join(", "))
        }
        Some("object") if schema["additionalProperties"].is_object() => {
            format!("map({})", type_of(&schema["additionalProperties"]))
        }
        _ => "any".into(),
    }
}
