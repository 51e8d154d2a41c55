use model::{ConditionStatus, Lifecycle, OperationState, Phase, Status};
use serde_json::json;

use crate::harness::Bench;

stories!(
    a_resource_is_made_and_its_history_and_outputs_tell_of_it,
    an_update_is_applied_and_observed,
    a_plan_without_changes_is_not_applied,
    a_waiting_operation_is_written_down_and_goes_on_when_its_time_comes,
    a_checkpoint_is_on_disk_before_the_next_call,
    a_signal_wakes_what_waits_for_it,
    an_unknown_plugin_is_named,
    a_panic_of_a_plugin_is_its_failure,
);

async fn a_resource_is_made_and_its_history_and_outputs_tell_of_it(bench: Bench) {
    let id = bench.create("one", json!({})).await.id;
    bench.settle().await;
    let made = bench.get(id).await;
    assert_eq!((made.lifecycle, made.status), (Lifecycle::Active, Status::Ready));
    assert_eq!((made.generation, made.observed_generation), (1, 1));
    assert_eq!(made.holds, ["thing one"]);
    assert_eq!(made.operation_id, None);
    assert!(made.last_reconcile_time.is_some());
    let ready = &made.conditions[0];
    assert_eq!((ready.kind.as_str(), ready.status), ("Ready", ConditionStatus::True));
    assert_eq!(bench.outside.calls(), ["validate 1", "plan 1", "apply 1", "outputs 1"]);
    assert_eq!(bench.store.outputs(&bench.tenant, id).await.expect("outputs"), json!({ "generation": 1 }));
    let history = bench.history(id).await;
    assert_eq!(history.len(), 1);
    assert!(history[0].success);
    assert_eq!((history[0].phase.as_str(), history[0].resources_created), ("completed", 1));
    let operations = bench.operations(id).await;
    assert_eq!((operations[0].state, operations[0].phase), (OperationState::Succeeded, Phase::Completed));
}

async fn an_update_is_applied_and_observed(bench: Bench) {
    let id = bench.create("one", json!({})).await.id;
    bench.settle().await;
    let asked = bench.update(id, json!({}), json!({ "size": 2 })).await;
    assert_eq!((asked.generation, asked.observed_generation), (2, 1));
    bench.settle().await;
    let made = bench.get(id).await;
    assert_eq!((made.lifecycle, made.observed_generation), (Lifecycle::Active, 2));
    assert_eq!(bench.history(id).await.len(), 2);
}

async fn a_plan_without_changes_is_not_applied(bench: Bench) {
    let id = bench.create("one", json!({ "plan": ["nothing"] })).await.id;
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
    assert_eq!(bench.outside.calls(), ["validate 1", "plan 1", "outputs 1"]);
}

async fn a_waiting_operation_is_written_down_and_goes_on_when_its_time_comes(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["wait:60", "wait:60", "done"] })).await.id;
    bench.settle().await;
    let waiting = bench.get(id).await;
    assert_eq!(waiting.lifecycle, Lifecycle::Provisioning);
    assert_eq!(waiting.status_message, "waiting for the script");
    assert_eq!(bench.operations(id).await[0].state, OperationState::Waiting);
    bench.pass(std::time::Duration::from_secs(61)).await;
    bench.settle().await;
    bench.pass(std::time::Duration::from_secs(61)).await;
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
    assert_eq!(bench.outside.calls(), ["validate 1", "plan 1", "apply 1", "apply 1", "apply 1", "outputs 1"]);
    assert_eq!(bench.operations(id).await.len(), 1);
}

async fn a_checkpoint_is_on_disk_before_the_next_call(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["note", "act", "panic"] })).await.id;
    bench.step().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Failed);
    assert_eq!(bench.outside.effects().values().sum::<u32>(), 1);
    let checkpoint: String = sqlx::query_scalar("SELECT checkpoint FROM operations")
        .fetch_one(&mut bench.db.raw().await)
        .await
        .expect("a checkpoint");
    assert_eq!(checkpoint, r#"{"at":2}"#);
}

async fn a_signal_wakes_what_waits_for_it(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["signal:run-7", "done"] })).await.id;
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Provisioning);
    assert_eq!(bench.store.signal(bench.tenant.id, "run-8".into()).await.expect("nobody"), 0);
    assert_eq!(bench.store.signal(model::TenantId(99), "run-7".into()).await.expect("nobody"), 0);
    assert_eq!(bench.store.signal(bench.tenant.id, "run-7".into()).await.expect("one"), 1);
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
}

async fn an_unknown_plugin_is_named(bench: Bench) {
    let id = bench.create("one", json!({})).await.id;
    bench.db.execute("UPDATE resources SET action_plugin = 'nobody'").await;
    bench.settle().await;
    let failed = bench.get(id).await;
    assert_eq!(failed.lifecycle, Lifecycle::Failed);
    let failure = failed.failure.expect("a failure");
    assert_eq!(failure.message, "there is no action plugin nobody");
    assert!(failure.hint.contains("There are: script."), "{}", failure.hint);
    assert_eq!(failed.next_reconcile_at, None);
}

async fn a_panic_of_a_plugin_is_its_failure(bench: Bench) {
    let id = bench.create("one", json!({ "plan": ["panic"] })).await.id;
    bench.settle().await;
    let failed = bench.get(id).await;
    assert_eq!(failed.failure.expect("a failure").message, "the plugin script panicked");
    assert!(failed.next_reconcile_at.is_some(), "it is tried again");
}
