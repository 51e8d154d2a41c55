//! One object of the cloud, as its file holds it. Where it stands is a function of the file and the clock alone, so an
//! object finishes coming and going whether or not somebody waits for it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Address, Moment};
use crate::value;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Object {
    #[serde(flatten)]
    pub address: Address,
    pub region: String,
    /// As its provider calls it; not all types have one.
    pub id: String,
    /// The Kubernetes cluster that it is, by the name of its host. What is in the cluster goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub created_at: Moment,
    pub ready_at: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<Moment>,
    pub attributes: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Creating,
    Ready,
    Deleting,
    Gone,
}

impl Object {
    pub fn status(&self, now: Moment) -> Status {
        match self.gone_at {
            Some(gone_at) if gone_at <= now => Status::Gone,
            Some(_) => Status::Deleting,
            None if self.ready_at <= now => Status::Ready,
            None => Status::Creating,
        }
    }

    /// What people call it; its id, where nobody gave it a name.
    pub fn name(&self) -> &str {
        let names = ["name", "metadata.name", "label", "bucket", "tags.Name"];
        let named = names.into_iter().map(|path| value::text(&self.attributes, path)).find(|name| !name.is_empty());
        named.unwrap_or(if self.id.is_empty() { &self.address.key } else { &self.id })
    }
}
