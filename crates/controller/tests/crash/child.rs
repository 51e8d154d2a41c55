//! The process that dies: this same program, started again with a part to play.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use controller::plugins::{Door, DoorPolicy, Registry};
use controller::{Controller, Settings, Tools};
use serde::{Deserialize, Serialize};
use store::{Location, Options, Store};
use tokio::sync::watch;

use crate::db;
use crate::outside::Outside;
use crate::scene::Scene;

const PART: &str = "TERRANE_TEST_PART";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    pub database: String,
    pub scene: Scene,
    pub record: PathBuf,
    /// Where to leave the number of moments at which it might have died.
    pub moments: PathBuf,
    /// Die at this one.
    pub die_at: Option<u64>,
}

#[derive(Debug)]
pub struct Played {
    pub finished: bool,
    pub seen: u64,
}

/// Play a part in a process of its own, to the end or to its death.
#[expect(clippy::disallowed_methods, reason = "the process that dies has to be another one")]
pub fn play(part: &Part) -> Played {
    let program = std::env::current_exe().expect("this program");
    let status = Command::new(program)
        .args(["child::part", "--exact", "--nocapture"])
        .env(PART, serde_json::to_string(part).expect("the part"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the process starts");
    let seen = std::fs::read_to_string(&part.moments).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    Played { finished: status.success(), seen }
}

/// Nothing, unless it was started with a part.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "this is how a test hands a part to its own program")]
async fn part() {
    let Ok(part) = std::env::var(PART) else { return };
    let part: Part = serde_json::from_str(&part).expect("the part");
    let seen = Arc::new(AtomicU64::new(0));
    let (die_at, counter) = (part.die_at, seen.clone());
    let probe = Arc::new(move |_| {
        if Some(counter.fetch_add(1, Ordering::SeqCst) + 1) == die_at {
            std::process::abort();
        }
    });
    let location = Location::parse(&part.database).expect("a location");
    let options = Options { probe: Some(probe), ..Options::default() };
    let store = Store::open_with(&location, options).await.expect("a store");
    let mut registry = Registry::default();
    registry.register(Arc::new(Outside::new(&part.record)));
    let tools = Tools { registry: Arc::new(registry), door: Door::new(DoorPolicy::default()), keyring: None };
    let settings = Settings {
        lease: Duration::from_millis(700),
        drift_interval: Duration::from_millis(50),
        ..Settings::default()
    };
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(Controller::new(store.clone(), tools, settings).run(stopping));
    let database = crate::stage::at(location);
    db::until("the goal", async || {
        tokio::time::sleep(Duration::from_millis(10)).await;
        database.number(part.scene.goal()).await == 1
    })
    .await;
    stop.send_replace(true);
    running.await.expect("the loop ends");
    std::fs::write(&part.moments, seen.load(Ordering::SeqCst).to_string()).expect("the number");
}
