//! A store, a controller that is stepped by hand, and a clock that the story moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use controller::plugins::{Door, DoorPolicy, Registry};
use controller::{Controller, Settings, Tick, Tools};
use jiff::Timestamp;
use model::{
    Actor, Desired, DriftPolicy, HistoryEntry, Labels, Lifecycle, Operation, Resource, ResourceId, Scope, TypeId,
};
use serde_json::{Value, json};
use store::{Clock, NewResource, NewType, Options, Store, StoredResource};

use crate::db::Db;
use crate::outside::{Outside, Script};

/// Each story runs on both databases.
macro_rules! stories {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::harness::Bench::sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::harness::Bench::postgres().await).await;
            })+
        }
    };
}

pub struct Bench {
    pub db: Db,
    /// Open on the same database, with the story's clock.
    pub store: Store,
    pub outside: Arc<Outside>,
    pub controller: Arc<Controller>,
    pub tenant: Scope,
    /// How far the story's clock is ahead of the wall's, in microseconds.
    ahead: Arc<AtomicI64>,
    type_id: TypeId,
    type_version: i64,
}

impl Bench {
    pub async fn sqlite() -> Bench {
        Bench::on(Db::sqlite().await).await
    }

    pub async fn postgres() -> Bench {
        Bench::on(Db::postgres().await).await
    }

    async fn on(db: Db) -> Bench {
        let ahead = Arc::new(AtomicI64::new(0));
        let store = open(&db, &ahead).await;
        let tenant = Scope { id: model::TenantId::DEFAULT, name: "default".into() };
        let new = NewType {
            name: "Thing".into(),
            version: "v1".into(),
            description: String::new(),
            schema: json!({ "type": "object" }),
            plugin_config: json!({}),
        };
        let scope = tenant.clone();
        let made = store
            .write(0, move |tx| {
                let (scope, new) = (scope.clone(), new.clone());
                Box::pin(async move { tx.create_type(&scope, &Actor::system(), &new).await })
            })
            .await
            .expect("a type");
        let outside = Arc::new(Outside::default());
        let controller = controller(&store, &outside, settings());
        Bench { db, store, outside, controller, tenant, ahead, type_id: made.id, type_version: made.resource_version }
    }

    /// The story's clock moves on. PostgreSQL's own does not: there, everything that was to come comes sooner.
    pub async fn pass(&self, time: Duration) {
        let micros = i64::try_from(time.as_micros()).expect("a time");
        if !self.db.is_postgres() {
            self.ahead.fetch_add(micros, Ordering::SeqCst);
            return;
        }
        self.db
            .execute(&format!(
                "UPDATE resources SET next_reconcile_at = next_reconcile_at - {micros}, lease_until = lease_until - {micros}; \
                 UPDATE locks SET expires_at = expires_at - {micros}"
            ))
            .await;
    }

    /// Another controller on the same database, as another process would run it.
    pub async fn another(&self) -> Arc<Controller> {
        controller(&open(&self.db, &self.ahead).await, &self.outside, settings())
    }

    pub async fn with(&self, settings: Settings) -> Arc<Controller> {
        controller(&open(&self.db, &self.ahead).await, &self.outside, settings)
    }

    pub async fn create(&self, name: &str, config: Value) -> Resource {
        self.create_for(&self.tenant.clone(), name, config).await
    }

    pub async fn create_for(&self, tenant: &Scope, name: &str, config: Value) -> Resource {
        let new = NewResource {
            name: name.into(),
            resource_type_name: "Thing".into(),
            desired: desired(config, json!({})),
            type_id: self.type_id,
            type_seen_at: self.type_version,
        };
        let scope = tenant.clone();
        let made = self.store.write(0, move |tx| {
            let (scope, new) = (scope.clone(), new.clone());
            Box::pin(async move { tx.create_resource(&scope, &Actor::system(), &new).await })
        });
        made.await.expect("a resource")
    }

