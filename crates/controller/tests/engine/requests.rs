use std::time::Duration;

use model::{Lifecycle, OperationState, Reason};
use serde_json::json;

use crate::harness::Bench;

stories!(
    changes_during_an_operation_queue_behind_it_and_coalesce,
    a_request_during_an_operation_is_done_after_it,
    a_delete_is_never_coalesced_away,
    an_operation_keeps_to_what_its_generation_asked_for,
    what_is_queued_does_not_hurry_what_waits,
);

async fn an_operation_keeps_to_what_its_generation_asked_for(bench: Bench) {
    let script = json!({ "apply": ["wait:60", "done"] });
    let id = bench.create("one", script.clone()).await.id;
    bench.settle().await;
    bench.update(id, script.clone(), json!({ "size": 2 })).await;
    bench.update(id, script, json!({ "size": 3 })).await;
    for _ in 0..2 {
        bench.pass(Duration::from_secs(61)).await;
        bench.settle().await;
    }
    let specs = bench.outside.specs.lock().expect("the record").clone();
    assert_eq!(specs, [json!({}), json!({}), json!({ "size": 3 }), json!({ "size": 3 })]);
    assert_eq!(bench.get(id).await.observed_generation, 3);
}

async fn what_is_queued_does_not_hurry_what_waits(bench: Bench) {
    let script = json!({ "apply": ["wait:60", "wait:60", "done"] });
    let id = bench.create("one", script.clone()).await.id;
    bench.settle().await;
    bench.update(id, script, json!({ "size": 2 })).await;
    bench.request(id).await;
    bench.pass(Duration::from_secs(61)).await;
    bench.settle().await;
    assert_eq!(bench.outside.calls(), ["validate 1", "plan 1", "apply 1", "apply 1"]);
    let next = bench.get(id).await.next_reconcile_at.expect("a time");
    assert!(next > bench.store.now(), "it waits as long as it asked to");
}

async fn changes_during_an_operation_queue_behind_it_and_coalesce(bench: Bench) {
    let script = json!({ "apply": ["wait:60", "done"] });
    let id = bench.create("one", script.clone()).await.id;
    bench.settle().await;
    for size in 2..=4 {
        bench.update(id, script.clone(), json!({ "size": size })).await;
        bench.settle().await;
    }
    assert_eq!(bench.operations(id).await.len(), 1, "one operation at a time");
    bench.pass(Duration::from_secs(61)).await;
    bench.settle().await;
    let operations = bench.operations(id).await;
    assert_eq!(operations.len(), 2);
    assert_eq!((operations[0].generation, operations[0].reason), (4, Reason::Updated));
    assert_eq!(bench.get(id).await.observed_generation, 1);
    bench.pass(Duration::from_secs(61)).await;
    bench.settle().await;
    assert_eq!(bench.get(id).await.observed_generation, 4);
    let history = bench.history(id).await;
    let superseded = history.iter().find(|entry| entry.phase == "superseded").expect("the superseded");
    assert_eq!(
        superseded.error_message.as_deref(),
        Some("Superseded: generation 4 came before generations 2 to 3 were begun")
    );
}

async fn a_request_during_an_operation_is_done_after_it(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["wait:60", "done"] })).await.id;
    bench.settle().await;
    bench.request(id).await;
    bench.request(id).await;
    bench.pass(Duration::from_secs(61)).await;
    bench.settle().await;
    bench.pass(Duration::from_secs(61)).await;
    bench.settle().await;
    let operations = bench.operations(id).await;
    assert_eq!(operations.len(), 2);
    assert_eq!(operations[0].reason, Reason::Requested);
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
}

async fn a_delete_is_never_coalesced_away(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["wait:600", "done"] })).await.id;
    bench.settle().await;
    bench.update(id, json!({ "apply": ["wait:600"] }), json!({ "size": 2 })).await;
    bench.delete(id).await;
    bench.settle().await;
    assert!(bench.is_gone(id).await);
    let operations = bench.operations(id).await;
    assert_eq!(operations[1].state, OperationState::Superseded);
    assert_eq!(operations[0].state, OperationState::Succeeded);
    assert_eq!(bench.outside.calls().last().map(String::as_str), Some("destroy 2"));
}
