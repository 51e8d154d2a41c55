//! The messages of Terraform's provider protocol 6, as far as this provider uses them. They are written out by hand so
//! that a build needs no protobuf compiler; fields that are not listed are skipped by the decoder, as protobuf wants it.
//! The numbers are those of `tfplugin6.proto`; messages of the same shape share one type.

use std::collections::HashMap;

use prost::{Message, Oneof};

/// A value of Terraform's type system, as MessagePack or as JSON.
#[derive(Clone, PartialEq, Message)]
pub struct DynamicValue {
    #[prost(bytes = "vec", tag = "1")]
    pub msgpack: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub json: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Diagnostic {
    #[prost(int32, tag = "1")]
    pub severity: i32,
    #[prost(string, tag = "2")]
    pub summary: String,
    #[prost(string, tag = "3")]
    pub detail: String,
    #[prost(message, optional, tag = "4")]
    pub attribute: Option<AttributePath>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AttributePath {
    #[prost(message, repeated, tag = "1")]
    pub steps: Vec<Step>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Step {
    #[prost(oneof = "Selector", tags = "1")]
    pub selector: Option<Selector>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Selector {
    #[prost(string, tag = "1")]
    AttributeName(String),
}

#[derive(Clone, PartialEq, Message)]
pub struct Schema {
    #[prost(int64, tag = "1")]
    pub version: i64,
    #[prost(message, optional, tag = "2")]
    pub block: Option<Block>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Block {
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<Attribute>,
    #[prost(message, repeated, tag = "3")]
    pub block_types: Vec<NestedBlock>,
}

#[derive(Clone, PartialEq, Message)]
pub struct NestedBlock {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub block: Option<Block>,
    #[prost(int32, tag = "3")]
    pub nesting: i32,
    #[prost(int64, tag = "4")]
    pub min_items: i64,
    #[prost(int64, tag = "5")]
    pub max_items: i64,
}

/// What an attribute holds whose parts have flags of their own.
#[derive(Clone, PartialEq, Message)]
pub struct NestedType {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<Attribute>,
    #[prost(int32, tag = "3")]
    pub nesting: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    /// The type, as JSON.
    #[prost(bytes = "vec", tag = "2")]
    pub r#type: Vec<u8>,
    #[prost(string, tag = "3")]
    pub description: String,
    #[prost(bool, tag = "4")]
    pub required: bool,
    #[prost(bool, tag = "5")]
    pub optional: bool,
    #[prost(bool, tag = "6")]
    pub computed: bool,
    #[prost(bool, tag = "7")]
    pub sensitive: bool,
    #[prost(bool, tag = "9")]
    pub deprecated: bool,
    #[prost(message, optional, tag = "10")]
    pub nested_type: Option<NestedType>,
    #[prost(bool, tag = "11")]
    pub write_only: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct ServerCapabilities {
    #[prost(bool, tag = "2")]
    pub get_provider_schema_optional: bool,
}

/// Also the request and response of whatever carries nothing.
#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub struct ProviderSchema {
    #[prost(message, optional, tag = "1")]
    pub provider: Option<Schema>,
    #[prost(map = "string, message", tag = "2")]
    pub resource_schemas: HashMap<String, Schema>,
    #[prost(map = "string, message", tag = "3")]
    pub data_source_schemas: HashMap<String, Schema>,
    #[prost(message, optional, tag = "6")]
    pub server_capabilities: Option<ServerCapabilities>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ValidateProviderRequest {
    #[prost(message, optional, tag = "1")]
    pub config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ValidateProviderResponse {
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ConfigureRequest {
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

/// Asks to validate the configuration of a resource or data source, or to read a data source.
#[derive(Clone, PartialEq, Message)]
pub struct ConfigRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

/// Answers every request whose only result is whether it went well.
#[derive(Clone, PartialEq, Message)]
pub struct DiagnosticsResponse {
    #[prost(message, repeated, tag = "1")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RawState {
    #[prost(bytes = "vec", tag = "1")]
    pub json: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct UpgradeRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "3")]
    pub raw_state: Option<RawState>,
}

/// Answers `UpgradeResourceState` and `ReadDataSource`.
#[derive(Clone, PartialEq, Message)]
pub struct StateResponse {
    #[prost(message, optional, tag = "1")]
    pub state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReadRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub current_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReadResponse {
    #[prost(message, optional, tag = "1")]
    pub new_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PlanRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub proposed_new_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub config: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub prior_private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PlanResponse {
    #[prost(message, optional, tag = "1")]
    pub planned_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub requires_replace: Vec<AttributePath>,
    #[prost(bytes = "vec", tag = "3")]
    pub planned_private: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub diagnostics: Vec<Diagnostic>,
    /// Terraform then minds less how a provider fills in defaults; most real ones ask for it.
    #[prost(bool, tag = "5")]
    pub legacy_type_system: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct ApplyRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub planned_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub planned_private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ApplyResponse {
    #[prost(message, optional, tag = "1")]
    pub new_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "2")]
    pub private: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(bool, tag = "4")]
    pub legacy_type_system: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImportRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(string, tag = "2")]
    pub id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImportedResource {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImportResponse {
    #[prost(message, repeated, tag = "1")]
    pub imported_resources: Vec<ImportedResource>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

impl Diagnostic {
    const ERROR: i32 = 1;

    pub fn error(summary: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Self::ERROR, summary: summary.into(), ..Diagnostic::default() }
    }

    pub fn at(self, attribute: &str) -> Diagnostic {
        Diagnostic { attribute: Some(AttributePath::to(attribute)), ..self }
    }
}

impl AttributePath {
    pub fn to(attribute: &str) -> AttributePath {
        AttributePath { steps: vec![Step { selector: Some(Selector::AttributeName(attribute.to_owned())) }] }
    }
}
