//! One object of the cloud, as its file holds it. Where it stands is a function of the file and the clock alone, so an
//! object finishes coming and going whether or not somebody waits for it.

use serde::{Deserialize, Serialize};

use super::Moment;
use crate::value::Values;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Object {
    pub r#type: String,
    pub id: String,
    pub name: String,
    pub created_at: Moment,
    pub ready_at: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<Moment>,
    pub attributes: Values,
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
}
