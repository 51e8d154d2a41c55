//! A secret, as far as it can be known: never its value.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SecretInfo {
    pub id: i64,
    #[schema(example = "github-token")]
    pub name: String,
    /// The hosts it may be sent to; empty means any.
    pub hosts: Vec<String>,
    pub resource_version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
