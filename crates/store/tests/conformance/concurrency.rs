//! Many writers at once: on one row, on one name, on the sequence of events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Event, EventSeq, Kind, Resource, ResourceId, ResourceType, TypeId};
use serde_json::{Value, json};
use store::{Error, Refusal, Store};
use tokio::sync::Barrier;

use crate::acts::*;
use crate::db::{Db, eventually};
use crate::gate::UnderWay;

on_both!(
    of_64_writers_on_one_row_each_builds_on_the_one_before,
    of_64_writers_on_one_name_exactly_one_wins,
    no_reader_misses_an_event_or_sees_one_twice_while_64_writers_write,
);

on_postgres!(
    a_change_that_follows_another_comes_after_it_also_in_the_sequence,
    a_create_waits_for_a_change_of_its_type_and_is_refused,
    a_types_deletion_waits_for_a_create_and_is_refused,
    a_create_waits_for_its_tenants_deletion_and_is_refused,
    a_tenants_deletion_waits_for_a_create_and_is_refused,
    writes_that_wait_for_each_other_both_get_through,
);

const WRITERS: usize = 64;

/// Read the counter in the spec, and write it back one higher.
async fn count_up(store: Store, id: ResourceId, of: ResourceType) -> Result<Resource, Error> {
    update_resource(&store, &home(), id, &of, |desired| {
        let count = desired.spec["count"].as_i64().expect("a number");
        desired.spec = json!({"count": count + 1});
    })
    .await
}

/// Each event of an object begins where the one before ended: the sequence tells what happened in the order in which it
/// took effect.
#[track_caller]
fn assert_told_in_order(events: &[Event]) {
    let mut last: BTreeMap<(&str, i64), &Option<Value>> = BTreeMap::new();
    for event in events {
        let before = last.insert((event.kind.as_str(), event.object_id), &event.after);
        assert_eq!(&event.before, before.unwrap_or(&None), "{} {}", event.object_name, event.seq);
    }
}

async fn of_64_writers_on_one_row_each_builds_on_the_one_before(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "counter").await.id;
    let stores = [db.store.clone(), db.open().await];
    let writes: Vec<_> =
        (0..WRITERS).map(|at| tokio::spawn(count_up(stores[at % 2].clone(), id, kind.clone()))).collect();
    for write in writes {
        write.await.expect("no panic").expect("counted");
    }
    let counter = now(&db.store, &home(), id).await;
    assert_eq!((&counter.spec["count"], counter.generation), (&json!(WRITERS), 1 + WRITERS as i64));
    let events = events_of(&db.store, &home()).await;
    assert_eq!(events.len(), 2 + WRITERS);
    assert_told_in_order(&events);
    assert_eq!(events.last().expect("an event").seq.0, counter.resource_version);
}

async fn a_change_that_follows_another_comes_after_it_also_in_the_sequence(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "counter").await.id;
    let network = some_type(&db.store, &home(), "Network").await.id;
    let (here, there) = (db.store.clone(), db.open().await);

    // A transaction begins here and is long in coming to its row; one that begins later, there, is faster.
    let late = UnderWay::before(&here, count_up(here.clone(), id, kind.clone())).await;
    let early = count_up(there.clone(), id, kind.clone()).await.expect("counted");
    let late = late.end().await.expect("counted");
    assert_eq!((&early.spec["count"], &late.spec["count"]), (&json!(1), &json!(2)));
    assert!(late.resource_version > early.resource_version);

    let late = UnderWay::before(&here, rename(here.clone(), network, "late")).await;
    let early = rename(there, network, "early").await.expect("renamed");
    let late = late.end().await.expect("renamed");
    assert!(late.resource_version > early.resource_version);
    assert_told_in_order(&events_of(&db.store, &home()).await);
}

async fn rename(store: Store, id: TypeId, title: &str) -> Result<ResourceType, Error> {
    update_type(&store, &home(), id, &json!({"title": title})).await
}

async fn a_create_waits_for_a_change_of_its_type_and_is_refused(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let (there, id, new) = (db.open().await, kind.id, new_resource("orders", &kind));
    let change = UnderWay::after(&db.store, rename(db.store.clone(), id, "changed")).await;
    let create = tokio::spawn(async move { create_resource(&there, &home(), &new).await });
    db.until_somebody_waits().await;
    change.end().await.expect("changed");
    assert_eq!(refused(create.await.expect("no panic")), Refusal::TypeChanged { type_id: id });
}

async fn a_types_deletion_waits_for_a_create_and_is_refused(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let (here, there, id, new) = (db.store.clone(), db.open().await, kind.id, new_resource("orders", &kind));
    let create = UnderWay::after(&db.store, async move { create_resource(&here, &home(), &new).await }).await;
    let delete = tokio::spawn(async move { delete_type(&there, &home(), id).await });
    db.until_somebody_waits().await;
    create.end().await.expect("created");
    assert!(matches!(refused(delete.await.expect("no panic")), Refusal::InUse { .. }));
}

async fn a_create_waits_for_its_tenants_deletion_and_is_refused(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let acme = tenant(&db.store, "acme").await;
    let (here, there, new) = (db.store.clone(), db.open().await, new_resource("orders", &kind));
    let delete = UnderWay::after(&db.store, async move { delete_tenant(&here, "acme").await }).await;
    let create = tokio::spawn(async move { create_resource(&there, &acme, &new).await });
    db.until_somebody_waits().await;
    delete.end().await.expect("deleted");
    not_found(create.await.expect("no panic"));
}

