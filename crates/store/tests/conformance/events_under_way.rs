//! On PostgreSQL transactions commit in any order. Readers wait for the ones under way; writers wait for nobody.

use model::EventSeq;
use sqlx::AnyConnection;
use store::Store;

use crate::acts::*;
use crate::db::{Db, eventually, execute, number, until};

on_postgres!(
    readers_hold_back_what_is_later_than_a_transaction_under_way,
    a_transaction_that_is_given_up_holds_nothing_back,
    a_transaction_that_writes_nothing_holds_nothing_back,
    a_transaction_in_another_database_of_the_server_holds_nothing_back,
    a_writer_does_not_wait_for_another,
    new_events_come_after_those_of_a_database_restored_into_a_younger_server,
);

/// A transaction as another process's writer has it: with an event, not yet committed.
async fn under_way(db: &Db) -> (AnyConnection, EventSeq) {
    let mut raw = db.raw().await;
    execute(&mut raw, "BEGIN").await;
    let text = "INSERT INTO events (seq, tenant_id, at, kind, object_id, object_name, action, actor) \
                SELECT (pg_current_xact_id()::text::bigint + xid_offset) << 12, 1, 0, 'token', 1, 'ci', 'deleted', 'system' \
                FROM event_epoch RETURNING seq";
    let seq = number(&mut raw, text).await;
    (raw, EventSeq(seq))
}

async fn readers_hold_back_what_is_later_than_a_transaction_under_way(db: Db) {
    let first = some_type(&db.store, &home(), "First").await;
    until("the first event", async || db.store.horizon().await.expect("a place").0 >= first.resource_version).await;
    let (mut raw, seq) = under_way(&db).await;
    let later = some_type(&db.store, &home(), "Later").await;
    assert!(later.resource_version > seq.0);

    let readers = [db.store.clone(), db.open().await];
    for reader in &readers {
        let page = reader.events(&everything(&home()), EventSeq(0), 10).await.expect("a page");
        assert_eq!(page.events.iter().map(|event| event.object_id).collect::<Vec<_>>(), [first.id.0]);
        assert!(page.held_back);
        assert!(page.read_to < seq);
        assert!(reader.horizon().await.expect("a place") < seq);
        let again = reader.events(&everything(&home()), page.read_to, 10).await.expect("a page");
        assert!(again.events.is_empty() && again.held_back && again.read_to < seq);
    }
    execute(&mut raw, "COMMIT").await;
    for reader in &readers {
        let seen: Vec<_> = events_of(reader, &home()).await.into_iter().map(|event| event.seq.0).collect();
        assert_eq!(seen, [first.resource_version, seq.0, later.resource_version]);
    }
}

async fn a_transaction_that_is_given_up_holds_nothing_back(db: Db) {
    let (mut raw, seq) = under_way(&db).await;
    let later = some_type(&db.store, &home(), "Later").await;
    let page = db.store.events(&everything(&home()), EventSeq(0), 10).await.expect("a page");
    assert!(page.events.is_empty() && page.held_back && page.read_to < seq);
    execute(&mut raw, "ROLLBACK").await;
    let seen: Vec<_> = events_of(&db.store, &home()).await.into_iter().map(|event| event.seq.0).collect();
    assert_eq!(seen, [later.resource_version]);
}

async fn a_transaction_that_writes_nothing_holds_nothing_back(db: Db) {
    let mut raw = db.raw().await;
    execute(&mut raw, "BEGIN").await;
    number(&mut raw, "SELECT count(*) FROM events").await;
    some_type(&db.store, &home(), "Later").await;
    // Comes only if the reading transaction, which stays open, does not hold it back.
    assert_eq!(events_of(&db.store, &home()).await.len(), 1);
    execute(&mut raw, "COMMIT").await;
}

async fn a_transaction_in_another_database_of_the_server_holds_nothing_back(db: Db) {
    let mut elsewhere = db.blank().await.raw().await;
    execute(&mut elsewhere, "BEGIN; CREATE TABLE of_another_program (id INTEGER)").await;
    let kind = some_type(&db.store, &home(), "Database").await;
    let page = db.store.events(&everything(&home()), EventSeq(0), 10).await.expect("a page");
    assert_eq!(page.events.iter().map(|event| event.object_id).collect::<Vec<_>>(), [kind.id.0]);
    assert!(!page.held_back);
    execute(&mut elsewhere, "COMMIT").await;
}

async fn a_writer_does_not_wait_for_another(db: Db) {
    let other = db.open().await;
    let (mut raw, _) = under_way(&db).await;
    let write = async |store: &Store, name: &str| {
        eventually("a write while another is under way", some_type(store, &home(), name)).await
    };
    let first = write(&db.store, "First").await;
    let second = write(&other, "Second").await;
    assert_eq!(db.number("SELECT count(*) FROM resource_types").await, 2, "both are committed");
    execute(&mut raw, "COMMIT").await;
    let seen: Vec<_> = events_of(&db.store, &home()).await.into_iter().map(|event| event.object_id).collect();
    assert_eq!(seen, [1, first.id.0, second.id.0]);
}

async fn new_events_come_after_those_of_a_database_restored_into_a_younger_server(db: Db) {
    // The older server had gone through 2^40 transactions.
    let old = 1_i64 << 52;
    db.execute(&format!(
        "INSERT INTO events (seq, tenant_id, at, kind, object_id, object_name, action, actor) \
         VALUES ({old}, 1, 0, 'token', 1, 'ci', 'deleted', 'system')"
    ))
    .await;
    Store::migrate(&db.location).await.expect("migrated after the restore");
    let first = some_type(&db.store, &home(), "First").await;
    let second = some_type(&db.open().await, &home(), "Second").await;
    assert!(old < first.resource_version && first.resource_version < second.resource_version);
    let seen: Vec<_> = events_of(&db.store, &home()).await.into_iter().map(|event| event.seq.0).collect();
    assert_eq!(seen, [old, first.resource_version, second.resource_version]);

    let offset = db.number("SELECT xid_offset FROM event_epoch").await;
    Store::migrate(&db.location).await.expect("migrated again");
    assert_eq!(db.number("SELECT xid_offset FROM event_epoch").await, offset, "once is enough");
    let (mut raw, seq) = under_way(&db).await;
    let page = db.store.events(&everything(&home()), EventSeq(second.resource_version), 10).await.expect("a page");
    assert!(page.events.is_empty() && page.read_to < seq);
    execute(&mut raw, "COMMIT").await;
    let seen = events(&db.store, &everything(&home()), EventSeq(second.resource_version)).await;
    assert_eq!(seen.into_iter().map(|event| event.seq).collect::<Vec<_>>(), [seq]);
}
