//! Resources that are created together are inserted together, and each is answered for itself.

use serde_json::json;
use store::{Error, NewResource, Refusal, Store};
use tokio::task::JoinHandle;

use crate::acts::*;
use crate::db::Db;
use crate::gate::{Gate, queued};

on_both!(
    of_two_of_one_name_the_first_is_created_and_the_second_exists,
    one_whose_tenant_or_type_is_gone_does_not_hold_up_the_others,
    the_labels_of_many_are_found,
    those_that_are_large_are_created_too,
    events_tell_of_them_in_the_order_they_came,
);

type Answer = JoinHandle<Result<model::Resource, Error>>;

/// Let these wait, one after the other, and then be created in one group.
async fn together(store: &Store, wanted: Vec<(model::Scope, NewResource)>) -> Vec<Result<model::Resource, Error>> {
    let gate = Gate::shut(store).await;
    let before = store.writer_stats();
    let mut waiting: Vec<Answer> = Vec::new();
    for (scope, new) in wanted {
        let its = store.clone();
        waiting.push(tokio::spawn(async move { create_resource(&its, &scope, &new).await }));
        queued(store, waiting.len() as u64).await;
    }
    gate.open().await;
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await.expect("no panic"));
    }
    assert_eq!(store.writer_stats().groups, before.groups + before.scribes + 1, "one more than the gate's");
    answers
}

async fn of_two_of_one_name_the_first_is_created_and_the_second_exists(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut second = new_resource("orders", &kind);
    second.desired.spec = json!({"count": 2});
    let wanted = [new_resource("orders", &kind), second, new_resource("users", &kind)];
    let mut answers = together(&db.store, wanted.map(|new| (home(), new)).into()).await;
    answers.pop().expect("an answer").expect("created");
    exists(answers.pop().expect("an answer"));
    let first = answers.pop().expect("an answer").expect("created");
    assert_eq!(now(&db.store, &home(), first.id).await, first);
    assert_eq!(first.spec, json!({"count": 0}));
    assert_eq!(events_of(&db.store, &home()).await.len(), 3);
}

async fn one_whose_tenant_or_type_is_gone_does_not_hold_up_the_others(db: Db) {
    let acme = tenant(&db.store, "acme").await;
    delete_tenant(&db.store, "acme").await.expect("deleted");
    let stale = some_type(&db.store, &home(), "Database").await;
    let kind = update_type(&db.store, &home(), stale.id, &json!({"title": "newer"})).await.expect("updated");
    let gone = some_type(&db.store, &home(), "Gone").await;
    delete_type(&db.store, &home(), gone.id).await.expect("deleted");
    let fleets = some_type(&db.store, &fleet(), "Network").await;
    let wanted = vec![
        (home(), new_resource("first", &kind)),
        (acme, new_resource("orphan", &fleets)),
        (home(), new_resource("stale", &stale)),
        (home(), new_resource("gone", &gone)),
        (home(), new_resource("last", &fleets)),
    ];
    let [first, orphan, stale, gone, last] = together(&db.store, wanted).await.try_into().expect("five answers");
    first.expect("created");
    not_found(orphan);
    for answer in [stale, gone] {
        let refusal = refused(answer);
        assert!(matches!(refusal, Refusal::TypeChanged { .. }), "{refusal:?}");
    }
    last.expect("created");
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 2);
}

async fn the_labels_of_many_are_found(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let wanted = (0..40).map(|at| {
        let mut new = new_resource(&format!("r{at}"), &kind);
        new.desired.labels = labels(&[("env", "prod"), ("parity", if at % 2 == 0 { "even" } else { "odd" })]);
        (home(), new)
    });
    for answer in together(&db.store, wanted.collect()).await {
        answer.expect("created");
    }
    assert_eq!(db.number("SELECT count(*) FROM resource_labels").await, 80);
    let selector = model::Selector::parse("env=prod,parity=odd").expect("legal");
    let filter = store::ResourceFilter { selector, ..Default::default() };
    let found = db.store.resources(&home(), &filter, 0, 100).await.expect("listed").items;
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|it| it.labels["parity"] == "odd"));
}

async fn those_that_are_large_are_created_too(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let wanted = (0..5).map(|at| {
        let mut new = new_resource(&format!("r{at}"), &kind);
        new.desired.spec = json!({"text": "\"x\"".repeat(150_000), "at": at});
        (home(), new)
    });
    for answer in together(&db.store, wanted.collect()).await {
        let created = answer.expect("created");
        assert_eq!(now(&db.store, &home(), created.id).await, created);
    }
}

async fn events_tell_of_them_in_the_order_they_came(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let names: Vec<_> = (0..20).map(|at| format!("r{}", (at * 7) % 20)).collect();
    let wanted = names.iter().map(|name| (home(), new_resource(name, &kind)));
    let created: Vec<_> =
        together(&db.store, wanted.collect()).await.into_iter().map(|answer| answer.expect("created")).collect();
    let events = events_of(&db.store, &home()).await.split_off(1);
    assert_eq!(events.iter().map(|event| &event.object_name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    for (event, resource) in events.iter().zip(&created) {
        assert_eq!((event.seq.0, event.object_id), (resource.resource_version, resource.id.0));
    }
    assert!(created.is_sorted_by_key(|resource| resource.id), "ids follow the order too");
}
