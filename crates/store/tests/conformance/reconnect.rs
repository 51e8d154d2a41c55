//! PostgreSQL goes away and comes back.

use futures::future::join_all;
use store::{Error, Store};

use crate::acts::*;
use crate::db::{Db, eventually};
use crate::gate::{Gate, queued};
use crate::wire::{Fault, Wire};

on_postgres!(
    after_a_restart_the_first_read_and_the_first_write_succeed,
    after_the_network_broke_the_first_read_and_the_first_write_succeed,
    what_is_under_way_when_connections_break_succeeds,
    a_commit_whose_answer_is_lost_is_reported_as_unknown,
    a_commit_that_never_arrived_is_reported_as_unknown,
    a_commit_during_which_the_server_goes_down_is_reported_as_unknown,
    a_write_that_fails_at_the_commit_does_not_take_its_neighbours_with_it,
    a_commit_that_nothing_is_heard_of_is_reported_as_unknown,
    all_who_wait_are_told_together_that_the_database_is_away,
    connections_that_fell_silent_are_reported_and_given_up,
);

/// Fill the pool, so that many connections are there to be lost.
async fn warm(store: &Store) {
    let reads = (0..64).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.tenants(0, 10).await.map(drop) })
    });
    for read in join_all(reads).await {
        read.expect("no panic").expect("read");
    }
}

/// Every kind of read, each more often than there are connections to be found dead.
async fn read_everything(store: &Store, of: &model::ResourceType, id: model::ResourceId) {
    store.ping().await.expect("ping");
    store.database().await.expect("database");
    store.horizon().await.expect("horizon");
    store.resource(&home(), id).await.expect("resource");
    store.resource_by_name(&home(), &of.name, "orders").await.expect("resource_by_name");
    store.resources(&home(), &Default::default(), 0, 10).await.expect("resources");
    store.outputs(&home(), id).await.expect("outputs");
    store.history(&home(), id, None, 10).await.expect("history");
    store.specs_of_type(of.id, 0, model::EventSeq(i64::MAX), 10).await.expect("specs_of_type");
    store.resource_type(&home(), of.id).await.expect("resource_type");
    store.resource_type_by_name(&home(), &of.name, &of.version).await.expect("resource_type_by_name");
    store.resource_types(&home(), None, 0, 10).await.expect("resource_types");
    store.scope("default").await.expect("scope");
    store.tenant("default").await.expect("tenant");
    store.tenants(0, 10).await.expect("tenants");
    store.token(&home(), model::TokenId(1)).await.expect("token");
    store.token_by_prefix("prefix-ci").await.expect("token_by_prefix");
    store.tokens(&home(), 0, 10).await.expect("tokens");
    store.has_tokens().await.expect("has_tokens");
    store.is_token_good(model::TokenId(1)).await.expect("is_token_good");
    store.events(&everything(&home()), model::EventSeq(0), 10).await.expect("events");
}

/// All that a read can find.
async fn something(store: &Store) -> (model::ResourceType, model::ResourceId) {
    let kind = some_type(store, &home(), "Database").await;
    let id = some_resource(store, &home(), &kind, "orders").await.id;
    create_token(store, &home(), &new_token("ci")).await.expect("created");
    (kind, id)
}

async fn after_a_restart_the_first_read_and_the_first_write_succeed(db: Db) {
    let (kind, id) = something(&db.store).await;
    for at in 0..3 {
        warm(&db.store).await;
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()").await;
        read_everything(&db.store, &kind, id).await;
        some_resource(&db.store, &home(), &kind, &format!("after-{at}")).await;
    }
}

async fn after_the_network_broke_the_first_read_and_the_first_write_succeed(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let (kind, id) = something(&store).await;
    for at in 0..3 {
        warm(&store).await;
        wire.cut();
        some_resource(&store, &home(), &kind, &format!("after-{at}")).await;
        read_everything(&store, &kind, id).await;
    }
    // Each read by itself, so that each is the one that finds the connections dead.
    for _ in 0..20 {
        warm(&store).await;
        wire.cut();
        let reads = (0..16).map(|_| {
            let (store, kind) = (store.clone(), kind.clone());
            tokio::spawn(async move { read_everything(&store, &kind, id).await })
        });
        for read in join_all(reads).await {
            read.expect("every read succeeds");
        }
    }
}

