//! What belongs to every tenant.

use model::{EventSeq, Kind};
use serde_json::json;
use store::EventFilter;

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_type_of_the_fleet_is_every_tenants_to_see_and_use,
    a_type_of_the_fleet_is_changed_only_in_the_fleet,
    a_tenants_own_type_comes_before_the_fleets,
    a_tenant_sees_the_events_of_the_fleets_types_where_it_asks_for_them,
    the_fleet_itself_sees_each_of_its_events_once,
);

async fn a_type_of_the_fleet_is_every_tenants_to_see_and_use(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    assert_eq!(kind.tenant, "fleet");
    let acme = tenant(&db.store, "acme").await;
    for scope in [home(), acme, fleet()] {
        let found = db.store.resource_type(&scope, kind.id).await.expect("found by id");
        assert_eq!((found.tenant.is_fleet(), &found.body), (true, &kind));
        let found = db.store.resource_type_by_name(&scope, "Database", "v1").await.expect("found by name");
        assert_eq!(found.body, kind);
        assert_eq!(
            db.store.resource_types(&scope, None, 0, 10).await.expect("listed").items,
            std::slice::from_ref(&kind)
        );
        some_resource(&db.store, &scope, &kind, "orders").await;
    }
}

async fn a_type_of_the_fleet_is_changed_only_in_the_fleet(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let before = db.contents().await;
    not_found(update_type(&db.store, &home(), kind.id, &json!({})).await);
    not_found(delete_type(&db.store, &home(), kind.id).await);
    assert_eq!(db.contents().await, before);
    update_type(&db.store, &fleet(), kind.id, &json!({})).await.expect("updated in the fleet");
    delete_type(&db.store, &fleet(), kind.id).await.expect("deleted in the fleet");
}

async fn a_tenants_own_type_comes_before_the_fleets(db: Db) {
    // In both orders, so that the age of a type cannot be what decides.
    let fleets = some_type(&db.store, &fleet(), "Database").await;
    let own = some_type(&db.store, &home(), "Database").await;
    let own_network = some_type(&db.store, &home(), "Network").await;
    let fleets_network = some_type(&db.store, &fleet(), "Network").await;
    let acme = tenant(&db.store, "acme").await;

    for (name, own, fleets) in [("Database", &own, &fleets), ("Network", &own_network, &fleets_network)] {
        assert_eq!(db.store.resource_type_by_name(&home(), name, "v1").await.expect("found").body, *own);
        assert_eq!(db.store.resource_type_by_name(&acme, name, "v1").await.expect("found").body, *fleets);
        assert_eq!(db.store.resource_type_by_name(&fleet(), name, "v1").await.expect("found").body, *fleets);
    }
    delete_type(&db.store, &home(), own.id).await.expect("deleted");
    assert_eq!(db.store.resource_type_by_name(&home(), "Database", "v1").await.expect("found").body, fleets);
}

async fn a_tenant_sees_the_events_of_the_fleets_types_where_it_asks_for_them(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    create_token(&db.store, &fleet(), &new_token("operator")).await.expect("created");
    tenant(&db.store, "acme").await;
    let own = some_type(&db.store, &home(), "Network").await;

    let without = events_of(&db.store, &home()).await;
    assert_eq!(without.iter().map(|event| event.object_id).collect::<Vec<_>>(), [own.id.0]);
    let filter = EventFilter { with_fleet: true, ..everything(&home()) };
    let with = events(&db.store, &filter, EventSeq(0)).await;
    let seen: Vec<_> = with.iter().map(|event| (event.kind, event.object_id, event.tenant.as_str())).collect();
    // The fleet's tokens and tenants are nobody else's.
    assert_eq!(seen, [(Kind::ResourceType, kind.id.0, "fleet"), (Kind::ResourceType, own.id.0, "default")]);
}

async fn the_fleet_itself_sees_each_of_its_events_once(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let filter = EventFilter { with_fleet: true, ..everything(&fleet()) };
    let seen = events(&db.store, &filter, EventSeq(0)).await;
    assert_eq!(seen.iter().map(|event| event.object_id).collect::<Vec<_>>(), [kind.id.0]);
}
