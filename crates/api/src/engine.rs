//! What the composition root brings along from the reconcile engine: who can act, the keys for secrets, and its metrics.

use std::sync::Arc;

use controller::{Keyring, Leases, Live};
use model::plugin::Descriptor;
use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The action plugins there are, asked for anew each time: they come and go.
pub type Actions = Arc<dyn Fn() -> Vec<Plugin> + Send + Sync>;

/// Puts further metrics among those that `/metrics` shows.
pub type Register = Box<dyn FnOnce(&mut Registry) + Send>;

pub struct Engine {
    pub actions: Actions,
    /// Without one, secrets can be listed and deleted but not set.
    pub keyring: Option<Arc<Keyring>>,
    pub metrics: Option<Register>,
    /// Logs as runners bring them to this process.
    pub live: Live,
    pub leases: Leases,
}

/// No plugins, no keys, nothing to measure.
impl Default for Engine {
    fn default() -> Self {
        let (live, leases) = (Live::default(), Leases::default());
        Engine { actions: Arc::new(Vec::new), keyring: None, metrics: None, live, leases }
    }
}

/// A plugin, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Plugin {
    #[serde(flatten)]
    pub descriptor: Descriptor,
    /// `built-in`, or the host it is reached at.
    #[schema(example = "built-in")]
    pub origin: String,
}

impl Plugin {
    pub fn built_in(descriptor: Descriptor) -> Plugin {
        Plugin { descriptor, origin: "built-in".into() }
    }
}
