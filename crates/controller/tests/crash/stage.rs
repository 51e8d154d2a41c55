//! A database in which the scene is set, and as many copies of it as there are deaths to die.

use std::path::PathBuf;
use std::sync::Arc;

use controller::plugins::{Door, DoorPolicy, Registry};
use controller::{Controller, Settings, Tick, Tools};
use model::{Actor, Desired, DriftPolicy, Labels, Resource, Scope, TenantId};
use serde_json::{Value, json};
use store::{Location, NewResource, NewType, Store};
use tempfile::TempDir;

use crate::child::{Part, Played, play};
use crate::db::{Database, Db};
use crate::outside::{Outside, effects};
use crate::scene::Scene;

pub struct Stage {
    db: Db,
    scene: Scene,
    folder: TempDir,
}

/// A copy of the stage.
pub struct Set {
    database: Database,
    part: Part,
    _folder: TempDir,
}

impl Stage {
    pub async fn sqlite(scene: &Scene) -> Stage {
        Stage::on(Db::sqlite().await, *scene).await
    }

    pub async fn postgres(scene: &Scene) -> Stage {
        Stage::on(Db::postgres().await, *scene).await
    }

    async fn on(db: Db, scene: Scene) -> Stage {
        let folder = TempDir::new().expect("a folder");
        let stage = Stage { db, scene, folder };
        stage.prepare().await;
        stage.db.store.close().await;
        stage
    }

    async fn prepare(&self) {
        let store = &self.db.store;
        let scope = Scope { id: TenantId::DEFAULT, name: "default".into() };
        let script = if self.scene.begins_with_a_resource() { json!({}) } else { self.scene.script() };
        let made = create(store, &scope, script).await;
        if !self.scene.begins_with_a_resource() {
            return;
        }
        settle(store, &self.record()).await;
        match self.scene {
            Scene::Create | Scene::Waiting => {}
            Scene::Update => update(store, &scope, made, self.scene.script()).await,
            Scene::Drift => {
                let script = self.scene.script().to_string();
                self.db
                    .execute(&format!("UPDATE resources SET plugin_config = '{script}', next_reconcile_at = 1"))
                    .await;
            }
            Scene::Delete => {
                let script = self.scene.script().to_string();
                self.db.execute(&format!("UPDATE resources SET plugin_config = '{script}'")).await;
                store
                    .write(0, move |tx| {
                        let (scope, id) = (scope.clone(), made.id);
                        Box::pin(async move {
                            let held = tx.hold_resource(&scope, id).await?;
                            tx.request_delete(&scope, &Actor::system(), &held).await
                        })
                    })
                    .await
                    .expect("a delete");
            }
        }
    }

    fn record(&self) -> PathBuf {
        self.folder.path().join("record")
    }

    /// The scene as it was set, for one play.
    pub async fn set(&self) -> Set {
        let folder = TempDir::new().expect("a folder");
        let database = copy(&self.db, &folder.path().join("terrane.db")).await;
        let record = folder.path().join("record");
        if self.record().exists() {
            std::fs::copy(self.record(), &record).expect("the record so far");
        }
        let part = Part {
            database: match &database.location {
                Location::Sqlite(path) => format!("sqlite:{}", path.display()),
                Location::Postgres(url) => url.clone(),
            },
            scene: self.scene,
            record,
            moments: folder.path().join("moments"),
            die_at: None,
        };
        Set { database, part, _folder: folder }
    }
}

impl Set {
    pub fn play(&self, die_at: Option<u64>) -> Played {
        play(&Part { die_at, ..self.part.clone() })
    }

