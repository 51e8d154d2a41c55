//! Resource types: made, changed, used, deleted.

use model::{Action, Kind, Lifecycle};
use serde_json::json;
use store::Refusal;

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_type_reads_back_as_it_was_created,
    versions_of_a_type_live_side_by_side,
    a_name_and_version_that_exist_are_refused,
    an_update_changes_description_and_schema_and_nothing_else,
    a_type_that_does_not_exist_is_not_found,
    a_type_in_use_is_not_deleted,
    a_type_is_in_use_until_its_last_resource_is_gone,
    a_refusal_to_delete_names_a_few_of_the_users,
    a_deleted_type_is_gone_and_its_name_is_free_under_another_id,
    every_change_of_a_type_is_an_event,
    the_specs_of_a_type_are_those_of_its_live_resources_in_the_order_of_their_changes,
    the_specs_changed_after_a_place_are_exactly_those,
);

async fn a_type_reads_back_as_it_was_created(db: Db) {
    let new = store::NewType {
        schema: json!({"type": "object", "properties": {"n": {"minimum": 1.5}}}),
        ..new_type("Database", "v1")
    };
    let created = create_type(&db.store, &home(), &new).await.expect("created");
    assert_eq!((created.name.as_str(), created.version.as_str()), ("Database", "v1"));
    assert_eq!((&created.description, &created.schema), (&new.description, &new.schema));
    assert_eq!(created.tenant, "default");
    assert_eq!(created.created_at, created.updated_at);

    let by_id = db.store.resource_type(&home(), created.id).await.expect("found by id");
    let by_name = db.store.resource_type_by_name(&home(), "Database", "v1").await.expect("found by name");
    assert_eq!((by_id.tenant, &by_id.body), (home().id, &created));
    assert_eq!((by_name.tenant, &by_name.body), (home().id, &created));
    assert_eq!(db.store.resource_types(&home(), None, 0, 10).await.expect("listed").items, [created]);
}

async fn versions_of_a_type_live_side_by_side(db: Db) {
    for (name, version) in [("Database", "v1"), ("Database", "v2"), ("Network", "v1")] {
        create_type(&db.store, &home(), &new_type(name, version)).await.expect("created");
    }
    let listed = db.store.resource_types(&home(), Some("Database"), 0, 10).await.expect("listed").items;
    let versions: Vec<_> = listed.iter().map(|body| body.version.as_str()).collect();
    assert_eq!(versions, ["v1", "v2"]);
    let second = db.store.resource_type_by_name(&home(), "Database", "v2").await.expect("found");
    assert_eq!(second.body.version, "v2");
}

async fn a_name_and_version_that_exist_are_refused(db: Db) {
    some_type(&db.store, &home(), "Database").await;
    let before = db.contents().await;
    exists(create_type(&db.store, &home(), &new_type("Database", "v1")).await);
    assert_eq!(db.contents().await, before);
}

async fn an_update_changes_description_and_schema_and_nothing_else(db: Db) {
    let created = some_type(&db.store, &home(), "Database").await;
    let schema = json!({"type": "object", "required": ["size"]});
    let updated = update_type(&db.store, &home(), created.id, &schema).await.expect("updated");
    assert_eq!((updated.description.as_str(), &updated.schema), ("changed", &schema));
    assert!(updated.resource_version > created.resource_version);
    assert!(updated.updated_at >= created.updated_at);
    assert_eq!((updated.id, &updated.name, &updated.version), (created.id, &created.name, &created.version));
    assert_eq!(updated.created_at, created.created_at);
    assert_eq!(db.store.resource_type(&home(), created.id).await.expect("found").body, updated);
}

async fn a_type_that_does_not_exist_is_not_found(db: Db) {
    let nowhere = model::TypeId(4711);
    not_found(db.store.resource_type(&home(), nowhere).await);
    not_found(db.store.resource_type_by_name(&home(), "Database", "v1").await);
    not_found(update_type(&db.store, &home(), nowhere, &json!({})).await);
    not_found(delete_type(&db.store, &home(), nowhere).await);
    assert!(db.store.resource_types(&home(), None, 0, 10).await.expect("listed").items.is_empty());
}

async fn a_type_in_use_is_not_deleted(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    some_resource(&db.store, &home(), &kind, "orders").await;
    let before = db.contents().await;
    let refusal = refused(delete_type(&db.store, &home(), kind.id).await);
    assert_eq!(refusal, Refusal::InUse { what: "resource type Database/v1".into(), users: "orders".into() });
    assert_eq!(db.contents().await, before);
}

async fn a_type_is_in_use_until_its_last_resource_is_gone(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let resource = some_resource(&db.store, &home(), &kind, "orders").await;
    db.execute("UPDATE resources SET lifecycle = 'active'").await;
    delete_resource(&db.store, &home(), resource.id).await.expect("asked to go");
    assert_eq!(now(&db.store, &home(), resource.id).await.lifecycle, Lifecycle::Deleting);
    assert!(matches!(refused(delete_type(&db.store, &home(), kind.id).await), Refusal::InUse { .. }));

    db.execute("UPDATE resources SET lifecycle = 'pending'").await;
    delete_resource(&db.store, &home(), resource.id).await.expect("gone");
    delete_type(&db.store, &home(), kind.id).await.expect("nobody uses it any more");
}

