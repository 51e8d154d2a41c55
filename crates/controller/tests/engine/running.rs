//! The loop as it runs, with its own clock.

use std::time::Duration;

use model::Lifecycle;
use serde_json::json;
use tokio::sync::watch;

use crate::db::until;
use crate::harness::Bench;

stories!(
    the_loop_hears_of_new_work_and_goes_idle_after_it,
    a_stop_leaves_nothing_claimed,
    a_row_that_cannot_be_read_stands_in_nobodys_way,
);

async fn a_row_that_cannot_be_read_stands_in_nobodys_way(bench: Bench) {
    let broken = bench.create("broken", json!({})).await.id;
    bench.db.execute("UPDATE resources SET finalizers = 'nonsense'").await;
    for n in 0..5 {
        bench.create(&format!("n-{n}"), json!({})).await;
    }
    bench.settle().await;
    assert_eq!(bench.db.number("SELECT count(*) FROM resources WHERE lifecycle = 'active'").await, 5);
    bench.db.execute(&format!("UPDATE resources SET finalizers = '[]' WHERE id = {broken}")).await;
    let another = bench.another().await;
    crate::harness::settle(&another).await;
    assert_eq!(bench.lifecycle(broken).await, Lifecycle::Active);
}

async fn the_loop_hears_of_new_work_and_goes_idle_after_it(bench: Bench) {
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(bench.controller.clone().run(stopping));
    for n in 0..50 {
        bench.create(&format!("n-{n}"), json!({ "apply": ["note", "act", "done"] })).await;
    }
    let ready = || async { bench.db.number("SELECT count(*) FROM resources WHERE lifecycle = 'active'").await == 50 };
    until("all fifty", ready).await;
    let id = bench.create("last", json!({ "apply": ["wait:1", "done"] })).await.id;
    until("the last", || async { bench.lifecycle(id).await == Lifecycle::Active }).await;
    bench.delete(id).await;
    until("the end of it", || bench.is_gone(id)).await;
    assert!(bench.outside.effects().values().all(|count| *count == 1));
    stop.send_replace(true);
    running.await.expect("the loop ends");
}

async fn a_stop_leaves_nothing_claimed(bench: Bench) {
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(bench.controller.clone().run(stopping));
    for n in 0..100 {
        bench.create(&format!("n-{n}"), json!({})).await;
    }
    stop.send_replace(true);
    tokio::time::timeout(Duration::from_secs(60), running).await.expect("in time").expect("the loop ends");
    assert_eq!(bench.db.number("SELECT count(*) FROM resources WHERE lease_holder IS NOT NULL").await, 0);
    bench.settle().await;
    assert_eq!(bench.db.number("SELECT count(*) FROM resources WHERE lifecycle = 'active'").await, 100);
}
