//! Events: filtered, paged, in order.

use model::{EventSeq, Kind};
use serde_json::json;
use store::EventFilter;

use crate::acts::*;
use crate::db::Db;

on_both!(
    an_objects_version_is_the_number_of_its_last_event,
    events_are_filtered_by_kind_and_object,
    a_filter_that_names_no_kind_finds_nothing,
    event_pages_return_each_event_once_in_order,
    whoever_has_read_everything_stays_where_he_is,
    reading_goes_past_events_that_are_filtered_out,
    the_horizon_lies_at_or_beyond_every_event_that_has_happened,
    a_write_that_changes_nothing_leaves_no_event,
);

async fn an_objects_version_is_the_number_of_its_last_event(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let resource = some_resource(&db.store, &home(), &kind, "orders").await;
    let updated = update_resource(&db.store, &home(), resource.id, &kind, |desired| desired.spec = json!({"count": 1}))
        .await
        .expect("updated");
    let numbers: Vec<_> = events_of(&db.store, &home()).await.iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, [kind.resource_version, resource.resource_version, updated.resource_version]);
}

async fn events_are_filtered_by_kind_and_object(db: Db) {
    let first = some_type(&db.store, &home(), "Database").await;
    let second = some_type(&db.store, &home(), "Network").await;
    let resource = some_resource(&db.store, &home(), &first, "orders").await;
    update_type(&db.store, &home(), second.id, &json!({})).await.expect("updated");
    create_token(&db.store, &home(), &new_token("ci")).await.expect("created");
    let seen = async |kinds: &[Kind], object_id: Option<i64>| {
        let filter = EventFilter { kinds: kinds.to_vec(), object_id, ..everything(&home()) };
        let found = events(&db.store, &filter, EventSeq(0)).await;
        found.into_iter().map(|event| (event.kind, event.object_id)).collect::<Vec<_>>()
    };
    let (of_first, of_second) = ((Kind::ResourceType, first.id.0), (Kind::ResourceType, second.id.0));
    let of_resource = (Kind::Resource, resource.id.0);
    assert_eq!(seen(&[Kind::ResourceType], None).await, [of_first, of_second, of_second]);
    assert_eq!(seen(&[Kind::ResourceType], Some(second.id.0)).await, [of_second, of_second]);
    assert_eq!(seen(&[Kind::ResourceType, Kind::Resource], None).await, [of_first, of_second, of_resource, of_second]);
    assert_eq!(seen(&[Kind::Resource], Some(4711)).await, []);
    assert_eq!(seen(&[Kind::Tenant], None).await, []);
    assert_eq!(seen(Kind::ALL, None).await.len(), 5);
}

async fn a_filter_that_names_no_kind_finds_nothing(db: Db) {
    some_type(&db.store, &home(), "Database").await;
    let filter = EventFilter { kinds: vec![], ..everything(&home()) };
    assert_eq!(events(&db.store, &filter, EventSeq(0)).await, []);
}

async fn event_pages_return_each_event_once_in_order(db: Db) {
    for at in 0..6 {
        let kind = some_type(&db.store, &fleet(), &format!("Type{at}")).await;
        some_resource(&db.store, &home(), &kind, &format!("r{at}")).await;
        create_token(&db.store, &home(), &new_token(&format!("t{at}"))).await.expect("created");
    }
    let filter = EventFilter { with_fleet: true, ..everything(&home()) };
    let all = events(&db.store, &filter, EventSeq(0)).await;
    assert!(all.len() == 18 && all.is_sorted_by(|one, next| one.seq < next.seq));
    for limit in 1..=all.len() + 1 {
        let (mut seen, mut since) = (Vec::new(), EventSeq(0));
        loop {
            let page = db.store.events(&filter, since, limit).await.expect("a page");
            assert!(page.events.len() <= limit);
            assert!(page.events.iter().all(|event| event.seq > since && event.seq <= page.read_to));
            seen.extend(page.events);
            since = page.read_to;
            if !page.more {
                break;
            }
        }
        assert_eq!(seen, all, "in pages of {limit}");
    }
}

async fn whoever_has_read_everything_stays_where_he_is(db: Db) {
    some_type(&db.store, &home(), "Database").await;
    let last = events_of(&db.store, &home()).await.pop().expect("an event").seq;
    for since in [last, EventSeq(last.0 + 1_000_000), EventSeq(i64::MAX)] {
        let page = db.store.events(&everything(&home()), since, 10).await.expect("a page");
        assert_eq!((page.events.len(), page.read_to, page.more), (0, since, false));
    }
}

async fn reading_goes_past_events_that_are_filtered_out(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let acme = tenant(&db.store, "acme").await;
    let seen = events(&db.store, &everything(&acme), EventSeq(0)).await;
    assert!(seen.is_empty());
    crate::db::until("reading past another's events", async || {
        let page = db.store.events(&everything(&acme), EventSeq(0), 10).await.expect("a page");
        page.read_to.0 >= kind.resource_version
    })
    .await;
}

async fn the_horizon_lies_at_or_beyond_every_event_that_has_happened(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    crate::db::until("the horizon", async || db.store.horizon().await.expect("a place").0 >= kind.resource_version)
        .await;
    let horizon = db.store.horizon().await.expect("a place");
    let next = some_type(&db.store, &home(), "Network").await;
    assert!(next.resource_version > horizon.0, "what happens after comes after");
}

async fn a_write_that_changes_nothing_leaves_no_event(db: Db) {
    some_type(&db.store, &home(), "Database").await;
    let before = db.contents().await;
    let scope = home();
    db.store.write(0, work!([scope], |tx| tx.hold_type(&scope, model::TypeId(1)).await)).await.expect("only looked");
    assert_eq!(db.contents().await, before);
}