async fn a_refusal_to_delete_names_a_few_of_the_users(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    for name in 0..7 {
        some_resource(&db.store, &home(), &kind, &format!("db-{name}")).await;
    }
    let Refusal::InUse { users, .. } = refused(delete_type(&db.store, &home(), kind.id).await) else {
        panic!("expected InUse");
    };
    let users: Vec<_> = users.split(", ").collect();
    assert_eq!(users.len(), 6);
    assert!(users[..5].iter().all(|name| name.starts_with("db-")), "{users:?}");
    assert_eq!(users[5], "more");
}

async fn a_deleted_type_is_gone_and_its_name_is_free_under_another_id(db: Db) {
    let first = some_type(&db.store, &home(), "Database").await;
    delete_type(&db.store, &home(), first.id).await.expect("deleted");
    not_found(db.store.resource_type(&home(), first.id).await);
    not_found(db.store.resource_type_by_name(&home(), "Database", "v1").await);
    not_found(update_type(&db.store, &home(), first.id, &json!({})).await);
    not_found(delete_type(&db.store, &home(), first.id).await);
    assert!(db.store.resource_types(&home(), None, 0, 10).await.expect("listed").items.is_empty());

    let second = some_type(&db.store, &home(), "Database").await;
    assert!(second.id > first.id);
}

async fn every_change_of_a_type_is_an_event(db: Db) {
    let created = some_type(&db.store, &home(), "Database").await;
    let updated = update_type(&db.store, &home(), created.id, &json!({"type": "array"})).await.expect("updated");
    delete_type(&db.store, &home(), created.id).await.expect("deleted");

    let events = events_of(&db.store, &home()).await;
    let actions: Vec<_> = events.iter().map(|event| event.action).collect();
    assert_eq!(actions, [Action::Created, Action::Updated, Action::Deleted]);
    for event in &events {
        assert_eq!((event.kind, event.object_id), (Kind::ResourceType, created.id.0));
        assert_eq!(event.object_name, "Database/v1");
        assert_eq!((event.actor.as_str(), event.request_id.as_deref()), ("token:tester", Some("request-1")));
    }
    let (created, updated) = (json!(created), json!(updated));
    assert_eq!((&events[0].before, &events[0].after), (&None, &Some(created.clone())));
    assert_eq!((&events[1].before, &events[1].after), (&Some(created), &Some(updated.clone())));
    assert_eq!((&events[2].before, &events[2].after), (&Some(updated), &None));
    assert_eq!(events[1].after.as_ref().expect("after")["resource_version"], json!(events[1].seq));
}

async fn the_specs_of_a_type_are_those_of_its_live_resources_in_the_order_of_their_changes(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let other = some_type(&db.store, &fleet(), "Network").await;
    let acme = tenant(&db.store, "acme").await;
    let first = some_resource(&db.store, &home(), &kind, "first").await;
    let second = some_resource(&db.store, &acme, &kind, "second").await;
    let third = some_resource(&db.store, &home(), &kind, "third").await;
    let gone = some_resource(&db.store, &home(), &kind, "gone").await;
    some_resource(&db.store, &home(), &other, "of-another-type").await;
    delete_resource(&db.store, &home(), gone.id).await.expect("deleted");
    let first = update_resource(&db.store, &home(), first.id, &kind, |desired| desired.spec = json!({"count": 1}))
        .await
        .expect("updated");

    let all = model::EventSeq(i64::MAX);
    let expected = [
        ("acme/second".to_string(), second.resource_version, json!({"count": 0})),
        ("default/third".to_string(), third.resource_version, json!({"count": 0})),
        ("default/first".to_string(), first.resource_version, json!({"count": 1})),
    ];
    assert_eq!(db.store.specs_of_type(kind.id, 0, all, 10).await.expect("read"), expected);
    assert_eq!(db.store.specs_of_type(kind.id, 0, all, 2).await.expect("read"), expected[..2]);
    let after = second.resource_version;
    assert_eq!(db.store.specs_of_type(kind.id, after, all, 10).await.expect("read"), expected[1..]);
    let up_to = model::EventSeq(third.resource_version);
    assert_eq!(db.store.specs_of_type(kind.id, 0, up_to, 10).await.expect("read"), expected[..2]);
    assert_eq!(db.store.specs_of_type(kind.id, after, model::EventSeq(after), 10).await.expect("read"), []);
}

async fn the_specs_changed_after_a_place_are_exactly_those(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let acme = tenant(&db.store, "acme").await;
    let untouched = some_resource(&db.store, &home(), &kind, "untouched").await;
    let touched = some_resource(&db.store, &acme, &kind, "touched").await;
    let touched = update_resource(&db.store, &acme, touched.id, &kind, |desired| desired.spec = json!({"count": 2}))
        .await
        .expect("updated");
    let late = some_resource(&db.store, &home(), &kind, "late").await;

    let of = kind.id;
    let changed = |after: model::EventSeq| {
        let store = db.store.clone();
        async move {
            let scope = fleet();
            let work = work!([scope], |tx| {
                tx.hold_type(&scope, of).await?;
                tx.specs_changed_after(of, after).await
            });
            store.write(of.0, work).await.expect("read")
        }
    };
    let expected = [
        ("acme/touched".to_string(), touched.resource_version, json!({"count": 2})),
        ("default/late".to_string(), late.resource_version, json!({"count": 0})),
    ];
    assert_eq!(changed(model::EventSeq(untouched.resource_version)).await, expected);
    assert_eq!(changed(model::EventSeq(touched.resource_version)).await, expected[1..]);
    assert_eq!(changed(model::EventSeq(late.resource_version)).await, []);
}
