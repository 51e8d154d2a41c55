//! An alert: a failure that a person should know of at once. It stands until something goes well or the resource is gone.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::ids::ResourceId;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Alert {
    pub resource_id: ResourceId,
    pub resource_name: String,
    pub resource_type_name: String,
    pub since: Timestamp,
    /// Why, and what can be done about it.
    pub failure: Failure,
    /// What exists outside, or may, one line each.
    pub holds: Vec<String>,
}
