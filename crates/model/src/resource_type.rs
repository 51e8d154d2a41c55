//! A resource type: a name, a version, and the schema that specs of that type must satisfy.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::ids::TypeId;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResourceType {
    pub id: TypeId,
    #[schema(example = "DatabaseCluster")]
    pub name: String,
    #[schema(example = "v1")]
    pub version: String,
    pub description: String,
    /// An OpenAPI v3 schema.
    #[schema(value_type = Object)]
    pub schema: Value,
    /// Plugin configuration for all resources of the type; a resource's own is laid over it.
    #[schema(value_type = Object)]
    pub plugin_config: Value,
    /// The tenant it belongs to; `fleet` where every tenant may use it.
    #[schema(example = "default")]
    pub tenant: String,
    /// Changes with every change; the `ETag`.
    pub resource_version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
