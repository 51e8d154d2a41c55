//! A refusal changes nothing, whoever it shares a commit with.

use model::{ResourceId, TypeId};
use serde_json::json;
use store::{Error, Refusal};

use crate::acts::*;
use crate::db::Db;
use crate::gate::{Gate, queued};

on_both!(a_refused_write_changes_nothing_while_its_neighbours_commit, a_group_of_refusals_changes_nothing);

async fn a_refused_write_changes_nothing_while_its_neighbours_commit(db: Db) {
    let stale = some_type(&db.store, &home(), "Database").await;
    let kind = update_type(&db.store, &home(), stale.id, &json!({"title": "newer"})).await.expect("updated");
    let taken = some_resource(&db.store, &home(), &kind, "taken").await;
    let seen = events_of(&db.store, &home()).await.len();
    let gate = Gate::shut(&db.store).await;

    let (store, scope) = (&db.store, &home());
    let good: Vec<_> = (0..10)
        .map(|at| {
            let (store, scope, new) = (store.clone(), scope.clone(), new_resource(&format!("good-{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &scope, &new).await })
        })
        .collect();
    let bad: Vec<_> = (0..10)
        .map(|at| {
            let (store, scope, kind, stale) = (store.clone(), scope.clone(), kind.clone(), stale.clone());
            tokio::spawn(async move {
                match at % 5 {
                    0 => create_resource(&store, &scope, &new_resource("taken", &kind)).await.map(drop),
                    1 => create_resource(&store, &scope, &new_resource("stale", &stale)).await.map(drop),
                    2 => delete_resource(&store, &scope, ResourceId(4711)).await.map(drop),
                    3 => delete_type(&store, &scope, kind.id).await,
                    _ => update_resource(&store, &scope, taken.id, &stale, |it| it.spec = json!({"count": 1}))
                        .await
                        .map(drop),
                }
            })
        })
        .collect();
    queued(&db.store, 20).await;
    let before = db.store.writer_stats();
    gate.open().await;

    let mut versions = Vec::new();
    for write in good {
        versions.push(write.await.expect("no panic").expect("created").resource_version);
    }
    for write in bad {
        refused(write.await.expect("no panic"));
    }
    assert_eq!(db.store.writer_stats().groups, before.groups + before.scribes + 1, "one more than the gate's");
    versions.sort_unstable();
    let events: Vec<_> = events_of(&db.store, &home()).await.split_off(seen);
    assert_eq!(events.iter().map(|event| event.seq.0).collect::<Vec<_>>(), versions);
    assert_eq!(now(&db.store, &home(), taken.id).await, taken);
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 11);
}

async fn a_group_of_refusals_changes_nothing(db: Db) {
    let before = db.contents().await;
    let gate = Gate::shut(&db.store).await;
    let writes: Vec<_> = (0..5)
        .map(|at| {
            let store = db.store.clone();
            tokio::spawn(async move { delete_type(&store, &home(), TypeId(4711 + at)).await })
        })
        .collect();
    queued(&db.store, 5).await;
    gate.open().await;
    for write in writes {
        let result = write.await.expect("no panic");
        assert!(matches!(result, Err(Error::Refused(Refusal::NotFound { .. }))), "{result:?}");
    }
    assert_eq!(db.contents().await, before);
}
