//! Resources: made, found, changed.

use model::{Action, Lifecycle, ResourceId, Status};
use serde_json::json;
use store::Refusal;

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_resource_reads_back_as_it_was_created,
    a_resource_is_shown_to_the_letter_as_it_is,
    a_new_resource_is_pending_and_due_at_once,
    a_name_is_unique_among_the_live_resources_of_a_type_name,
    a_name_is_free_again_once_its_resource_is_gone_and_no_id_is_used_twice,
    a_put_that_changes_nothing_changes_nothing,
    a_change_of_labels_or_annotations_is_a_new_version_of_the_same_generation,
    a_change_of_anything_else_is_a_new_generation_and_due_at_once,
    a_resource_moves_to_another_version_of_its_type,
    a_create_is_refused_where_the_type_changed_since_validation,
    an_update_is_refused_where_the_type_changed_since_validation,
    nothing_is_created_of_a_type_that_is_gone,
    asking_for_reconciliation_is_a_new_version_of_the_same_generation,
    a_resource_that_does_not_exist_is_not_found,
    every_change_of_a_resource_is_an_event,
    outputs_are_empty_before_the_first_reconciliation,
);

async fn a_resource_reads_back_as_it_was_created(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.spec = json!({"engine": "postgres", "size": 3});
    new.desired.plugin_config = json!({"workspace": "prod"});
    new.desired.labels = labels(&[("env", "prod"), ("example.com/tier", "")]);
    new.desired.annotations = labels(&[("note", "any text: ü, \"quotes\", 'ticks'")]);
    let created = create_resource(&db.store, &home(), &new).await.expect("created");
    assert_eq!(created.desired(), new.desired);
    assert_eq!((created.name.as_str(), created.resource_type_name.as_str()), ("orders", "Database"));
    assert_eq!(created.tenant, "default");

    let by_id = db.store.resource(&home(), created.id).await.expect("found by id");
    let by_name = db.store.resource_by_name(&home(), "Database", "orders").await.expect("found by name");
    assert_eq!((by_id.type_id, &by_id.body), (kind.id, &created));
    assert_eq!(as_shown(&by_name), created);
    assert_eq!(db.store.resources(&home(), &Default::default(), 0, 10).await.expect("listed").items, [created]);
}

fn letters(it: &impl serde::Serialize) -> String {
    serde_json::to_string(it).expect("JSON")
}

async fn a_resource_is_shown_to_the_letter_as_it_is(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.spec = json!({"z": [1.0, 1e300, null], "a": {"nested": "\u{0} \\ \"quotes\" ü"}});
    new.desired.plugin_config = json!({"workspace": "prod"});
    new.desired.labels = labels(&[("env", "prod"), ("example.com/tier", "")]);
    new.desired.annotations = labels(&[("note", "any text: ü, \"quotes\", 'ticks'")]);
    let id = create_resource(&db.store, &home(), &new).await.expect("created").id;
    db.execute(&format!(
        "UPDATE resources SET lifecycle = 'failed', status_message = 'it \"broke\"', last_reconcile_time = 1, \
         deletion_requested_at = 2, reconcile_requested_at = 3 WHERE id = {id}"
    ))
    .await;
    some_resource(&db.store, &home(), &kind, "plain").await;
    let whole = db.store.resources(&home(), &Default::default(), 0, 10).await.expect("listed").items;
    let texts = db.store.resource_texts(&home(), &Default::default(), 0, 10).await.expect("listed").items;
    assert_eq!(letters(&texts), letters(&whole));
    let text = db.store.resource_text(&home(), id).await.expect("found");
    assert_eq!(letters(&text), letters(&whole[0]));
    let text = db.store.resource_by_name(&home(), "Database", "orders").await.expect("found");
    assert_eq!(letters(&text), letters(&whole[0]));
}

async fn a_new_resource_is_pending_and_due_at_once(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    assert_eq!((created.lifecycle, created.status), (Lifecycle::Pending, Status::Pending));
    assert_eq!((created.generation, created.observed_generation), (1, 0));
    assert_eq!(created.created_at, created.updated_at);
    assert_eq!((created.last_reconcile_time, created.deletion_requested_at), (None, None));
    let due = db.number("SELECT next_reconcile_at FROM resources").await;
    assert_eq!(due, created.created_at.as_microsecond());
}