async fn a_tenants_deletion_waits_for_a_create_and_is_refused(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let acme = tenant(&db.store, "acme").await;
    let (here, there, new) = (db.store.clone(), db.open().await, new_resource("orders", &kind));
    let create = UnderWay::after(&db.store, async move { create_resource(&here, &acme, &new).await }).await;
    let delete = tokio::spawn(async move { delete_tenant(&there, "acme").await });
    db.until_somebody_waits().await;
    create.end().await.expect("created");
    assert!(matches!(refused(delete.await.expect("no panic")), Refusal::InUse { .. }));
}

async fn writes_that_wait_for_each_other_both_get_through(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let first = some_resource(&db.store, &home(), &kind, "first").await.id;
    let second = some_resource(&db.store, &home(), &kind, "second").await.id;
    let both_hold = Arc::new(Barrier::new(2));
    let ask_both = |store: Store, ids: [ResourceId; 2]| {
        let (scope, both_hold, met) = (home(), both_hold.clone(), Arc::new(AtomicBool::new(false)));
        tokio::spawn(async move {
            let work = work!([scope, both_hold, met], |tx| {
                for id in ids {
                    let held = tx.hold_resource(&scope, id).await?;
                    tx.request_reconcile(&scope, &actor(), &held).await?;
                    // Once only: whoever has to begin again is alone.
                    if !met.swap(true, Ordering::AcqRel) {
                        both_hold.wait().await;
                    }
                }
                Ok(())
            });
            store.write(0, work).await
        })
    };
    let writes = [ask_both(db.store.clone(), [first, second]), ask_both(db.open().await, [second, first])];
    for write in writes {
        eventually("an answer", write).await.expect("no panic").expect("done");
    }
    assert_told_in_order(&events_of(&db.store, &home()).await);
}

async fn of_64_writers_on_one_name_exactly_one_wins(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let stores = [db.store.clone(), db.open().await];
    let writes: Vec<_> = (0..WRITERS)
        .map(|at| {
            let (store, new) = (stores[at % 2].clone(), new_resource("wanted", &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    let mut created = Vec::new();
    for write in writes {
        match write.await.expect("no panic") {
            Ok(resource) => created.push(resource),
            refused => exists(refused),
        }
    }
    assert_eq!(created.len(), 1);
    let found = db.store.resource_by_name(&home(), "Database", "wanted").await.expect("found");
    assert_eq!(as_shown(&found), created[0]);
    assert_eq!(events_of(&db.store, &home()).await.len(), 2);
}

/// Read as a watcher does, until the writers are done and nothing is left.
async fn follow(store: Store, from: EventSeq, limit: usize, done: Arc<AtomicBool>) -> (EventSeq, Vec<Event>) {
    let (mut seen, mut since) = (Vec::<Event>::new(), from);
    loop {
        let ending = done.load(Ordering::Acquire);
        let page = store.events(&everything(&home()), since, limit).await.expect("events can be read");
        for event in page.events {
            assert!(event.seq > since, "{} came at or below {since}, which was read already", event.seq);
            assert!(event.seq <= page.read_to);
            assert!(seen.last().is_none_or(|last| last.seq < event.seq));
            seen.push(event);
        }
        assert!(page.read_to >= since);
        since = page.read_to;
        if ending && !page.more && !page.held_back {
            return (from, seen);
        }
        tokio::task::yield_now().await;
    }
}

/// A life with five events.
async fn live(store: Store, name: String, of: ResourceType) {
    let id = some_resource(&store, &home(), &of, &name).await.id;
    for count in 1..=3 {
        update_resource(&store, &home(), id, &of, move |desired| desired.spec = json!({"count": count}))
            .await
            .expect("updated");
    }
    delete_resource(&store, &home(), id).await.expect("deleted");
}

async fn no_reader_misses_an_event_or_sees_one_twice_while_64_writers_write(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let stores = [db.store.clone(), db.open().await];
    let done = Arc::new(AtomicBool::new(false));
    let mut readers: Vec<_> = [1, 3, 20, 1000]
        .into_iter()
        .enumerate()
        .map(|(at, limit)| tokio::spawn(follow(stores[at % 2].clone(), EventSeq(0), limit, done.clone())))
        .collect();
    let mut writers: Vec<_> =
        (0..WRITERS).map(|at| tokio::spawn(live(stores[at % 2].clone(), format!("r{at}"), kind.clone()))).collect();
    // Some begin in the middle, wherever that is by then.
    for (at, writer) in writers.drain(..).enumerate() {
        writer.await.expect("no panic");
        if at % 16 == 0 {
            let from =
                stores[at % 2].events(&everything(&home()), EventSeq(0), 1 + at * 2).await.expect("a page").read_to;
            readers.push(tokio::spawn(follow(stores[at % 2].clone(), from, 7, done.clone())));
        }
    }
    done.store(true, Ordering::Release);

    let all = events_of(&db.store, &home()).await;
    assert_eq!(all.len(), 1 + WRITERS * 5);
    assert_eq!(db.number("SELECT count(*) FROM events").await, all.len() as i64);
    assert!(all.iter().skip(1).all(|event| event.kind == Kind::Resource));
    assert_told_in_order(&all);
    for reader in readers {
        let (from, seen) = eventually("the reader's end", reader).await.expect("no panic");
        let expected: Vec<_> = all.iter().filter(|event| event.seq > from).map(|event| event.seq).collect();
        assert_eq!(seen.iter().map(|event| event.seq).collect::<Vec<_>>(), expected, "from {from}");
    }
}
