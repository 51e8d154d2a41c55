//! A tenant: whose resources these are. Every row of the store belongs to one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::TenantId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tenant {
    pub id: TenantId,
    #[schema(example = "acme")]
    pub name: String,
    pub description: String,
    pub created_at: Timestamp,
}

/// The tenant in which something is done. No query of the store is without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub id: TenantId,
    pub name: String,
}

impl Scope {
    /// The name under which operators reach what belongs to all tenants.
    pub const FLEET: &'static str = "fleet";
    /// The tenant that is always there.
    pub const DEFAULT: &'static str = "default";

    pub fn fleet() -> Self {
        Scope { id: TenantId::FLEET, name: Self::FLEET.into() }
    }

    pub fn default_tenant() -> Self {
        Scope { id: TenantId::DEFAULT, name: Self::DEFAULT.into() }
    }

    /// The name of a tenant whose rows this scope can see: its own, or the fleet's.
    pub fn name_of(&self, tenant: TenantId) -> &str {
        if tenant == self.id { &self.name } else { Self::FLEET }
    }
}