async fn what_is_under_way_when_connections_break_succeeds(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let (kind, _) = something(&store).await;
    let (mut created, mut unknown) = (0, 0);
    let writes: Vec<_> = (0..100)
        .map(|at| {
            let (store, new) = (store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    for (at, write) in writes.into_iter().enumerate() {
        if at % 4 == 0 {
            wire.cut();
        }
        store.resources(&home(), &Default::default(), 0, 1000).await.expect("a read");
        match write.await.expect("no panic") {
            Ok(_) => created += 1,
            Err(Error::Unknown(_)) => unknown += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    let there = db.number("SELECT count(*) FROM resources WHERE name LIKE 'r%'").await;
    assert!(created <= there && there <= created + unknown, "{created} created, {unknown} unknown, {there} there");
}

async fn a_commit_whose_answer_is_lost_is_reported_as_unknown(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let kind = some_type(&store, &home(), "Database").await;
    wire.break_commit(Fault::Unanswered);
    let lost = create_resource(&store, &home(), &new_resource("orders", &kind)).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
    store.resource_by_name(&home(), "Database", "orders").await.expect("it was committed");
    assert_eq!(events_of(&store, &home()).await.len(), 2, "once");
    some_resource(&store, &home(), &kind, "next").await;
}

async fn a_commit_that_never_arrived_is_reported_as_unknown(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let kind = some_type(&store, &home(), "Database").await;
    wire.break_commit(Fault::Unsent);
    let lost = create_resource(&store, &home(), &new_resource("orders", &kind)).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
    // The server gives the transaction up as soon as it sees the connection gone.
    some_resource(&store, &home(), &kind, "orders").await;
}

async fn a_commit_that_nothing_is_heard_of_is_reported_as_unknown(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let kind = some_type(&store, &home(), "Database").await;
    wire.break_commit(Fault::Stuck);
    let lost = eventually("an answer", create_resource(&store, &home(), &new_resource("orders", &kind))).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
    some_resource(&store, &home(), &kind, "next").await;
}

/// Have the server do this when it commits a resource of the name.
async fn at_commit(db: &Db, name: &str, act: &str) {
    db.execute(&format!(
        "CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act}; RETURN NULL; END $$;
         CREATE CONSTRAINT TRIGGER act AFTER INSERT ON resources DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW WHEN (NEW.name = '{name}') EXECUTE FUNCTION act()"
    ))
    .await;
}

async fn a_commit_during_which_the_server_goes_down_is_reported_as_unknown(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    at_commit(&db, "orders", "PERFORM pg_terminate_backend(pg_backend_pid())").await;
    let lost = create_resource(&db.store, &home(), &new_resource("orders", &kind)).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
    some_resource(&db.store, &home(), &kind, "next").await;
}

async fn a_write_that_fails_at_the_commit_does_not_take_its_neighbours_with_it(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    at_commit(&db, "r3", "RAISE EXCEPTION 'not this one'").await;
    let gate = Gate::shut(&db.store).await;
    let writes: Vec<_> = (0..6)
        .map(|at| {
            let (store, new) = (db.store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    queued(&db.store, 6).await;
    gate.open().await;
    for (at, write) in writes.into_iter().enumerate() {
        match write.await.expect("no panic") {
            Ok(_) => assert_ne!(at, 3),
            Err(Error::Unavailable(_)) => assert_eq!(at, 3),
            Err(other) => panic!("r{at}: {other:?}"),
        }
    }
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 5);
}

async fn all_who_wait_are_told_together_that_the_database_is_away(db: Db) {
    let mut wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let kind = some_type(&store, &home(), "Database").await;
    wire.down().await;
    let writes: Vec<_> = (0..100)
        .map(|at| {
            let (store, new) = (store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    let read = store.tenants(0, 10).await;
    assert!(matches!(read, Err(Error::Unavailable(_))), "{read:?}");
    for write in eventually("the answers", join_all(writes)).await {
        let write = write.expect("no panic");
        assert!(matches!(write, Err(Error::Unavailable(_))), "{write:?}");
    }
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 0);
    wire.up().await;
    some_resource(&store, &home(), &kind, "back").await;
    store.resource_by_name(&home(), "Database", "back").await.expect("read");
}

async fn connections_that_fell_silent_are_reported_and_given_up(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    let (kind, id) = something(&store).await;
    warm(&store).await;
    wire.silence();
    let reads: Vec<_> = (0..16)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.tenants(0, 10).await.map(drop) })
        })
        .collect();
    let writes: Vec<_> = (0..16)
        .map(|at| {
            let (store, new) = (store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await.map(drop) })
        })
        .collect();
    for answer in eventually("the answers", join_all(reads.into_iter().chain(writes))).await {
        let answer = answer.expect("no panic");
        assert!(matches!(answer, Ok(()) | Err(Error::Unavailable(_))), "{answer:?}");
    }
    // New connections pass: nobody waits for the old ones any more.
    for _ in 0..3 {
        warm(&store).await;
        read_everything(&store, &kind, id).await;
    }
    some_resource(&store, &home(), &kind, "next").await;
}