    /// Change a held resource.
    pub async fn change<F>(&self, id: ResourceId, change: F) -> Resource
    where
        F: for<'t> Fn(
                &'t mut store::Tx,
                Scope,
                StoredResource,
            ) -> futures::future::BoxFuture<'t, Result<Resource, store::Error>>
            + Send
            + Sync
            + 'static,
    {
        let scope = self.tenant.clone();
        let change = Arc::new(change);
        let changed = self.store.write(id.0, move |tx| {
            let (scope, change) = (scope.clone(), change.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                change(tx, scope, held).await
            })
        });
        changed.await.expect("a change")
    }

    pub async fn update(&self, id: ResourceId, config: Value, spec: Value) -> Resource {
        let (type_id, version) = (self.type_id, self.type_version);
        self.change(id, move |tx, scope, held| {
            let mut next = held.body.desired();
            next.plugin_config = config.clone();
            next.spec = spec.clone();
            Box::pin(async move { tx.update_resource(&scope, &Actor::system(), &held, &next, type_id, version).await })
        })
        .await
    }

    pub async fn set_policy(&self, id: ResourceId, policy: DriftPolicy) -> Resource {
        let (type_id, version) = (self.type_id, self.type_version);
        self.change(id, move |tx, scope, held| {
            let mut next = held.body.desired();
            next.drift_policy = policy;
            Box::pin(async move { tx.update_resource(&scope, &Actor::system(), &held, &next, type_id, version).await })
        })
        .await
    }

    pub async fn request(&self, id: ResourceId) -> Resource {
        self.change(id, |tx, scope, held| {
            Box::pin(async move { tx.request_reconcile(&scope, &Actor::system(), &held).await })
        })
        .await
    }

    pub async fn delete(&self, id: ResourceId) -> Resource {
        self.change(id, |tx, scope, held| {
            Box::pin(async move { tx.request_delete(&scope, &Actor::system(), &held).await })
        })
        .await
    }

    pub async fn get(&self, id: ResourceId) -> Resource {
        self.store.resource(&self.tenant, id).await.expect("the resource").body
    }

    pub async fn lifecycle(&self, id: ResourceId) -> Lifecycle {
        self.get(id).await.lifecycle
    }

    pub async fn is_gone(&self, id: ResourceId) -> bool {
        self.store.resource(&self.tenant, id).await.is_err()
    }

    pub async fn history(&self, id: ResourceId) -> Vec<HistoryEntry> {
        self.store.history(&self.tenant, id, None, 100).await.expect("the history").items
    }

    pub async fn operations(&self, id: ResourceId) -> Vec<Operation> {
        self.store.operations(&self.tenant, id, None, 100).await.expect("the operations").items
    }

    /// One tick, and all that it claimed. How many there were.
    pub async fn step(&self) -> usize {
        step(&self.controller).await
    }

    /// Tick until nothing is due.
    pub async fn settle(&self) {
        settle(&self.controller).await;
    }
}

pub async fn step(controller: &Controller) -> usize {
    match controller.tick().await.expect("a tick") {
        Tick::Claimed(claims) => {
            let claimed = claims.len();
            for (claim, deadline) in claims {
                controller.carry_out(claim, deadline).await;
            }
            claimed
        }
        Tick::Beaten | Tick::Full | Tick::Idle { .. } => 0,
    }
}

pub async fn settle(controller: &Controller) {
    for _ in 0..1000 {
        if step(controller).await == 0 {
            return;
        }
    }
    panic!("there is always something due");
}

pub fn settings() -> Settings {
    Settings { lease: Duration::from_secs(600), ..Settings::default() }
}

fn controller(store: &Store, outside: &Arc<Outside>, settings: Settings) -> Arc<Controller> {
    let mut registry = Registry::default();
    registry.register(Arc::new(Script::new(outside.clone())));
    let tools = Tools { registry: Arc::new(registry), door: Door::new(DoorPolicy::default()), keyring: None };
    Controller::new(store.clone(), tools, settings)
}

async fn open(db: &Db, ahead: &Arc<AtomicI64>) -> Store {
    let ahead = ahead.clone();
    let clock = Clock::new(move || {
        let now = Timestamp::now();
        Timestamp::from_microsecond(now.as_microsecond() + ahead.load(Ordering::SeqCst)).expect("a time")
    });
    Store::open_with(&db.location, Options { clock, probe: None }).await.expect("a store")
}

pub fn desired(config: Value, spec: Value) -> Desired {
    Desired {
        resource_type_version: "v1".into(),
        action_plugin: "script".into(),
        plugin_config: config,
        spec,
        labels: Labels::new(),
        annotations: Labels::new(),
        drift_policy: DriftPolicy::Correct,
    }
}
