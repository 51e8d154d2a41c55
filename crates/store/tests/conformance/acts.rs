//! What the stories do, by the store's front door, and the things they do it with.

use futures::future::BoxFuture;
use model::{
    Actor, Desired, Event, EventSeq, Kind, Labels, Resource, ResourceId, ResourceType, Scope, Tenant, Token, TokenId,
    TypeId,
};
use serde_json::{Value, json};
use store::{
    Error, EventFilter, NewHistoryEntry, NewResource, NewTenant, NewToken, NewType, Refusal, ResourceText, Store,
    StoredResource, Tx,
};

use crate::db::eventually;

/// Gives a closure the type that the writer wants.
pub fn as_work<T, F>(work: F) -> F
where
    F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>>,
{
    work
}

pub fn actor() -> Actor {
    Actor { name: "token:tester".into(), request_id: Some("request-1".into()) }
}

pub fn home() -> Scope {
    Scope::default_tenant()
}

pub fn fleet() -> Scope {
    Scope::fleet()
}

pub fn new_type(name: &str, version: &str) -> NewType {
    NewType {
        name: name.into(),
        version: version.into(),
        description: format!("{name} at {version}"),
        schema: json!({"type": "object"}),
        plugin_config: json!({}),
    }
}

/// A resource whose spec was validated against this version of the type.
pub fn new_resource(name: &str, of: &ResourceType) -> NewResource {
    NewResource {
        name: name.into(),
        resource_type_name: of.name.clone(),
        desired: Desired {
            resource_type_version: of.version.clone(),
            action_plugin: "terraform".into(),
            plugin_config: json!({}),
            spec: json!({"count": 0}),
            labels: Labels::new(),
            annotations: Labels::new(),
            drift_policy: model::DriftPolicy::Correct,
        },
        type_id: of.id,
        type_seen_at: of.resource_version,
    }
}

pub fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

pub fn new_token(name: &str) -> NewToken {
    NewToken {
        name: name.into(),
        role: model::Role::Editor,
        expires_at: None,
        prefix: format!("prefix-{name}"),
        hash: vec![0, 1, 0xfe, 0xff],
    }
}

pub async fn create_type(store: &Store, scope: &Scope, new: &NewType) -> Result<ResourceType, Error> {
    store.write(0, work!([scope, new], |tx| tx.create_type(&scope, &actor(), &new).await)).await
}

/// Any type, for stories that are not about types.
pub async fn some_type(store: &Store, scope: &Scope, name: &str) -> ResourceType {
    create_type(store, scope, &new_type(name, "v1")).await.expect("a type is created")
}

pub async fn update_type(store: &Store, scope: &Scope, id: TypeId, schema: &Value) -> Result<ResourceType, Error> {
    let work = work!([scope, schema], |tx| {
        let held = tx.hold_type(&scope, id).await?;
        let next = ResourceType { description: "changed".into(), schema, ..held.clone() };
        tx.update_type(&scope, &actor(), &held, &next).await
    });
    store.write(id.0, work).await
}

pub async fn delete_type(store: &Store, scope: &Scope, id: TypeId) -> Result<(), Error> {
    let work = work!([scope], |tx| {
        let held = tx.hold_type(&scope, id).await?;
        tx.delete_type(&scope, &actor(), &held).await
    });
    store.write(id.0, work).await
}

pub async fn create_resource(store: &Store, scope: &Scope, new: &NewResource) -> Result<Resource, Error> {
    store.create_resource(scope.clone(), actor(), new.clone()).await
}

/// What a reader of the text sees.
pub fn as_shown(text: &ResourceText) -> Resource {
    serde_json::from_str(&serde_json::to_string(text).expect("JSON")).expect("a resource")
}

/// Any resource, for stories that are about something else.
pub async fn some_resource(store: &Store, scope: &Scope, of: &ResourceType, name: &str) -> Resource {
    create_resource(store, scope, &new_resource(name, of)).await.expect("a resource is created")
}

/// Change what is desired, whatever it is by then.
pub async fn update_resource(
    store: &Store,
    scope: &Scope,
    id: ResourceId,
    of: &ResourceType,
    change: impl Fn(&mut Desired) + Clone + Send + Sync + 'static,
) -> Result<Resource, Error> {
    let work = work!([scope, of, change], |tx| {
        let held = tx.hold_resource(&scope, id).await?;
        let mut desired = held.body.desired();
        change(&mut desired);
        tx.update_resource(&scope, &actor(), &held, &desired, of.id, of.resource_version).await
    });
    store.write(id.0, work).await
}

