//! Secrets by reference: `{"secret": "name"}` stands for a value that is kept elsewhere, opened for one call and struck out
//! of everything that is written down.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::disguise::Disguises;

const STRUCK: &str = "***";

pub struct Secret {
    pub value: SecretString,
    /// The hosts it may be sent to; empty means any that the door lets through.
    pub hosts: Vec<String>,
}

/// The opened secrets of one call, by name.
#[derive(Default)]
pub struct Secrets(pub BTreeMap<String, Secret>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Secrets {
    /// The text without any secret's value, however encoded.
    pub fn redact(&self, text: &str) -> String {
        Redaction::of(self).text(text.to_owned())
    }

    /// Strikes the secrets' values out of every string, key and number.
    pub fn redact_value(&self, value: &mut Value) {
        if !self.0.is_empty() {
            Redaction::of(self).value(value);
        }
    }
}

/// The spellings of all secrets, worked out once for a whole document.
struct Redaction(Vec<Disguises>);

impl Redaction {
    fn of(secrets: &Secrets) -> Redaction {
        Redaction(secrets.0.values().map(|secret| Disguises::of(&secret.value)).collect())
    }

    fn text(&self, text: String) -> String {
        self.0.iter().fold(text, |text, disguises| disguises.replaced(text, STRUCK))
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                let entries = std::mem::take(map).into_iter().map(|(key, mut value)| {
                    self.value(&mut value);
                    (self.text(key), value)
                });
                *map = entries.collect();
            }
            Value::Number(number) => {
                let text = number.to_string();
                if self.0.iter().any(|disguises| disguises.occur_in(&text)) {
                    *value = Value::String(self.text(text));
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }
}

/// The secret that a value stands for, if it is a reference.
pub fn reference(value: &Value) -> Option<&str> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.get("secret").and_then(Value::as_str)
}

/// The value with the secrets in place of their references. A reference to one that is not there stays what it is.
pub fn opened(value: &Value, secrets: &Secrets) -> Value {
    match (reference(value).and_then(|name| secrets.0.get(name)), value) {
        (Some(secret), _) => Value::String(secret.value.expose_secret().to_owned()),
        (None, Value::Array(items)) => items.iter().map(|item| opened(item, secrets)).collect(),
        (None, Value::Object(map)) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), opened(value, secrets))).collect())
        }
        (None, other) => other.clone(),
    }
}

/// The names of all secrets that a value refers to.
pub fn references(value: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(value, &mut names);
    names
}

fn collect(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => match reference(value) {
            Some(name) => {
                names.insert(name.to_owned());
            }
            None => map.values().for_each(|value| collect(value, names)),
        },
        Value::Array(items) => items.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}