    /// Everything as it should be, whatever happened on the way.
    pub async fn check(&self, scene: Scene, at: u64) {
        let effects = effects(&self.part.record);
        let wanted: Vec<_> = effects.iter().filter(|(key, _)| key.starts_with(scene.effect())).collect();
        assert_eq!(wanted.len(), 1, "{scene:?} killed at {at}: {effects:?}");
        assert!(effects.values().all(|count| *count == 1), "{scene:?} killed at {at}: {effects:?}");
        for (what, count) in [
            ("claims that nobody holds", "SELECT count(*) FROM resources WHERE lease_holder IS NOT NULL"),
            ("operations that nobody ends", "SELECT count(*) FROM operations WHERE finished_at IS NULL"),
            (
                "operations without an entry in the history",
                "SELECT abs((SELECT count(*) FROM operations WHERE kind <> 'observe') - \
                 (SELECT count(*) FROM reconciliation_history))",
            ),
            (
                "resources that stand still",
                "SELECT count(*) FROM resources WHERE lifecycle NOT IN ('active', 'deleted')",
            ),
        ] {
            assert_eq!(self.database.number(count).await, 0, "{scene:?} killed at {at}: {what}");
        }
    }
}

/// A database that is there already.
pub fn at(location: Location) -> Database {
    Database { location, _folder: None }
}

/// The same contents once more: in this file, or in a database of the same server. Nobody may be connected.
async fn copy(original: &Database, path: &std::path::Path) -> Database {
    match &original.location {
        Location::Sqlite(file) => {
            std::fs::copy(file, path).expect("a copy");
            at(Location::Sqlite(path.into()))
        }
        Location::Postgres(url) => {
            let (address, template) = url.rsplit_once('/').expect("the URL names a database");
            let name = format!("copy_{}_{}", std::process::id(), jiff::Timestamp::now().as_nanosecond());
            let server = at(Location::Postgres(crate::db::server()));
            server.execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
            at(Location::Postgres(format!("{address}/{name}")))
        }
    }
}

async fn settle(store: &Store, record: &std::path::Path) {
    let mut registry = Registry::default();
    registry.register(Arc::new(Outside::new(record)));
    let tools = Tools { registry: Arc::new(registry), door: Door::new(DoorPolicy::default()), keyring: None };
    let controller = Controller::new(store.clone(), tools, Settings::default());
    while let Tick::Claimed(claims) = controller.tick().await.expect("a tick") {
        for (claim, deadline) in claims {
            controller.carry_out(claim, deadline).await;
        }
    }
}

async fn create(store: &Store, scope: &Scope, config: Value) -> Resource {
    let scope = scope.clone();
    let made = store.write(0, move |tx| {
        let (scope, config) = (scope.clone(), config.clone());
        Box::pin(async move {
            let new = NewType {
                name: "Thing".into(),
                version: "v1".into(),
                description: String::new(),
                schema: json!({ "type": "object" }),
                plugin_config: json!({}),
            };
            let kind = tx.create_type(&scope, &Actor::system(), &new).await?;
            let desired = Desired {
                resource_type_version: "v1".into(),
                action_plugin: "outside".into(),
                plugin_config: config,
                spec: json!({}),
                labels: Labels::new(),
                annotations: Labels::new(),
                drift_policy: DriftPolicy::Correct,
            };
            let new = NewResource {
                name: "one".into(),
                resource_type_name: "Thing".into(),
                desired,
                type_id: kind.id,
                type_seen_at: kind.resource_version,
            };
            tx.create_resource(&scope, &Actor::system(), &new).await
        })
    });
    made.await.expect("a resource")
}

async fn update(store: &Store, scope: &Scope, made: Resource, config: Value) {
    let scope = scope.clone();
    let kind = store.resource_type_by_name(&scope, "Thing", "v1").await.expect("the type").body;
    let updated = store.write(0, move |tx| {
        let (scope, config, kind, id) = (scope.clone(), config.clone(), kind.clone(), made.id);
        Box::pin(async move {
            let held = tx.hold_resource(&scope, id).await?;
            let desired = Desired { plugin_config: config, ..held.body.desired() };
            tx.update_resource(&scope, &Actor::system(), &held, &desired, kind.id, kind.resource_version).await
        })
    });
    updated.await.expect("an update");
}
