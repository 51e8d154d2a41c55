//! The contract as Rust sees it.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use model::plugin::{Answer, Call, Descriptor, Step};
use serde_json::Value;

use crate::door::{Door, DoorError, Incoming, Outgoing};
use crate::secrets::Secrets;

/// A way to change reality. Never waits: what takes time is answered with `wait`.
pub trait Action: Send + Sync {
    fn descriptor(&self) -> &Descriptor;

    /// Whether it can look for drift, given this configuration.
    fn observes(&self, _config: &Value) -> bool {
        self.descriptor().takes(Step::Observe)
    }

    fn call<'a>(&'a self, call: &'a Call, world: &'a World) -> BoxFuture<'a, Answer>;
}

/// What a plugin may use during one call.
pub struct World {
    pub door: Door,
    /// The secrets that the call's configuration and spec name, opened.
    pub secrets: Arc<Secrets>,
    /// Nothing may leave after this: the claim on the resource may be somebody else's by then.
    pub until: Until,
}

impl World {
    /// Send a request to the outside.
    pub async fn send(&self, request: Outgoing) -> Result<Incoming, DoorError> {
        self.door.send(request, &self.secrets, self.until.instant()).await
    }
}

/// An end that may move: a claim is renewed while the plugin works under it.
#[derive(Clone, Default)]
pub struct Until(Option<Arc<dyn Fn() -> Instant + Send + Sync>>);

impl Until {
    pub fn new(until: impl Fn() -> Instant + Send + Sync + 'static) -> Until {
        Until(Some(Arc::new(until)))
    }

    /// As it stands now; none where nothing ends it.
    pub fn instant(&self) -> Option<Instant> {
        self.0.as_ref().map(|until| until())
    }
}
