//! What all handlers share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use controller::{Dispatcher, Keyring, Live};
use jiff::Timestamp;
use model::{RunnerId, TokenId};
use store::Store;
use tokio::sync::watch;
use tracing::warn;

use crate::engine::{Actions, Engine};
use crate::intake::Catalogue;
use crate::metrics::Metrics;
use crate::problem::Problem;

/// Who may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only with a token.
    Tokens,
    /// On the loopback interface, without one: whoever is on this machine acts as an operator.
    Open,
}

/// How often the last use of tokens is written down.
const NOTE_EVERY: Duration = Duration::from_secs(30);

pub struct App {
    pub store: Store,
    pub access: Access,
    pub(crate) catalogue: Catalogue,
    pub(crate) metrics: Metrics,
    pub(crate) actions: Actions,
    pub live: Live,
    pub dispatcher: Dispatcher,
    keyring: Option<Arc<Keyring>>,
    token_use: Mutex<HashMap<TokenId, Timestamp>>,
    runners_seen: Mutex<HashMap<RunnerId, Timestamp>>,
    draining: watch::Sender<bool>,
}

impl App {
    pub fn new(store: Store, access: Access, engine: Engine) -> Arc<App> {
        let Engine { actions, keyring, metrics, live, leases } = engine;
        Arc::new(App {
            catalogue: Catalogue::new(store.clone()),
            dispatcher: Dispatcher::new(store.clone(), keyring.clone(), leases, live.clone()),
            store,
            access,
            metrics: Metrics::with(metrics),
            actions,
            live,
            keyring,
            token_use: Mutex::default(),
            runners_seen: Mutex::default(),
            draining: watch::Sender::new(false),
        })
    }

    /// The keys that seal secrets.
    pub(crate) fn keyring(&self) -> Result<&Keyring, Problem> {
        self.keyring.as_deref().ok_or_else(|| {
            Problem::conflict(
                "this server has no key to seal secrets with; make one with `openssl rand -base64 32`, and start every server with it in --secrets-key-file or TERRANE_SECRETS_KEY",
            )
        })
    }

    /// Tell streams to end and `/ready` to say no. Requests under way go on.
    pub fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// Turns true when the server begins to stop.
    pub fn draining(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    pub(crate) fn note_token_use(&self, id: TokenId) {
        if let Ok(mut uses) = self.token_use.lock() {
            uses.insert(id, Timestamp::now());
        }
    }

    pub(crate) fn note_runner_seen(&self, id: RunnerId) {
        if let Ok(mut seen) = self.runners_seen.lock() {
            seen.insert(id, Timestamp::now());
        }
    }

    /// Write down when tokens were used and runners heard of, until the server drains; then once more.
    pub async fn keep_token_use(self: Arc<Self>) {
        let mut draining = self.draining();
        loop {
            let last = tokio::time::timeout(NOTE_EVERY, draining.wait_for(|draining| *draining)).await.is_ok();
            self.write_token_use().await;
            if last {
                return;
            }
        }
    }

    async fn write_token_use(&self) {
        let uses: Vec<_> = match self.token_use.lock() {
            Ok(mut uses) => uses.drain().collect(),
            Err(_) => return,
        };
        if !uses.is_empty()
            && let Err(error) = self.store.note_token_use(uses).await
        {
            warn!(%error, "could not note the last use of tokens");
        }
        let seen: Vec<_> = match self.runners_seen.lock() {
            Ok(mut seen) => seen.drain().collect(),
            Err(_) => return,
        };
        if !seen.is_empty()
            && let Err(error) = self.store.note_runners_seen(seen).await
        {
            warn!(%error, "could not note when runners were heard of");
        }
    }
}
