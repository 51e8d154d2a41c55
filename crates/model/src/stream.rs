//! The lines that Terraform prints with `-json`. Later versions add types and fields, and plugins write to the same stream:
//! what is not understood is passed over, never an error.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::explain::Diagnostic;

/// One line. `kind` says which of the other fields are there.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct TerraformLine {
    #[serde(default, rename = "@level")]
    pub level: String,
    /// What it would have printed for a person.
    #[serde(default, rename = "@message")]
    pub message: String,
    #[serde(default, rename = "@timestamp")]
    pub timestamp: String,
    /// For instance `apply_start` or `diagnostic`.
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default, deserialize_with = "lenient")]
    pub hook: Option<Hook>,
    #[serde(default, deserialize_with = "lenient")]
    pub diagnostic: Option<Diagnostic>,
    #[serde(default, deserialize_with = "lenient")]
    pub change: Option<LineChange>,
    #[serde(default, deserialize_with = "lenient")]
    pub changes: Option<LineCounts>,
    /// By name: `value`, `type`, `sensitive`.
    #[serde(default, deserialize_with = "lenient")]
    pub outputs: Option<Map<String, Value>>,
}

/// What is being done to one object.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Hook {
    #[serde(default)]
    pub resource: LineResource,
    #[serde(default)]
    pub action: String,
    #[serde(default)]
    pub id_key: Option<String>,
    #[serde(default)]
    pub id_value: Option<String>,
    #[serde(default)]
    pub elapsed_seconds: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct LineResource {
    #[serde(default)]
    pub addr: String,
    #[serde(default)]
    pub module: String,
    #[serde(default)]
    pub resource_type: String,
    #[serde(default)]
    pub resource_name: String,
}

/// What is planned for one object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct LineChange {
    #[serde(default)]
    pub resource: LineResource,
    #[serde(default)]
    pub action: String,
    #[serde(default)]
    pub reason: Option<String>,
}

/// How many changes there are, or were.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct LineCounts {
    #[serde(default)]
    pub add: i64,
    #[serde(default)]
    pub change: i64,
    #[serde(default)]
    pub remove: i64,
    #[serde(default)]
    pub import: i64,
    /// `plan`, `apply` or `destroy`.
    #[serde(default)]
    pub operation: String,
}

/// How far the work on one object has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyStage {
    Started,
    Progressed,
    Completed,
    Errored,
}

/// Something happened to one object during an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyEvent {
    pub stage: ApplyStage,
    pub address: String,
    /// `create`, `update` or `delete`.
    pub action: String,
    pub id: Option<String>,
}

impl TerraformLine {
    /// Nothing where the line is no JSON object: plugins and shells print what they like.
    pub fn parse(line: &str) -> Option<TerraformLine> {
        let line = line.trim();
        if !line.starts_with('{') {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    /// What it says of the work on an object; nothing of data, which is only read.
    pub fn apply_event(&self) -> Option<ApplyEvent> {
        let stage = match self.kind.as_str() {
            "apply_start" => ApplyStage::Started,
            "apply_progress" => ApplyStage::Progressed,
            "apply_complete" => ApplyStage::Completed,
            "apply_errored" => ApplyStage::Errored,
            _ => return None,
        };
        let hook = self.hook.as_ref().filter(|hook| !hook.resource.addr.is_empty())?;
        if ["read", "noop", "no-op"].contains(&hook.action.as_str()) {
            return None;
        }
        let id = hook.id_value.clone().filter(|id| !id.is_empty());
        Some(ApplyEvent { stage, address: hook.resource.addr.clone(), action: hook.action.clone(), id })
    }
}

/// A field in a form that nobody knew of is as good as absent.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completed_creation_has_its_id() {
        let line = r#"{"@level":"info","@message":"terraform_data.node[1]: Creation complete after 0s [id=38ead876]","@module":"terraform.ui","@timestamp":"2026-11-15T14:52:05.162924Z","hook":{"resource":{"addr":"terraform_data.node[1]","module":"","resource":"terraform_data.node[1]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"node","resource_key":1},"action":"create","id_key":"id","id_value":"38ead876","elapsed_seconds":0},"type":"apply_complete"}"#;
        let event = TerraformLine::parse(line).expect("a line").apply_event().expect("an event");
        assert_eq!(
            event,
            ApplyEvent {
                stage: ApplyStage::Completed,
                address: "terraform_data.node[1]".into(),
                action: "create".into(),
                id: Some("38ead876".into())
            }
        );
    }

    #[test]
    fn a_read_is_no_change() {
        let line = r#"{"hook":{"resource":{"addr":"data.aws_ami.x"},"action":"read"},"type":"apply_start"}"#;
        assert_eq!(TerraformLine::parse(line).expect("a line").apply_event(), None);
    }

    #[test]
    fn a_diagnostic_is_kept_whole() {
        let line = r#"{"@level":"error","@message":"Error: x","type":"diagnostic","diagnostic":{"severity":"error","summary":"x","detail":"y","address":"aws_vpc.a"}}"#;
        let diagnostic = TerraformLine::parse(line).expect("a line").diagnostic.expect("a diagnostic");
        assert_eq!((diagnostic.summary.as_str(), diagnostic.address.as_deref()), ("x", Some("aws_vpc.a")));
    }

    #[test]
    fn what_is_strange_is_passed_over() {
        for line in ["", "plain text", "[1]", "{", "null", "{\"@level\": 3}"] {
            assert_eq!(TerraformLine::parse(line), None, "{line}");
        }
        let strange = r#"{"type":"novelty","hook":7,"changes":{"add":"many"},"outputs":[],"more":{"x":1}}"#;
        let line = TerraformLine::parse(strange).expect("a line");
        assert_eq!((line.kind.as_str(), line.hook, line.changes, line.outputs), ("novelty", None, None, None));
    }
}
