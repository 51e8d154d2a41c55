//! What things may be called. One rule each, with an error that says what would be right.

use std::collections::BTreeMap;

use thiserror::Error;

/// Key-value pairs to select resources by.
pub type Labels = BTreeMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {found:?} is not {expected}")]
pub struct InvalidName {
    pub field: String,
    pub expected: &'static str,
    pub found: String,
}

const MAX_LABELS: usize = 64;
const MAX_FINALIZERS: usize = 32;
const MAX_ANNOTATION_BYTES: usize = 64 * 1024;

fn check(field: &str, text: &str, expected: &'static str, legal: bool) -> Result<(), InvalidName> {
    if legal {
        return Ok(());
    }
    let found = text.chars().take(100).collect();
    Err(InvalidName { field: field.into(), expected, found })
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_bounded_by(text: &str, max: usize, edge: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    bytes.len() <= max && edge(*first) && edge(*last) && bytes.iter().all(|byte| inner(*byte))
}

fn is_lower_alnum(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_dns_label(text: &str) -> bool {
    is_bounded_by(text, 63, is_lower_alnum, |byte| is_lower_alnum(byte) || byte == b'-')
}

/// Names of resources, tenants and tokens: a DNS label, as in Kubernetes.
pub fn check_name(field: &str, name: &str) -> Result<(), InvalidName> {
    check(
        field,
        name,
        "a DNS label (1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or digit)",
        is_dns_label(name),
    )
}

/// Names of resource types: `DatabaseCluster`.
pub fn check_type_name(field: &str, name: &str) -> Result<(), InvalidName> {
    let legal = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && is_bounded_by(name, 63, is_alnum, |byte| is_alnum(byte) || byte == b'-');
    check(field, name, "a type name (1 to 63 letters, digits and '-', beginning with a letter)", legal)
}

/// Versions of resource types, as Kubernetes writes them: `v1`, `v1beta1`, `v2`.
pub fn check_version(field: &str, version: &str) -> Result<(), InvalidName> {
    let legal = version.starts_with('v')
        && version.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
        && is_bounded_by(version, 63, is_lower_alnum, |byte| is_lower_alnum(byte) || byte == b'.' || byte == b'-');
    check(field, version, "a version such as v1, v1beta1 or v1.2.0", legal)
}

/// Names of plugins: `github_actions`.
pub fn check_plugin_name(field: &str, name: &str) -> Result<(), InvalidName> {
    let legal = is_bounded_by(name, 63, is_lower_alnum, |byte| is_lower_alnum(byte) || byte == b'_' || byte == b'-');
    check(field, name, "a plugin name such as github_actions (1 to 63 of a-z, 0-9, '_' and '-')", legal)
}

fn is_label_name(text: &str) -> bool {
    is_bounded_by(text, 63, is_alnum, |byte| is_alnum(byte) || matches!(byte, b'-' | b'_' | b'.'))
}

pub(crate) fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => prefix.len() <= 253 && prefix.split('.').all(is_dns_label) && is_label_name(name),
        None => is_label_name(key),
    }
}

pub(crate) fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_label_name(value)
}

/// Labels follow Kubernetes' rules, so that its selectors mean the same here.
pub fn check_labels(labels: &Labels) -> Result<(), InvalidName> {
    if labels.len() > MAX_LABELS {
        return check("labels", &labels.len().to_string(), "at most 64 labels", false);
    }
    for (key, value) in labels {
        check(
            "labels",
            key,
            "a label key ([prefix/]name, the name 1 to 63 letters, digits, '-', '_' or '.')",
            is_label_key(key),
        )?;
        check(
            &format!("labels.{key}"),
            value,
            "a label value (at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit)",
            is_label_value(value),
        )?;
    }
    Ok(())
}

/// Finalizers are named as labels are: whose they are, and what they wait for.
pub fn check_finalizers(finalizers: &[String]) -> Result<(), InvalidName> {
    let field = "finalizers";
    check(field, &finalizers.len().to_string(), "at most 32 finalizers", finalizers.len() <= MAX_FINALIZERS)?;
    for (at, name) in finalizers.iter().enumerate() {
        check(
            field,
            name,
            "a finalizer's name ([prefix/]name such as backup.example/veto, at most 253 characters)",
            name.len() <= 253 && is_label_key(name),
        )?;
        check(field, name, "named once", !finalizers.iter().take(at).any(|earlier| earlier == name))?;
    }
    Ok(())
}

/// Annotations hold free text under label-like keys, within a total size.
pub fn check_annotations(annotations: &Labels) -> Result<(), InvalidName> {
    for key in annotations.keys() {
        check("annotations", key, "an annotation key ([prefix/]name, as a label key)", is_label_key(key))?;
    }
    let bytes: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    check("annotations", &format!("{bytes} bytes"), "at most 64 KiB in all", bytes <= MAX_ANNOTATION_BYTES)
}