pub async fn request_reconcile(store: &Store, scope: &Scope, id: ResourceId) -> Result<Resource, Error> {
    let work = work!([scope], |tx| {
        let held = tx.hold_resource(&scope, id).await?;
        tx.request_reconcile(&scope, &actor(), &held).await
    });
    store.write(id.0, work).await
}

pub async fn delete_resource(store: &Store, scope: &Scope, id: ResourceId) -> Result<Resource, Error> {
    let work = work!([scope], |tx| {
        let held = tx.hold_resource(&scope, id).await?;
        tx.request_delete(&scope, &actor(), &held).await
    });
    store.write(id.0, work).await
}

pub async fn create_tenant(store: &Store, name: &str) -> Result<Tenant, Error> {
    let new = NewTenant { name: name.into(), description: format!("the tenant {name}") };
    store.write(0, work!([new], |tx| tx.create_tenant(&actor(), &new).await)).await
}

/// A tenant of this name, to act in.
pub async fn tenant(store: &Store, name: &str) -> Scope {
    let created = create_tenant(store, name).await.expect("a tenant is created");
    Scope { id: created.id, name: created.name }
}

pub async fn delete_tenant(store: &Store, name: &str) -> Result<(), Error> {
    let name = name.to_string();
    store.write(0, work!([name], |tx| tx.delete_tenant(&actor(), &name).await)).await
}

pub async fn create_token(store: &Store, scope: &Scope, new: &NewToken) -> Result<Token, Error> {
    store.write(0, work!([scope, new], |tx| tx.create_token(&scope, &actor(), &new).await)).await
}

pub async fn delete_token(store: &Store, scope: &Scope, id: TokenId) -> Result<(), Error> {
    store.write(0, work!([scope], |tx| tx.delete_token(&scope, &actor(), id).await)).await
}

pub async fn record_attempt(
    store: &Store,
    scope: &Scope,
    id: ResourceId,
    generation: i64,
) -> Result<model::HistoryId, Error> {
    let entry = NewHistoryEntry {
        generation,
        success: generation % 2 == 0,
        phase: "completed".into(),
        error_message: (generation % 2 != 0).then(|| format!("attempt {generation} failed")),
        resources_created: 1,
        resources_updated: 2,
        resources_deleted: 3,
    };
    store.write(id.0, work!([scope, entry], |tx| tx.record_attempt(&scope, id, &entry).await)).await
}

/// A resource as it is stored now.
pub async fn now(store: &Store, scope: &Scope, id: ResourceId) -> Resource {
    let StoredResource { body, .. } = store.resource(scope, id).await.expect("the resource exists");
    body
}

pub fn everything(scope: &Scope) -> EventFilter {
    EventFilter { scope: scope.clone(), kinds: Kind::ALL.to_vec(), object_id: None, with_fleet: false }
}

/// All events after a place, once nothing is under way that could hold one back.
pub async fn events(store: &Store, filter: &EventFilter, since: EventSeq) -> Vec<Event> {
    let mut found = Vec::new();
    let mut since = since;
    eventually("the end of the events", async {
        loop {
            let page = store.events(filter, since, 1000).await.expect("events can be read");
            found.extend(page.events);
            since = page.read_to;
            if !page.more && !page.held_back {
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    found
}

/// All events of a tenant.
pub async fn events_of(store: &Store, scope: &Scope) -> Vec<Event> {
    events(store, &everything(scope), EventSeq(0)).await
}

/// Why a change or a question was refused.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[track_caller]
pub fn not_found<T: std::fmt::Debug>(result: Result<T, Error>) {
    let refusal = refused(result);
    assert!(matches!(refusal, Refusal::NotFound { .. }), "expected NotFound, found {refusal:?}");
}

#[track_caller]
pub fn exists<T: std::fmt::Debug>(result: Result<T, Error>) {
    let refusal = refused(result);
    assert!(matches!(refusal, Refusal::Exists { .. }), "expected Exists, found {refusal:?}");
}
