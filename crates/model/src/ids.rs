//! Each kind of id is its own type, so that a resource's id can never be passed where a type's is meant.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = i64)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A resource type, one version of it.
    TypeId
);
id!(
    /// A resource. Never used again after the resource is gone.
    ResourceId
);
id!(
    /// A tenant.
    TenantId
);
id!(
    /// A token (its record, not its secret).
    TokenId
);
id!(
    /// One entry of a resource's reconciliation history.
    HistoryId
);
id!(
    /// An operation. Never used again.
    OperationId
);
id!(
    /// A place in the sequence of events. Whoever has read up to N finds nothing new at or below N, ever.
    EventSeq
);

impl TenantId {
    pub const FLEET: TenantId = TenantId(0);
    pub const DEFAULT: TenantId = TenantId(1);

    pub fn is_fleet(self) -> bool {
        self == Self::FLEET
    }
}
id!(
    /// A piece of work for a runner.
    JobId
);
id!(
    /// A runner that an operator enrolled.
    RunnerId
);

impl RunnerId {
    /// The runner inside of a server, which nobody had to enrol.
    pub const EMBEDDED: RunnerId = RunnerId(0);
}
