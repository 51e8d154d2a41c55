use std::time::Duration;

use model::{ConditionStatus, DriftPolicy, Lifecycle, Reason};
use serde_json::json;

use crate::harness::Bench;

const INTERVAL: Duration = Duration::from_secs(301);

stories!(
    drift_is_corrected,
    drift_is_reported_with_the_time_it_was_first_seen,
    drift_is_ignored_where_the_policy_says_so,
    only_a_drift_acts,
    a_look_yields_to_user_work,
);

fn drifted(bench: &Bench, paths: &[&str]) {
    let paths = paths.iter().map(|path| path.to_string()).collect();
    bench.outside.drift.lock().expect("the record").insert("one".into(), paths);
}

async fn made(bench: &Bench) -> model::ResourceId {
    let id = bench.create("one", json!({})).await.id;
    bench.settle().await;
    bench.outside.forget_calls();
    id
}

async fn drift_is_corrected(bench: Bench) {
    let id = made(&bench).await;
    drifted(&bench, &["tags.owner"]);
    bench.pass(INTERVAL).await;
    bench.step().await;
    let found = bench.get(id).await;
    let condition = found.conditions.iter().find(|condition| condition.kind == "Drifted").expect("the condition");
    assert_eq!((condition.status, found.lifecycle), (ConditionStatus::True, Lifecycle::Active));
    bench.step().await;
    assert_eq!(bench.outside.calls(), ["observe 1", "validate 1", "plan 1", "apply 1", "outputs 1"]);
    assert_eq!(bench.operations(id).await[0].reason, Reason::Drifted);
    let corrected = bench.get(id).await;
    assert_eq!((corrected.lifecycle, corrected.drift), (Lifecycle::Active, None));
}

async fn drift_is_reported_with_the_time_it_was_first_seen(bench: Bench) {
    let id = made(&bench).await;
    bench.set_policy(id, DriftPolicy::Report).await;
    drifted(&bench, &["tags.owner"]);
    bench.pass(INTERVAL).await;
    bench.settle().await;
    let first = bench.get(id).await.drift.expect("a report").attributes[0].first_seen;
    drifted(&bench, &["tags.owner", "size"]);
    bench.pass(INTERVAL).await;
    bench.settle().await;
    let attributes = bench.get(id).await.drift.expect("a report").attributes;
    assert_eq!(attributes[0].first_seen, first);
    assert!(attributes[1].first_seen > first);
    assert_eq!(bench.operations(id).await.len(), 1, "nothing was done about it");
    bench.outside.drift.lock().expect("the record").clear();
    bench.pass(INTERVAL).await;
    bench.settle().await;
    assert_eq!(bench.get(id).await.drift.expect("a report").attributes, []);
}

async fn drift_is_ignored_where_the_policy_says_so(bench: Bench) {
    let id = made(&bench).await;
    bench.set_policy(id, DriftPolicy::Ignore).await;
    drifted(&bench, &["tags.owner"]);
    bench.pass(INTERVAL).await;
    bench.settle().await;
    assert!(bench.outside.calls().is_empty());
    assert_eq!(bench.get(id).await.next_reconcile_at, None);
    bench.set_policy(id, DriftPolicy::Report).await;
    bench.settle().await;
    assert_eq!(bench.outside.calls(), ["observe 1"]);
}

async fn only_a_drift_acts(bench: Bench) {
    let id = made(&bench).await;
    let before = bench.get(id).await;
    for round in 1..=3 {
        drifted(&bench, &[]);
        bench.pass(INTERVAL).await;
        bench.settle().await;
        assert_eq!(bench.outside.calls().len(), round);
    }
    let after = bench.get(id).await;
    assert_eq!(after.resource_version, before.resource_version, "nobody is told of nothing");
    assert_eq!(bench.operations(id).await.len(), 1);
}

async fn a_look_yields_to_user_work(bench: Bench) {
    let id = made(&bench).await;
    drifted(&bench, &["tags.owner"]);
    bench.pass(INTERVAL).await;
    let Ok(controller::Tick::Claimed(looks)) = bench.controller.tick().await else { panic!("nothing to look at") };
    let another = bench.another().await;
    assert_eq!(crate::harness::step(&another).await, 0, "one look at a time");
    bench.update(id, json!({}), json!({ "size": 2 })).await;
    crate::harness::settle(&another).await;
    assert_eq!(bench.get(id).await.observed_generation, 2, "the look did not stand in the way");
    for (claim, deadline) in looks {
        bench.controller.carry_out(claim, deadline).await;
    }
    assert_eq!(bench.get(id).await.drift, None, "what it saw is out of date");
}
