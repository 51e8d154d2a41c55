//! No tenant sees or changes what is another's.

use model::Scope;
use serde_json::json;
use store::ResourceFilter;

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_tenant_sees_nothing_of_another,
    a_tenant_changes_nothing_of_another,
    tenants_names_do_not_collide,
    a_tenant_cannot_use_anothers_type,
);

async fn a_tenant_sees_nothing_of_another(db: Db) {
    let (acme, rival) = (tenant(&db.store, "acme").await, tenant(&db.store, "rival").await);
    let kind = some_type(&db.store, &acme, "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.labels = labels(&[("env", "prod")]);
    let resource = create_resource(&db.store, &acme, &new).await.expect("created");
    let token = create_token(&db.store, &acme, &new_token("ci")).await.expect("created");
    record_attempt(&db.store, &acme, resource.id, 1).await.expect("recorded");
    let selectors =
        ["", "env=prod", "env", "env!=dev", "!other"].map(|text| model::Selector::parse(text).expect("legal"));

    for other in [rival, home(), fleet()] {
        not_found(db.store.resource_type(&other, kind.id).await);
        not_found(db.store.resource_type_by_name(&other, "Database", "v1").await);
        assert!(db.store.resource_types(&other, None, 0, 10).await.expect("listed").items.is_empty());
        not_found(db.store.resource(&other, resource.id).await);
        not_found(db.store.resource_by_name(&other, "Database", "orders").await);
        not_found(db.store.outputs(&other, resource.id).await);
        not_found(db.store.history(&other, resource.id, None, 10).await);
        for selector in selectors.clone() {
            let filter = ResourceFilter { selector, ..Default::default() };
            assert!(db.store.resources(&other, &filter, 0, 10).await.expect("listed").items.is_empty());
        }
        not_found(db.store.token(&other, token.id).await);
        assert!(db.store.tokens(&other, 0, 10).await.expect("listed").items.is_empty());
        let seen = events_of(&db.store, &other).await;
        assert!(seen.iter().all(|event| event.kind == model::Kind::Tenant && other.id.is_fleet()), "{seen:?}");
    }
}

async fn a_tenant_changes_nothing_of_another(db: Db) {
    let (acme, rival) = (tenant(&db.store, "acme").await, tenant(&db.store, "rival").await);
    let kind = some_type(&db.store, &acme, "Database").await;
    let id = some_resource(&db.store, &acme, &kind, "orders").await.id;
    let token = create_token(&db.store, &acme, &new_token("ci")).await.expect("created");

    let before = db.contents().await;
    for other in [rival, home(), fleet()] {
        not_found(update_type(&db.store, &other, kind.id, &json!({})).await);
        not_found(delete_type(&db.store, &other, kind.id).await);
        not_found(update_resource(&db.store, &other, id, &kind, |desired| desired.spec = json!({"count": 1})).await);
        not_found(request_reconcile(&db.store, &other, id).await);
        not_found(delete_resource(&db.store, &other, id).await);
        not_found(record_attempt(&db.store, &other, id, 1).await);
        not_found(delete_token(&db.store, &other, token.id).await);
    }
    assert_eq!(db.contents().await, before);
}

async fn tenants_names_do_not_collide(db: Db) {
    let (acme, rival) = (tenant(&db.store, "acme").await, tenant(&db.store, "rival").await);
    for scope in [acme, rival] {
        let kind = some_type(&db.store, &scope, "Database").await;
        let created = some_resource(&db.store, &scope, &kind, "orders").await;
        let found = db.store.resource_by_name(&scope, "Database", "orders").await.expect("found");
        assert_eq!((found.id, found.tenant), (created.id, scope.name));
    }
}

async fn a_tenant_cannot_use_anothers_type(db: Db) {
    let (acme, rival) = (tenant(&db.store, "acme").await, tenant(&db.store, "rival").await);
    let foreign = some_type(&db.store, &acme, "Database").await;
    let own = some_type(&db.store, &rival, "Database").await;
    let id = some_resource(&db.store, &rival, &own, "orders").await.id;
    let before = db.contents().await;
    let there: &Scope = &rival;
    refused(create_resource(&db.store, there, &new_resource("stolen", &foreign)).await);
    refused(update_resource(&db.store, there, id, &foreign, |desired| desired.spec = json!({"count": 1})).await);
    assert_eq!(db.contents().await, before);
}
