//! Tokens and what their roles allow.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::TokenId;

/// Each role may do all that the ones before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads types, resources and their events.
    Viewer,
    /// Changes resources.
    Editor,
    /// Changes types and tokens of its tenant, and reads the whole audit trail.
    Admin,
    /// Acts in every tenant and in the fleet; creates tenants.
    Operator,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Viewer, Role::Editor, Role::Admin, Role::Operator];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Admin => "admin",
            Role::Operator => "operator",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

/// A token's record. Its secret is shown once, when it is made, and never stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    pub id: TokenId,
    #[schema(example = "ci-deploy")]
    pub name: String,
    pub role: Role,
    pub tenant: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// To within a minute or so.
    pub last_used_at: Option<Timestamp>,
}
