//! Deleting resources: at once where nothing was touched, visibly otherwise.

use model::{Action, Lifecycle, Status};
use serde_json::json;
use store::{Refusal, ResourceFilter};

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_resource_that_was_never_reconciled_is_gone_at_once,
    any_other_stays_visible_as_deleting_and_its_name_is_not_free,
    a_repeated_delete_is_harmless,
    a_resource_that_is_going_takes_no_more_changes,
    a_resource_that_is_going_can_be_asked_to_reconcile,
);

async fn a_resource_that_was_never_reconciled_is_gone_at_once(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.labels = labels(&[("env", "prod")]);
    let created = create_resource(&db.store, &home(), &new).await.expect("created");
    let gone = delete_resource(&db.store, &home(), created.id).await.expect("deleted");
    assert_eq!(gone.lifecycle, Lifecycle::Deleted);
    assert!(gone.deletion_requested_at.is_some());

    not_found(db.store.resource(&home(), created.id).await);
    not_found(db.store.resource_by_name(&home(), "Database", "orders").await);
    not_found(delete_resource(&db.store, &home(), created.id).await);
    let labelled =
        ResourceFilter { selector: model::Selector::parse("env=prod").expect("legal"), ..Default::default() };
    for filter in [ResourceFilter::default(), labelled] {
        assert!(db.store.resources(&home(), &filter, 0, 10).await.expect("listed").items.is_empty());
    }
    assert_eq!(db.number("SELECT count(*) FROM resource_labels").await, 0);
    assert_eq!(db.number("SELECT count(*) FROM resources WHERE next_reconcile_at IS NOT NULL").await, 0);
}

async fn any_other_stays_visible_as_deleting_and_its_name_is_not_free(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    for lifecycle in ["provisioning", "configuring", "active", "updating", "failed"] {
        let created = some_resource(&db.store, &home(), &kind, lifecycle).await;
        db.execute(&format!(
            "UPDATE resources SET lifecycle = '{lifecycle}', next_reconcile_at = NULL WHERE id = {}",
            created.id
        ))
        .await;
        let asked = delete_resource(&db.store, &home(), created.id).await.expect("asked to go");
        assert_eq!((asked.lifecycle, asked.status), (Lifecycle::Deleting, Status::Reconciling));
        let asked_at = asked.deletion_requested_at.expect("a time");

        assert_eq!(now(&db.store, &home(), created.id).await, asked);
        let by_name = db.store.resource_by_name(&home(), "Database", lifecycle).await.expect("found");
        assert_eq!(as_shown(&by_name), asked);
        let listed =
            db.store.resources(&home(), &ResourceFilter::default(), created.id.0 - 1, 10).await.expect("listed");
        assert_eq!(listed.items, std::slice::from_ref(&asked));
        exists(create_resource(&db.store, &home(), &new_resource(lifecycle, &kind)).await);
        let due = db.number(&format!("SELECT next_reconcile_at FROM resources WHERE id = {}", created.id)).await;
        assert_eq!(due, asked_at.as_microsecond());

        let last = events_of(&db.store, &home()).await.pop().expect("an event");
        assert_eq!((last.action, last.after), (Action::DeleteRequested, Some(json!(asked))));
    }
}

async fn a_repeated_delete_is_harmless(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    db.execute("UPDATE resources SET lifecycle = 'active'").await;
    let asked = delete_resource(&db.store, &home(), created.id).await.expect("asked to go");
    let before = db.contents().await;
    assert_eq!(delete_resource(&db.store, &home(), created.id).await.expect("asked again"), asked);
    assert_eq!(db.contents().await, before);
}

async fn a_resource_that_is_going_takes_no_more_changes(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    db.execute("UPDATE resources SET lifecycle = 'active'").await;
    delete_resource(&db.store, &home(), created.id).await.expect("asked to go");
    let before = db.contents().await;
    let grow = |desired: &mut model::Desired| desired.spec = json!({"count": 1});
    let refusal = refused(update_resource(&db.store, &home(), created.id, &kind, grow).await);
    assert_eq!(refusal, Refusal::Going { what: "resource orders".into() });
    assert_eq!(db.contents().await, before);
}

async fn a_resource_that_is_going_can_be_asked_to_reconcile(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let created = some_resource(&db.store, &home(), &kind, "orders").await;
    db.execute("UPDATE resources SET lifecycle = 'active'").await;
    delete_resource(&db.store, &home(), created.id).await.expect("asked to go");
    let asked = request_reconcile(&db.store, &home(), created.id).await.expect("a stuck delete can be pushed");
    assert_eq!(asked.lifecycle, Lifecycle::Deleting);
    assert_eq!(now(&db.store, &home(), created.id).await, asked);
}
