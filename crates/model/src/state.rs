//! What a Terraform state says of itself and of what it knows. Read here only as far as it must be told whether a state may
//! follow another, and which objects somebody looks after.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use utoipa::ToSchema;

use crate::ids::JobId;

/// The only version in use since Terraform 0.12.
const VERSION: u64 = 4;

/// Which state it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHead {
    /// Grows with every change.
    pub serial: u64,
    /// Given when it was begun, and kept for good.
    pub lineage: String,
    pub terraform_version: String,
    /// How many objects it looks after: managed ones, deposed ones included.
    pub resources: usize,
}

/// What there is to know of a version of a state without opening it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateVersion {
    pub id: i64,
    /// The job that wrote it; null where a person brought it.
    pub job_id: Option<JobId>,
    /// Who brought it, where no job did: `token:NAME` or `local`.
    pub author: Option<String>,
    pub serial: i64,
    pub lineage: String,
    /// Of its text, in hexadecimal.
    pub sha256: String,
    /// How many objects it looks after.
    pub objects: i64,
    pub created_at: Timestamp,
}

/// One object that a state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateObject {
    /// As Terraform prints it: `module.net["a"].aws_subnet.private[0]`.
    pub address: String,
    /// For instance `aws_subnet`.
    pub kind: String,
    pub id: Option<String>,
    /// Only read, and made by somebody else.
    pub is_data: bool,
    /// To be replaced at the next apply.
    pub tainted: bool,
    /// Replaced already and not deleted yet: the key under which it waits.
    pub deposed: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub head: StateHead,
    pub objects: Vec<StateObject>,
}

/// Why a state cannot be used, or cannot follow the one before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Corruption {
    #[error("the state is no JSON of the known form: {0}")]
    Unreadable(String),
    #[error("the state has format version {0}, and only version {VERSION} is understood")]
    Version(u64),
    #[error("the state is encrypted")]
    Encrypted,
    #[error("the state has lineage {new}, and the one before it {old}: it is of something else")]
    OtherLineage { old: String, new: String },
    #[error("the state has serial {new}, and the one before it {old}: it is older")]
    SerialBackwards { old: u64, new: u64 },
    #[error("the state has serial {serial} as the one before it, and other contents")]
    SameSerial { serial: u64 },
    #[error("what is stored is not what was written: its digest is another")]
    Digest,
    #[error("what is stored cannot be unsealed")]
    Sealed,
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    terraform_version: String,
    #[serde(default)]
    serial: u64,
    #[serde(default)]
    lineage: String,
    #[serde(default)]
    resources: Vec<WrittenResource>,
}

#[derive(Deserialize)]
struct WrittenResource {
    #[serde(default)]
    module: String,
    #[serde(default)]
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    instances: Vec<WrittenInstance>,
}

#[derive(Deserialize)]
struct WrittenInstance {
    #[serde(default)]
    index_key: Value,
    #[serde(default)]
    status: String,
    #[serde(default)]
    deposed: Option<String>,
    #[serde(default)]
    attributes: Value,
    #[serde(default)]
    attributes_flat: Value,
}

impl State {
    pub fn read(text: &str) -> Result<State, Corruption> {
        let unreadable = |error: serde_json::Error| Corruption::Unreadable(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(unreadable)?;
        if value.get("encrypted_data").is_some() {
            return Err(Corruption::Encrypted);
        }
        // Another version may have another form: what is wrong with it is its version.
        match value["version"].as_u64() {
            Some(VERSION) => {}
            Some(version) => return Err(Corruption::Version(version)),
            None => return Err(Corruption::Unreadable("it has no version".into())),
        }
        let written: Written = serde_json::from_value(value).map_err(unreadable)?;
        let objects: Vec<StateObject> = written.resources.iter().flat_map(WrittenResource::objects).collect();
        let head = StateHead {
            serial: written.serial,
            lineage: written.lineage,
            terraform_version: written.terraform_version,
            resources: objects.iter().filter(|object| !object.is_data).count(),
        };
        Ok(State { head, objects })
    }
}

impl StateHead {
    pub fn of(text: &str) -> Result<StateHead, Corruption> {
        let head = State::read(text)?.head;
        // No database keeps all of them, and Terraform makes none.
        if head.lineage.contains(char::is_control) {
            return Err(Corruption::Unreadable("no state has such a lineage".into()));
        }
        Ok(head)
    }
}

/// The same state under another serial, all else byte for byte: as a version that is brought back needs it.
pub fn with_serial(text: &str, serial: u64) -> Result<String, Corruption> {
    let unreadable = |error: serde_json::Error| Corruption::Unreadable(error.to_string());
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).map_err(unreadable)?;
    fields.insert("serial".into(), to_raw_value(&serial).map_err(unreadable)?);
    serde_json::to_string(&fields).map_err(unreadable)
}

/// Whether `new` may be stored after `old`. Whether two of the same serial have the same content, only their bytes can tell.
pub fn check_successor(old: &StateHead, new: &StateHead) -> Result<(), Corruption> {
    if old.lineage != new.lineage && !old.lineage.is_empty() {
        return Err(Corruption::OtherLineage { old: old.lineage.clone(), new: new.lineage.clone() });
    }
    if new.serial < old.serial {
        return Err(Corruption::SerialBackwards { old: old.serial, new: new.serial });
    }
    Ok(())
}

impl WrittenResource {
    fn objects(&self) -> impl Iterator<Item = StateObject> {
        self.instances.iter().map(|instance| StateObject {
            address: format!("{}{}", self.address(), key(&instance.index_key)),
            kind: self.kind.clone(),
            id: instance.id(),
            is_data: self.mode == "data",
            tainted: instance.status == "tainted",
            deposed: instance.deposed.clone().filter(|key| !key.is_empty()),
        })
    }

    fn address(&self) -> String {
        let module = if self.module.is_empty() { String::new() } else { format!("{}.", self.module) };
        let data = if self.mode == "data" { "data." } else { "" };
        format!("{module}{data}{}.{}", self.kind, self.name)
    }
}

impl WrittenInstance {
    fn id(&self) -> Option<String> {
        match self.attributes.get("id").or_else(|| self.attributes_flat.get("id"))? {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        }
    }
}

fn key(index: &Value) -> String {
    match index {
        Value::String(name) => format!("[{}]", quoted(name)),
        Value::Number(number) => format!("[{number}]"),
        _ => String::new(),
    }
}

/// As Terraform's language quotes it: templates would otherwise begin in the middle of a key.
fn quoted(name: &str) -> String {
    let escaped = name
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t")
        .replace("${", "$${")
        .replace("%{", "%%{");
    format!("\"{escaped}\"")
}