async fn a_name_is_unique_among_the_live_resources_of_a_type_name(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let newer = create_type(&db.store, &home(), &new_type("Database", "v2")).await.expect("created");
    let other = some_type(&db.store, &home(), "Network").await;
    some_resource(&db.store, &home(), &kind, "orders").await;
    let before = db.contents().await;
    exists(create_resource(&db.store, &home(), &new_resource("orders", &kind)).await);
    exists(create_resource(&db.store, &home(), &new_resource("orders", &newer)).await);
    assert_eq!(db.contents().await, before);
    some_resource(&db.store, &home(), &other, "orders").await;
}

async fn a_name_is_free_again_once_its_resource_is_gone_and_no_id_is_used_twice(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut last = ResourceId(0);
    for _ in 0..3 {
        let created = some_resource(&db.store, &home(), &kind, "orders").await;
        assert!(created.id > last);
        last = created.id;
        delete_resource(&db.store, &home(), last).await.expect("deleted");
    }
}

async fn a_put_that_changes_nothing_changes_nothing(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.labels = labels(&[("env", "prod")]);
    let created = create_resource(&db.store, &home(), &new).await.expect("created");
    let before = db.contents().await;
    let put = update_resource(&db.store, &home(), created.id, &kind, |_| {}).await.expect("put");
    assert_eq!(put, created);
    assert_eq!(db.contents().await, before);
}

async fn a_change_of_labels_or_annotations_is_a_new_version_of_the_same_generation(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    db.execute("UPDATE resources SET next_reconcile_at = NULL").await;
    let labelled = update_resource(&db.store, &home(), created.id, &kind, |desired| {
        desired.labels = labels(&[("env", "prod")]);
    })
    .await
    .expect("labelled");
    let noted = update_resource(&db.store, &home(), created.id, &kind, |desired| {
        desired.annotations = labels(&[("note", "later")]);
    })
    .await
    .expect("noted");
    assert!(created.resource_version < labelled.resource_version && labelled.resource_version < noted.resource_version);
    assert_eq!((labelled.generation, noted.generation), (1, 1));
    assert_eq!(now(&db.store, &home(), created.id).await, noted);
    assert_eq!(db.number("SELECT count(*) FROM resources WHERE next_reconcile_at IS NULL").await, 1);
}

async fn a_change_of_anything_else_is_a_new_generation_and_due_at_once(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "orders").await.id;
    let changes: [fn(&mut model::Desired); 3] = [
        |desired| desired.spec = json!({"count": 1}),
        |desired| desired.plugin_config = json!({"workspace": "prod"}),
        |desired| desired.action_plugin = "github_actions".into(),
    ];
    for (change, generation) in changes.into_iter().zip(2..) {
        db.execute("UPDATE resources SET next_reconcile_at = NULL").await;
        let updated = update_resource(&db.store, &home(), id, &kind, change).await.expect("updated");
        assert_eq!(updated.generation, generation);
        assert_eq!(now(&db.store, &home(), id).await, updated);
        let due = db.number("SELECT next_reconcile_at FROM resources").await;
        assert_eq!(due, updated.updated_at.as_microsecond());
    }
}

async fn a_resource_moves_to_another_version_of_its_type(db: Db) {
    let old = some_type(&db.store, &home(), "Database").await;
    let new = create_type(&db.store, &home(), &new_type("Database", "v2")).await.expect("created");
    let created = some_resource(&db.store, &home(), &old, "orders").await;
    let moved = update_resource(&db.store, &home(), created.id, &new, |desired| {
        desired.resource_type_version = "v2".into();
    })
    .await
    .expect("moved");
    assert_eq!((moved.resource_type_version.as_str(), moved.generation), ("v2", 2));
    assert_eq!(db.store.resource(&home(), created.id).await.expect("found").type_id, new.id);
    delete_type(&db.store, &home(), old.id).await.expect("nobody uses the old version any more");
    assert!(matches!(refused(delete_type(&db.store, &home(), new.id).await), Refusal::InUse { .. }));
}

async fn a_create_is_refused_where_the_type_changed_since_validation(db: Db) {
    let seen = some_type(&db.store, &home(), "Database").await;
    let changed = update_type(&db.store, &home(), seen.id, &json!({"required": ["size"]})).await.expect("updated");
    let before = db.contents().await;
    let refusal = refused(create_resource(&db.store, &home(), &new_resource("orders", &seen)).await);
    assert_eq!(refusal, Refusal::TypeChanged { type_id: seen.id });
    assert_eq!(db.contents().await, before);
    some_resource(&db.store, &home(), &changed, "orders").await;
}

