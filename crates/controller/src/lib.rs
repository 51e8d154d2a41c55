//! The reconcile loop. `Controller::tick` claims what is due, fairly by tenant; workers drive each claim through its
//! plugin's steps; a ledger writes down how they ended, many at a time. Nothing waits in memory: what takes time is a
//! row with a time to come back.

mod desk;
mod dispatch;
mod drive;
mod fair;
mod keyring;
mod leader;
mod ledger;
mod live;
mod mailroom;
mod metrics;
mod outputs;
mod ready;
mod seat;
mod settings;
mod states;
mod tick;
mod work;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use model::ResourceId;
use plugins::{Door, Registry};
use store::Store;
use tokio::sync::Notify;

pub use desk::Deadline;
pub use dispatch::{Dispatcher, Leases};
pub use keyring::{Keyring, KeyringError};
pub use live::{Listener, Live, Tail};
pub use metrics::Metrics;
pub use outputs::open_outputs;
pub use plugins;
pub use seat::{Seat, Who};
pub use settings::Settings;
pub use states::Unkept;
pub use tick::Tick;

use desk::Desk;
use ledger::Ledger;

/// What operations are carried out with.
#[derive(Clone)]
pub struct Tools {
    pub registry: Arc<Registry>,
    pub door: Door,
    /// Opens secrets; without it, whatever names a secret fails.
    pub keyring: Option<Arc<Keyring>>,
}

pub struct Controller {
    store: Store,
    tools: Tools,
    settings: Settings,
    /// Who this is, among all controllers that ever were.
    holder: String,
    desk: Arc<Desk>,
    ledger: Ledger,
    metrics: Arc<Metrics>,
    /// How long a claim takes on average, in nanoseconds: how many to claim ahead depends on it.
    pace: AtomicU64,
    /// Rows that cannot be read, and until when they are left alone.
    aside: Mutex<HashMap<ResourceId, Instant>>,
    /// A claim was put back.
    freed: Arc<Notify>,
}

impl Controller {
    pub fn new(store: Store, tools: Tools, settings: Settings) -> Arc<Controller> {
        let (desk, metrics, freed) = (Arc::new(Desk::default()), Arc::new(Metrics::default()), Arc::new(Notify::new()));
        Arc::new(Controller {
            ledger: Ledger::open(store.clone(), desk.clone(), metrics.clone(), freed.clone()),
            store,
            tools,
            settings,
            holder: format!("controller-{}", chance::word(16)),
            desk,
            metrics,
            pace: AtomicU64::new(50_000_000),
            aside: Mutex::default(),
            freed,
        })
    }

    pub fn metrics(&self) -> Arc<Metrics> {
        self.metrics.clone()
    }

    pub fn holder(&self) -> &str {
        &self.holder
    }
}

/// Dice. What they decide needs no secrecy, only that processes differ.
mod chance {
    /// In 0..=1.
    pub fn share() -> f64 {
        f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX)
    }

    /// So many hexadecimal digits.
    pub fn word(digits: usize) -> String {
        let mut word = String::new();
        while word.len() < digits {
            word.push_str(&format!("{:016x}", getrandom::u64().unwrap_or(0)));
        }
        word.truncate(digits);
        word
    }
}
