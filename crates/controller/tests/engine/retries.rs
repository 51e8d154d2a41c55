use std::time::Duration;

use model::{ConditionStatus, Lifecycle};
use serde_json::json;

use crate::harness::Bench;

stories!(
    a_transient_failure_is_tried_again_within_the_operation,
    a_failed_operation_is_tried_again_by_the_ladder,
    success_and_a_new_generation_reset_the_ladder,
    what_only_a_change_can_mend_waits_for_one_and_says_so,
    a_request_has_it_tried_now,
    an_interruption_of_our_own_is_no_try,
);

async fn a_transient_failure_is_tried_again_within_the_operation(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["fail:network"] })).await.id;
    for (attempt, pause) in [(2, 10), (3, 20), (4, 40), (5, 80), (6, 160)] {
        bench.settle().await;
        let operation = &bench.operations(id).await[0];
        assert_eq!(operation.attempt, attempt);
        assert!(operation.message.ends_with(&format!("Trying again in {pause} s")), "{}", operation.message);
        assert_eq!(bench.lifecycle(id).await, Lifecycle::Provisioning);
        bench.pass(Duration::from_secs(pause + 1)).await;
    }
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Failed);
    assert_eq!((bench.operations(id).await.len(), bench.history(id).await.len()), (1, 1));
    assert_eq!(bench.get(id).await.failures, 1);
}

async fn a_failed_operation_is_tried_again_by_the_ladder(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["fail:capacity"] })).await.id;
    for (failures, minutes) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
        bench.settle().await;
        let failed = bench.get(id).await;
        assert_eq!((failed.lifecycle, failed.failures), (Lifecycle::Failed, failures));
        let next = failed.next_reconcile_at.expect("a next try");
        let pause = (next.as_second() - failed.last_reconcile_time.expect("a last one").as_second()) as f64 / 60.0;
        let minutes = f64::from(minutes);
        assert!((minutes - 0.1..=minutes * 1.1 + 0.1).contains(&pause), "{pause} for {minutes}");
        bench.pass(Duration::from_secs_f64(minutes * 66.0 + 1.0)).await;
    }
    assert_eq!(bench.history(id).await.len(), 4);
}

async fn success_and_a_new_generation_reset_the_ladder(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["fail:capacity"] })).await.id;
    bench.settle().await;
    bench.pass(Duration::from_secs(70)).await;
    bench.settle().await;
    assert_eq!(bench.get(id).await.failures, 2);
    assert_eq!(bench.update(id, json!({ "apply": ["fail:capacity"] }), json!({ "a": 1 })).await.failures, 0);
    bench.settle().await;
    assert_eq!(bench.get(id).await.failures, 1);
    bench.update(id, json!({}), json!({ "a": 2 })).await;
    bench.settle().await;
    let made = bench.get(id).await;
    assert_eq!((made.lifecycle, made.failures, made.failure), (Lifecycle::Active, 0, None));
}

async fn what_only_a_change_can_mend_waits_for_one_and_says_so(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["fail:quota"] })).await.id;
    bench.settle().await;
    let failed = bench.get(id).await;
    assert_eq!((failed.lifecycle, failed.next_reconcile_at), (Lifecycle::Failed, None));
    let stalled = failed.conditions.iter().find(|condition| condition.kind == "Stalled").expect("the condition");
    assert_eq!((stalled.status, stalled.reason.as_str()), (ConditionStatus::True, "WaitsForChange"));
    assert!(failed.status_message.contains("Change the script."), "{}", failed.status_message);
    bench.pass(Duration::from_secs(1_000_000)).await;
    bench.settle().await;
    assert_eq!(bench.operations(id).await.len(), 1);
    bench.update(id, json!({}), json!({})).await;
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
}

async fn a_request_has_it_tried_now(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["fail:quota"] })).await.id;
    bench.settle().await;
    bench.request(id).await;
    bench.settle().await;
    assert_eq!(bench.operations(id).await.len(), 2);
    assert_eq!(bench.get(id).await.failures, 2);
}

async fn an_interruption_of_our_own_is_no_try(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["wait:5", "done"] })).await.id;
    bench.settle().await;
    bench.pass(Duration::from_secs(6)).await;
    // Claimed, and never heard of again.
    assert!(matches!(bench.controller.tick().await, Ok(controller::Tick::Claimed(_))));
    bench.pass(Duration::from_secs(601)).await;
    let another = bench.another().await;
    crate::harness::settle(&another).await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
    let operations = bench.operations(id).await;
    assert_eq!((operations.len(), operations[0].attempt), (1, 1));
}
