//! Tenants.

use model::{Action, Kind, Scope, TenantId};
use serde_json::json;
use store::Refusal;

use crate::acts::*;
use crate::db::Db;

on_both!(
    the_default_tenant_and_the_fleet_are_always_there,
    a_tenant_reads_back_as_it_was_created,
    a_tenants_name_is_unique_and_free_again_after_its_deletion,
    a_tenant_that_has_something_left_is_not_deleted,
    a_tenants_tokens_go_with_it,
    nothing_is_created_in_a_tenant_that_is_gone,
    tenants_events_are_the_fleets,
);

async fn the_default_tenant_and_the_fleet_are_always_there(db: Db) {
    assert_eq!(db.store.scope("default").await.expect("there"), Scope::default_tenant());
    assert_eq!(db.store.scope("fleet").await.expect("there"), Scope::fleet());
    assert_eq!(db.store.tenant("default").await.expect("there").id, TenantId::DEFAULT);
    let listed: Vec<_> = db.store.tenants(0, 10).await.expect("listed").items.into_iter().map(|it| it.name).collect();
    assert_eq!(listed, ["default"], "the fleet is no tenant among others");
    not_found(db.store.tenant("fleet").await);
    not_found(delete_tenant(&db.store, "fleet").await);
    exists(create_tenant(&db.store, "fleet").await);
    exists(create_tenant(&db.store, "default").await);
}

async fn a_tenant_reads_back_as_it_was_created(db: Db) {
    let created = create_tenant(&db.store, "acme").await.expect("created");
    assert!(created.id > TenantId::DEFAULT);
    assert_eq!(created.description, "the tenant acme");
    assert_eq!(db.store.tenant("acme").await.expect("found"), created);
    assert_eq!(db.store.scope("acme").await.expect("found"), Scope { id: created.id, name: "acme".into() });
    not_found(db.store.tenant("nobody").await);
    not_found(db.store.scope("nobody").await);
}

async fn a_tenants_name_is_unique_and_free_again_after_its_deletion(db: Db) {
    let first = create_tenant(&db.store, "acme").await.expect("created");
    let before = db.contents().await;
    exists(create_tenant(&db.store, "acme").await);
    assert_eq!(db.contents().await, before);
    delete_tenant(&db.store, "acme").await.expect("deleted");
    not_found(db.store.tenant("acme").await);
    not_found(db.store.scope("acme").await);
    not_found(delete_tenant(&db.store, "acme").await);
    let second = create_tenant(&db.store, "acme").await.expect("created again");
    assert!(second.id > first.id);
}

async fn a_tenant_that_has_something_left_is_not_deleted(db: Db) {
    let acme = tenant(&db.store, "acme").await;
    let kind = some_type(&db.store, &acme, "Database").await;
    let resource = some_resource(&db.store, &acme, &kind, "orders").await;
    for users in ["its resources", "its resource types"] {
        let before = db.contents().await;
        let refusal = refused(delete_tenant(&db.store, "acme").await);
        assert_eq!(refusal, Refusal::InUse { what: "tenant acme".into(), users: users.into() });
        assert_eq!(db.contents().await, before);
        if users == "its resources" {
            delete_resource(&db.store, &acme, resource.id).await.expect("deleted");
        }
    }
    delete_type(&db.store, &acme, kind.id).await.expect("deleted");
    delete_tenant(&db.store, "acme").await.expect("nothing is left");
}

async fn a_tenants_tokens_go_with_it(db: Db) {
    let acme = tenant(&db.store, "acme").await;
    let token = create_token(&db.store, &acme, &new_token("ci")).await.expect("created");
    create_token(&db.store, &home(), &new_token("other")).await.expect("created");
    delete_tenant(&db.store, "acme").await.expect("deleted");
    assert!(db.store.token_by_prefix("prefix-ci").await.expect("read").is_none());
    not_found(db.store.token(&acme, token.id).await);
    assert!(db.store.token_by_prefix("prefix-other").await.expect("read").is_some());
}

async fn nothing_is_created_in_a_tenant_that_is_gone(db: Db) {
    let acme = tenant(&db.store, "acme").await;
    let kind = some_type(&db.store, &fleet(), "Database").await;
    delete_tenant(&db.store, "acme").await.expect("deleted");
    let before = db.contents().await;
    // Each of these was on its way when the tenant went.
    not_found(create_type(&db.store, &acme, &new_type("Network", "v1")).await);
    not_found(create_resource(&db.store, &acme, &new_resource("orders", &kind)).await);
    not_found(create_token(&db.store, &acme, &new_token("ci")).await);
    assert_eq!(db.contents().await, before);
}

async fn tenants_events_are_the_fleets(db: Db) {
    let created = create_tenant(&db.store, "acme").await.expect("created");
    delete_tenant(&db.store, "acme").await.expect("deleted");
    let events = events_of(&db.store, &fleet()).await;
    let [first, second] = events.as_slice() else { panic!("expected 2 events, found {events:?}") };
    assert_eq!((first.kind, first.action, first.object_id), (Kind::Tenant, Action::Created, created.id.0));
    assert_eq!((&first.before, &first.after), (&None, &Some(json!(created))));
    assert_eq!((second.kind, second.action, second.object_id), (Kind::Tenant, Action::Deleted, created.id.0));
    assert_eq!((&second.before, &second.after), (&Some(json!(created)), &None));
    assert!(events_of(&db.store, &home()).await.is_empty());
}
