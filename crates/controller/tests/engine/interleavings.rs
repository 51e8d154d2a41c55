//! Anything that may happen, in any order: people's writes, completions, crashes, jumps of the clock, lost leases. What must
//! never be, never is; and when the storm is over, everything comes to rest where its owner wants it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use controller::{Controller, Deadline, Tick};
use model::{Lifecycle, ResourceId};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use store::Claim;

use crate::harness::{Bench, settle};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Act {
    Create(usize, usize),
    Update(usize, usize),
    Request(usize),
    Delete(usize),
    Tick(usize),
    /// One of the claims that a controller holds is carried out, however late.
    Finish(usize, usize),
    /// A controller dies with all that it held.
    Crash(usize),
    Pass(u64),
}

/// What a plugin may do, on its first calls.
fn scripts() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "apply": ["note", "act", "done"], "destroy": ["act", "done"] }),
        json!({ "apply": ["wait:30", "act", "wait:30", "done"], "destroy": ["wait:30", "act", "done"] }),
        json!({ "apply": ["fail:network"], "destroy": ["fail:outage"] }),
        json!({ "plan": ["fail:quota"], "destroy": ["fail:quota"] }),
        json!({ "validate": ["wait:5", "done"], "outputs": ["fail:capacity"] }),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let name = 0..NAMES.len();
    let script = 0..scripts().len();
    let act = prop_oneof![
        3 => (name.clone(), script.clone()).prop_map(|(name, script)| Act::Create(name, script)),
        3 => (name.clone(), script).prop_map(|(name, script)| Act::Update(name, script)),
        1 => name.clone().prop_map(Act::Request),
        1 => name.prop_map(Act::Delete),
        6 => (0..2_usize).prop_map(Act::Tick),
        6 => (0..2_usize, 0..4_usize).prop_map(|(controller, claim)| Act::Finish(controller, claim)),
        1 => (0..2_usize).prop_map(Act::Crash),
        3 => prop_oneof![Just(1), Just(11), Just(70), Just(400), Just(700), Just(5000)].prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 1..60)
}

struct Storm {
    bench: Bench,
    controllers: [Arc<Controller>; 2],
    held: [Vec<(Arc<Claim>, Deadline)>; 2],
    live: BTreeMap<usize, ResourceId>,
    ever: BTreeSet<ResourceId>,
    deleted: BTreeSet<ResourceId>,
    version: i64,
}

impl Storm {
    async fn new() -> Storm {
        let bench = Bench::sqlite().await;
        let controllers = [bench.controller.clone(), bench.another().await];
        Storm {
            bench,
            controllers,
            held: Default::default(),
            live: BTreeMap::new(),
            ever: BTreeSet::new(),
            deleted: BTreeSet::new(),
            version: 0,
        }
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Create(name, script) => {
                if let Some(id) = self.live.get(&name)
                    && self.bench.is_gone(*id).await
                {
                    self.live.remove(&name);
                }
                if !self.live.contains_key(&name) {
                    let id = self.bench.create(NAMES[name], scripts()[script].clone()).await.id;
                    self.live.insert(name, id);
                    self.ever.insert(id);
                }
            }
            Act::Update(name, script) => {
                if let Some(id) = self.changeable(name).await {
                    self.version += 1;
                    let spec = json!({ "version": self.version });
                    self.bench.update(id, scripts()[script].clone(), spec).await;
                }
            }
            Act::Request(name) => {
                if let Some(id) = self.changeable(name).await {
                    self.bench.request(id).await;
                }
            }
            Act::Delete(name) => {
                if let Some(id) = self.changeable(name).await {
                    self.bench.delete(id).await;
                    self.deleted.insert(id);
                }
            }
            Act::Tick(at) => {
                if let Ok(Tick::Claimed(claims)) = self.controllers[at].tick().await {
                    self.held[at].extend(claims);
                }
            }
            Act::Finish(at, which) => {
                if !self.held[at].is_empty() {
                    let which = which % self.held[at].len();
                    let (claim, deadline) = self.held[at].remove(which);
                    self.controllers[at].carry_out(claim, deadline).await;
                }
            }
            Act::Crash(at) => {
                self.held[at].clear();
                self.controllers[at] = self.bench.another().await;
            }
            Act::Pass(seconds) => self.bench.pass(Duration::from_secs(seconds)).await,
        }
    }

    async fn changeable(&self, name: usize) -> Option<ResourceId> {
        let id = *self.live.get(&name)?;
        let found = self.bench.store.resource(&self.bench.tenant, id).await.ok()?;
        (!found.body.lifecycle.is_going()).then_some(id)
    }

    /// What must never be.
    async fn check(&self, after: &Act) {
        let db = &self.bench.db;
        for (what, text) in [
            (
                "two operations on a resource",
                "SELECT count(*) FROM (SELECT resource_id FROM operations WHERE finished_at IS NULL \
                 GROUP BY resource_id HAVING count(*) > 1) AS twice",
            ),
            (
                "an observed generation beyond its spec",
                "SELECT count(*) FROM resources WHERE observed_generation > generation OR begun_generation > generation",
            ),
            (
                "a forgotten destroy",
                "SELECT count(*) FROM resources r WHERE deleted_at IS NOT NULL AND EXISTS \
                 (SELECT 1 FROM operations o WHERE o.resource_id = r.id AND NOT (o.state = 'failed' AND o.step IN ('validate', 'plan'))) \
                 AND NOT EXISTS \
                 (SELECT 1 FROM operations o WHERE o.resource_id = r.id AND o.kind = 'destroy' AND o.state = 'succeeded')",
            ),
            (
                "a wish that nobody will come back to",
                "SELECT count(*) FROM resources WHERE deleted_at IS NULL AND next_reconcile_at IS NULL \
                 AND (wanted IS NOT NULL OR lifecycle IN ('pending', 'provisioning', 'configuring', 'updating', 'deleting'))",
            ),
        ] {
            assert_eq!(db.number(text).await, 0, "{what}, after {after:?}");
        }
    }

    /// The storm is over: scripts do no harm any more, and time passes.
    async fn calm(&self) {
        self.bench.db.execute("UPDATE resources SET plugin_config = '{}'").await;
        let last = self.bench.another().await;
        for id in &self.ever {
            if let Ok(found) = self.bench.store.resource(&self.bench.tenant, *id).await
                && found.body.lifecycle == Lifecycle::Failed
            {
                self.bench.request(*id).await;
            }
        }
        for _ in 0..12 {
            settle(&last).await;
            self.bench.pass(Duration::from_secs(20_000)).await;
        }
        for id in &self.ever {
            if self.deleted.contains(id) {
                assert!(self.bench.is_gone(*id).await, "{id} was to go");
                continue;
            }
            let found = self.bench.get(*id).await;
            assert_eq!(
                (found.lifecycle, found.observed_generation),
                (Lifecycle::Active, found.generation),
                "{found:?}"
            );
        }
    }
}

#[test]
fn whatever_happens_nothing_is_lost_and_everything_comes_to_rest() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&acts(), |acts| {
            runtime.block_on(async {
                let mut storm = Storm::new().await;
                for act in acts {
                    storm.act(act.clone()).await;
                    storm.check(&act).await;
                }
                storm.calm().await;
            });
            Ok(())
        })
        .expect("nothing is lost");
}
