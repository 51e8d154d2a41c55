//! The history of attempts.

use crate::acts::*;
use crate::db::Db;

on_both!(
    attempts_are_listed_newest_first,
    history_pages_return_each_attempt_once,
    history_stays_when_its_resource_is_gone,
    each_resource_has_a_history_of_its_own,
);

async fn attempts_are_listed_newest_first(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "orders").await.id;
    assert!(db.store.history(&home(), id, None, 10).await.expect("read").items.is_empty());
    let first = record_attempt(&db.store, &home(), id, 1).await.expect("recorded");
    let second = record_attempt(&db.store, &home(), id, 2).await.expect("recorded");
    assert!(second > first);

    let entries = db.store.history(&home(), id, None, 10).await.expect("read").items;
    let [newest, oldest] = entries.as_slice() else { panic!("expected 2 entries, found {entries:?}") };
    assert_eq!((newest.id, newest.generation, newest.success), (second, 2, true));
    assert_eq!(newest.error_message, None);
    assert_eq!((oldest.id, oldest.generation, oldest.success), (first, 1, false));
    assert_eq!(oldest.error_message.as_deref(), Some("attempt 1 failed"));
    for entry in &entries {
        assert_eq!((entry.resource_id, entry.phase.as_str()), (id, "completed"));
        assert_eq!((entry.resources_created, entry.resources_updated, entry.resources_deleted), (1, 2, 3));
    }
}

async fn history_pages_return_each_attempt_once(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "orders").await.id;
    for generation in 1..=7 {
        record_attempt(&db.store, &home(), id, generation).await.expect("recorded");
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = db.store.history(&home(), id, before, 3).await.expect("read");
        seen.extend(page.items.iter().map(|entry| entry.generation));
        // A newer attempt does not disturb whoever is on the way back.
        record_attempt(&db.store, &home(), id, 100).await.expect("recorded");
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
}

async fn history_stays_when_its_resource_is_gone(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let id = some_resource(&db.store, &home(), &kind, "orders").await.id;
    record_attempt(&db.store, &home(), id, 1).await.expect("recorded");
    delete_resource(&db.store, &home(), id).await.expect("deleted");
    record_attempt(&db.store, &home(), id, 2).await.expect("the last attempt ends after the delete");
    assert_eq!(db.store.history(&home(), id, None, 10).await.expect("read").items.len(), 2);
}

async fn each_resource_has_a_history_of_its_own(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let first = some_resource(&db.store, &home(), &kind, "first").await.id;
    let second = some_resource(&db.store, &home(), &kind, "second").await.id;
    record_attempt(&db.store, &home(), first, 1).await.expect("recorded");
    assert!(db.store.history(&home(), second, None, 10).await.expect("read").items.is_empty());
}