async fn an_update_is_refused_where_the_type_changed_since_validation(db: Db) {
    let seen = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &seen, "orders").await.id;
    let changed = update_type(&db.store, &home(), seen.id, &json!({"required": ["size"]})).await.expect("updated");
    let before = db.contents().await;
    let grow = |desired: &mut model::Desired| desired.spec = json!({"count": 1});
    let refusal = refused(update_resource(&db.store, &home(), id, &seen, grow).await);
    assert_eq!(refusal, Refusal::TypeChanged { type_id: seen.id });
    assert_eq!(db.contents().await, before);
    update_resource(&db.store, &home(), id, &changed, grow).await.expect("validated anew");
}

async fn nothing_is_created_of_a_type_that_is_gone(db: Db) {
    let gone = some_type(&db.store, &home(), "Database").await;
    delete_type(&db.store, &home(), gone.id).await.expect("deleted");
    let before = db.contents().await;
    let refusal = refused(create_resource(&db.store, &home(), &new_resource("orders", &gone)).await);
    assert_eq!(refusal, Refusal::TypeChanged { type_id: gone.id });
    assert_eq!(db.contents().await, before);
}

async fn asking_for_reconciliation_is_a_new_version_of_the_same_generation(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    db.execute("UPDATE resources SET next_reconcile_at = NULL").await;
    let asked = request_reconcile(&db.store, &home(), created.id).await.expect("asked");
    assert!(asked.resource_version > created.resource_version);
    assert_eq!((asked.generation, asked.updated_at), (1, created.updated_at));
    let asked_at = asked.reconcile_requested_at.expect("a time");
    assert_eq!(now(&db.store, &home(), created.id).await, asked);
    assert_eq!(db.number("SELECT next_reconcile_at FROM resources").await, asked_at.as_microsecond());
}

async fn a_resource_that_does_not_exist_is_not_found(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let nowhere = ResourceId(4711);
    not_found(db.store.resource(&home(), nowhere).await);
    not_found(db.store.resource_by_name(&home(), "Database", "orders").await);
    not_found(db.store.outputs(&home(), nowhere).await);
    not_found(db.store.history(&home(), nowhere, None, 10).await);
    not_found(update_resource(&db.store, &home(), nowhere, &kind, |_| {}).await);
    not_found(request_reconcile(&db.store, &home(), nowhere).await);
    not_found(delete_resource(&db.store, &home(), nowhere).await);
    not_found(record_attempt(&db.store, &home(), nowhere, 1).await);
}

async fn every_change_of_a_resource_is_an_event(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    let grow = |desired: &mut model::Desired| desired.spec = json!({"count": 1});
    let updated = update_resource(&db.store, &home(), created.id, &kind, grow).await.expect("updated");
    let asked = request_reconcile(&db.store, &home(), created.id).await.expect("asked");
    delete_resource(&db.store, &home(), created.id).await.expect("deleted");

    let events = events_of(&db.store, &home()).await;
    let [_, first, second, third, fourth] = events.as_slice() else { panic!("expected 5 events, found {events:?}") };
    let (created, updated, asked) = (json!(created), json!(updated), json!(asked));
    assert_eq!((first.action, &first.before, &first.after), (Action::Created, &None, &Some(created.clone())));
    assert_eq!((second.action, &second.before), (Action::Updated, &Some(created)));
    assert_eq!(second.after, Some(updated.clone()));
    assert_eq!((third.action, &third.before), (Action::ReconcileRequested, &Some(updated)));
    assert_eq!(third.after, Some(asked.clone()));
    assert_eq!((fourth.action, &fourth.before, &fourth.after), (Action::Deleted, &Some(asked), &None));
    for event in &events[1..4] {
        let after = event.after.as_ref().expect("the object after");
        assert_eq!(after["resource_version"], json!(event.seq));
        assert_eq!((event.object_name.as_str(), event.tenant.as_str()), ("orders", "default"));
    }
}

async fn outputs_are_empty_before_the_first_reconciliation(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "orders").await.id;
    assert_eq!(db.store.outputs(&home(), id).await.expect("read"), json!({}));
    db.execute(r#"UPDATE resources SET outputs = '{"endpoint": "10.0.0.1:5432"}'"#).await;
    assert_eq!(db.store.outputs(&home(), id).await.expect("read"), json!({"endpoint": "10.0.0.1:5432"}));
    delete_resource(&db.store, &home(), id).await.expect("deleted");
    not_found(db.store.outputs(&home(), id).await);
}
