//! Who asked for a change, as it is written to the audit trail.

/// The author of a write: recorded with every event it causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `token:ci-deploy`, `local` (a loopback server's own user) or `system`.
    pub name: String,
    /// The request's id, to find the same act in the logs.
    pub request_id: Option<String>,
}

impl Actor {
    pub fn system() -> Self {
        Actor { name: "system".into(), request_id: None }
    }
}
