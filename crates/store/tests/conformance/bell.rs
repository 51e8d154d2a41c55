//! The bell: who listens before a write hears it.

use model::EventSeq;

use crate::acts::*;
use crate::db::{Db, eventually};

on_both!(whoever_listens_before_a_write_hears_the_bell, a_rung_bell_means_that_the_event_can_be_read);

on_postgres!(a_write_of_another_process_rings_the_bell_here, the_bell_rings_again_after_its_connection_was_lost);

async fn whoever_listens_before_a_write_hears_the_bell(db: Db) {
    for at in 0..3 {
        let mut bell = db.store.bell().listen();
        some_type(&db.store, &home(), &format!("Type{at}")).await;
        eventually("the bell", bell.changed()).await.expect("the bell hangs");
    }
}

async fn a_rung_bell_means_that_the_event_can_be_read(db: Db) {
    let mut bell = db.store.bell().listen();
    let store = db.store.clone();
    let write = tokio::spawn(async move { some_type(&store, &home(), "Database").await });
    let mut seen = Vec::new();
    // On PostgreSQL the bell also rings when it is hung; a ring that tells of nothing is followed by another.
    eventually("the event", async {
        while seen.is_empty() {
            bell.changed().await.expect("the bell hangs");
            seen = db.store.events(&everything(&home()), EventSeq(0), 10).await.expect("a page").events;
        }
    })
    .await;
    let created = write.await.expect("no panic");
    assert_eq!(seen[0].object_id, created.id.0);
}

/// More rings than the one that comes with the hanging of the bell.
async fn hear_each_write(here: &store::Store, there: &store::Store, prefix: &str) {
    let mut bell = here.bell().listen();
    for at in 0..3 {
        some_type(there, &home(), &format!("{prefix}{at}")).await;
        eventually("the bell", bell.changed()).await.expect("the bell hangs");
    }
}

async fn a_write_of_another_process_rings_the_bell_here(db: Db) {
    let other = db.open().await;
    hear_each_write(&db.store, &other, "Type").await;
    hear_each_write(&other, &db.store, "Back").await;
}

async fn the_bell_rings_again_after_its_connection_was_lost(db: Db) {
    let other = db.open().await;
    hear_each_write(&db.store, &other, "Before").await;
    db.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN%' AND pid <> pg_backend_pid()",
    )
    .await;
    hear_each_write(&db.store, &other, "After").await;
}
