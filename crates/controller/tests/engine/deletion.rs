use std::time::Duration;

use model::{Actor, Lifecycle, Status};
use serde_json::json;

use crate::harness::Bench;

stories!(
    a_delete_destroys_first,
    a_failed_destroy_is_tried_until_it_is_done,
    what_was_never_begun_is_gone_at_once,
    finalizers_delay_the_destroy,
    a_person_may_forget_what_cannot_be_destroyed,
    a_delete_during_a_step_waits_for_the_step_alone,
    what_never_got_so_far_as_to_be_applied_is_gone_at_once,
);

async fn what_never_got_so_far_as_to_be_applied_is_gone_at_once(bench: Bench) {
    let invalid = bench.create("invalid", json!({ "validate": ["fail:invalid_config"] })).await.id;
    let applied = bench.create("applied", json!({ "apply": ["fail:quota"] })).await.id;
    bench.settle().await;
    bench.delete(invalid).await;
    assert!(bench.is_gone(invalid).await);
    bench.delete(applied).await;
    assert_eq!(bench.lifecycle(applied).await, Lifecycle::Deleting, "half of it may be there");
    bench.settle().await;
    assert!(bench.is_gone(applied).await);
}

async fn a_delete_destroys_first(bench: Bench) {
    let id = bench.create("one", json!({ "destroy": ["wait:10", "done"] })).await.id;
    bench.settle().await;
    let going = bench.delete(id).await;
    assert_eq!((going.lifecycle, going.status), (Lifecycle::Deleting, Status::Reconciling));
    bench.settle().await;
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Deleting);
    bench.pass(Duration::from_secs(11)).await;
    bench.settle().await;
    assert!(bench.is_gone(id).await);
    let last = &bench.history(id).await[0];
    assert_eq!((last.success, last.resources_deleted), (true, 1));
    // The name is free again.
    bench.create("one", json!({})).await;
}

async fn a_failed_destroy_is_tried_until_it_is_done(bench: Bench) {
    let id = bench.create("one", json!({ "destroy": ["fail:quota"] })).await.id;
    bench.settle().await;
    bench.delete(id).await;
    for failures in 1..=3 {
        bench.settle().await;
        let going = bench.get(id).await;
        assert_eq!((going.lifecycle, going.failures), (Lifecycle::Deleting, failures));
        assert!(going.next_reconcile_at.is_some(), "a destroy is never given up");
        bench.pass(Duration::from_secs(20 * 60)).await;
    }
    bench.db.execute("UPDATE resources SET plugin_config = '{}'").await;
    bench.settle().await;
    assert!(bench.is_gone(id).await);
    assert_eq!(bench.history(id).await.len(), 5);
}

async fn what_was_never_begun_is_gone_at_once(bench: Bench) {
    let id = bench.create("one", json!({})).await.id;
    bench.delete(id).await;
    assert!(bench.is_gone(id).await);
    bench.settle().await;
    assert!(bench.outside.calls().is_empty());
}

async fn finalizers_delay_the_destroy(bench: Bench) {
    let id = bench.create("one", json!({})).await.id;
    bench.settle().await;
    let set = |names: &'static [&'static str]| {
        bench.change(id, move |tx, scope, held| {
            let names: Vec<_> = names.iter().map(|name| name.to_string()).collect();
            Box::pin(async move { tx.set_finalizers(&scope, &Actor::system(), &held, &names).await })
        })
    };
    set(&["backup.example/veto", "dns.example/veto"]).await;
    bench.delete(id).await;
    bench.settle().await;
    let held = bench.get(id).await;
    assert_eq!(held.status_message, "Waiting for finalizers: backup.example/veto, dns.example/veto");
    assert_eq!(held.next_reconcile_at, None);
    set(&["dns.example/veto"]).await;
    bench.settle().await;
    assert!(!bench.outside.calls().contains(&"destroy 1".to_string()));
    set(&[]).await;
    bench.settle().await;
    assert!(bench.is_gone(id).await);
}

async fn a_person_may_forget_what_cannot_be_destroyed(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["wait:60"] })).await.id;
    bench.settle().await;
    bench.change(id, |tx, scope, held| Box::pin(async move { tx.forget(&scope, &Actor::system(), &held).await })).await;
    assert!(bench.is_gone(id).await);
    bench.pass(Duration::from_secs(61)).await;
    bench.settle().await;
    assert_eq!(bench.outside.calls(), ["validate 1", "plan 1", "apply 1"]);
    bench.create("one", json!({})).await;
}

async fn a_delete_during_a_step_waits_for_the_step_alone(bench: Bench) {
    let id = bench.create("one", json!({})).await.id;
    let Ok(controller::Tick::Claimed(claims)) = bench.controller.tick().await else { panic!("nothing claimed") };
    bench.delete(id).await;
    bench.settle().await;
    assert!(bench.outside.calls().is_empty(), "somebody is at it");
    for (claim, deadline) in claims {
        bench.controller.carry_out(claim, deadline).await;
    }
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Deleting);
    bench.settle().await;
    assert!(bench.is_gone(id).await);
    assert_eq!(bench.outside.calls().last().map(String::as_str), Some("destroy 1"));
}
