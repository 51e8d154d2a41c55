//! A runner that is a process of its own, as an operator enrolled it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::RunnerId;
use crate::name::Labels;

/// Its token is shown once, when it is enrolled, and never stored. What is fixed then stays so: to change it, enrol another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Runner {
    pub id: RunnerId,
    #[schema(example = "eu-1")]
    pub name: String,
    /// Whose jobs it may do.
    pub tenants: Vec<String>,
    /// A job that asks for labels is done only by a runner that has them all.
    pub labels: Labels,
    /// How many jobs it has.
    pub jobs: i64,
    pub created_at: Timestamp,
    /// To within a minute or so.
    pub last_seen_at: Option<Timestamp>,
}
