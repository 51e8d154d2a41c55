//! What is remembered of the thing that was made.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::Verb;

/// The plugin's memory of one resource. Expressions see it as `memory`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    pub exists: bool,
    pub id: Value,
    /// Of the request that was answered last.
    pub digest: String,
    /// How it came to be, for `holds`.
    pub made_by: String,
    /// A request that was about to be sent, until a definite answer to it is known.
    pub pending: Option<Pending>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub verb: Verb,
    pub key: String,
    pub digest: String,
    /// It was sent, and what became of it is not known.
    #[serde(default)]
    pub unanswered: bool,
}

impl Held {
    pub fn read(memory: &Value) -> Held {
        serde_json::from_value(memory.clone()).unwrap_or_default()
    }

    pub fn memory(&self) -> Value {
        json!(self)
    }

    pub fn holds(&self) -> Vec<String> {
        if !self.exists {
            return Vec::new();
        }
        vec![match &self.id {
            Value::Null => self.made_by.clone(),
            Value::String(id) => format!("{} -> id {id}", self.made_by),
            id => format!("{} -> id {id}", self.made_by),
        }]
    }
}
