//! Idempotency keys: a request that is repeated is answered, not repeated.

use model::{Resource, Scope};
use store::{Error, IdempotencyKey, NewResource, Recorded, Refusal, Store};

use crate::acts::*;
use crate::db::Db;
use crate::gate::UnderWay;

on_both!(
    a_repetition_gets_the_recorded_answer,
    a_key_that_was_used_for_another_request_is_refused,
    each_tenant_has_keys_of_its_own,
    a_refused_write_leaves_its_key_unused,
    a_rehearsal_leaves_its_key_unused,
    a_key_is_forgotten_after_a_day,
    of_many_writes_with_one_key_one_is_done_and_the_others_recall,
);

on_postgres!(a_repetition_at_another_process_waits_for_the_first);

#[derive(Debug)]
enum Outcome {
    Done(Box<Resource>),
    Recalled(Recorded),
}

fn key(name: &str) -> IdempotencyKey {
    IdempotencyKey { key: name.into(), fingerprint: "fingerprint".into() }
}

/// Create a resource at most once, as the API does.
async fn create_once(store: &Store, scope: &Scope, key: &IdempotencyKey, new: &NewResource) -> Result<Outcome, Error> {
    let work = work!([scope, key, new], |tx| {
        if let Some(recorded) = tx.recall(&scope, &key).await? {
            return Ok(Outcome::Recalled(recorded));
        }
        let created = tx.create_resource(&scope, &actor(), &new).await?;
        tx.remember(&scope, &key, &answer(&created)).await?;
        Ok(Outcome::Done(Box::new(created)))
    });
    store.write(0, work).await
}

fn answer(created: &Resource) -> Recorded {
    Recorded { status: 201, body: serde_json::to_string(created).expect("JSON") }
}

#[track_caller]
fn done(outcome: Result<Outcome, Error>) -> Resource {
    match outcome {
        Ok(Outcome::Done(created)) => *created,
        other => panic!("expected it to be done, found {other:?}"),
    }
}

#[track_caller]
fn recalled(outcome: Result<Outcome, Error>) -> Recorded {
    match outcome {
        Ok(Outcome::Recalled(recorded)) => recorded,
        other => panic!("expected it to be recalled, found {other:?}"),
    }
}

async fn a_repetition_gets_the_recorded_answer(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let new = new_resource("orders", &kind);
    let created = done(create_once(&db.store, &home(), &key("k"), &new).await);
    let before = db.contents().await;
    for _ in 0..2 {
        assert_eq!(recalled(create_once(&db.store, &home(), &key("k"), &new).await), answer(&created));
    }
    assert_eq!(db.contents().await, before);
}

async fn a_key_that_was_used_for_another_request_is_refused(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    done(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
    let before = db.contents().await;
    let other = IdempotencyKey { fingerprint: "another".into(), ..key("k") };
    let refusal = refused(create_once(&db.store, &home(), &other, &new_resource("invoices", &kind)).await);
    assert_eq!(refusal, Refusal::KeyReused);
    assert_eq!(db.contents().await, before);
}

async fn each_tenant_has_keys_of_its_own(db: Db) {
    let kind = some_type(&db.store, &fleet(), "Database").await;
    let acme = tenant(&db.store, "acme").await;
    done(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
    let there = done(create_once(&db.store, &acme, &key("k"), &new_resource("orders", &kind)).await);
    let recorded = recalled(create_once(&db.store, &acme, &key("k"), &new_resource("orders", &kind)).await);
    assert_eq!(recorded, answer(&there));
}

async fn a_refused_write_leaves_its_key_unused(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let taken = some_resource(&db.store, &home(), &kind, "orders").await;
    exists(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
    delete_resource(&db.store, &home(), taken.id).await.expect("deleted");
    done(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
}

async fn a_rehearsal_leaves_its_key_unused(db: Db) {
    let (scope, key) = (home(), key("k"));
    let recorded = Recorded { status: 200, body: "{}".into() };
    db.store
        .rehearse(work!([scope, key, recorded], |tx| tx.remember(&scope, &key, &recorded).await))
        .await
        .expect("rehearsed");
    let found = db.store.write(0, work!([scope, key], |tx| tx.recall(&scope, &key).await)).await.expect("read");
    assert_eq!(found, None);
}

async fn a_key_is_forgotten_after_a_day(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let first = done(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
    delete_resource(&db.store, &home(), first.id).await.expect("deleted");
    db.execute("UPDATE idempotency_keys SET created_at = created_at - 86399000000").await;
    recalled(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
    db.execute("UPDATE idempotency_keys SET created_at = created_at - 1000000").await;
    done(create_once(&db.store, &home(), &key("k"), &new_resource("orders", &kind)).await);
}

async fn of_many_writes_with_one_key_one_is_done_and_the_others_recall(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let stores = [db.store.clone(), db.open().await];
    for round in 0..8 {
        let writes: Vec<_> = (0..16)
            .map(|at| {
                let (store, new) = (stores[at % 2].clone(), new_resource(&format!("r{round}"), &kind));
                tokio::spawn(async move { create_once(&store, &home(), &key(&format!("k{round}")), &new).await })
            })
            .collect();
        let (mut created, mut answers) = (Vec::new(), Vec::new());
        for write in writes {
            match write.await.expect("no panic").expect("done or recalled") {
                Outcome::Done(resource) => created.push(answer(&resource)),
                Outcome::Recalled(recorded) => answers.push(recorded),
            }
        }
        assert_eq!(created.len(), 1);
        assert!(answers.iter().all(|recorded| *recorded == created[0]));
    }
}

async fn a_repetition_at_another_process_waits_for_the_first(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let (here, there, new) = (db.store.clone(), db.open().await, new_resource("orders", &kind));
    let again = new.clone();
    let first = UnderWay::after(&db.store, async move { create_once(&here, &home(), &key("k"), &new).await }).await;
    // The second must neither do it again nor be refused.
    let second = tokio::spawn(async move { create_once(&there, &home(), &key("k"), &again).await });
    db.until_somebody_waits().await;
    let created = done(first.end().await);
    assert_eq!(recalled(second.await.expect("no panic")), answer(&created));
}
