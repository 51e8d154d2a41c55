use model::{Actor, Scope};
use serde_json::json;
use store::NewTenant;
use tokio::sync::watch;

use crate::db::until;
use crate::harness::{Bench, settings};

stories!(one_tenants_thousand_do_not_delay_anothers_one, a_tenant_at_its_limit_stops_nobody_else);

async fn small_tenant(bench: &Bench) -> Scope {
    let new = NewTenant { name: "small".into(), description: String::new() };
    let made = bench
        .store
        .write(0, move |tx| {
            let new = new.clone();
            Box::pin(async move { tx.create_tenant(&Actor::system(), &new).await })
        })
        .await
        .expect("a tenant");
    bench.db.execute("UPDATE resource_types SET tenant_id = 0").await;
    Scope { id: made.id, name: made.name }
}

async fn a_tenant_at_its_limit_stops_nobody_else(bench: Bench) {
    let small = small_tenant(&bench).await;
    for n in 0..8 {
        bench.create(&format!("n-{n}"), json!({ "apply": ["hang"] })).await;
    }
    let limited = controller::Settings { max_concurrent_reconciles: 5, max_concurrent_per_tenant: 2, ..settings() };
    let controller = bench.with(limited).await;
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(controller.run(stopping));
    let applies = || bench.outside.calls().iter().filter(|call| *call == "apply 1").count();
    until("two that hang", async || applies() == 2).await;
    bench.create_for(&small, "one", json!({})).await;
    let active = "SELECT count(*) FROM resources WHERE lifecycle = 'active'";
    until("the small one", async || bench.db.number(active).await == 1).await;
    assert_eq!(applies(), 3, "the others still wait for their turn");
    stop.send_replace(true);
    running.abort();
}

async fn one_tenants_thousand_do_not_delay_anothers_one(bench: Bench) {
    let small = small_tenant(&bench).await;
    for n in 0..300 {
        bench.create(&format!("n-{n}"), json!({})).await;
    }
    let one = bench.create_for(&small, "one", json!({})).await.id;
    let controller = bench.with(controller::Settings { max_concurrent_reconciles: 2, ..settings() }).await;
    let Ok(controller::Tick::Claimed(first)) = controller.tick().await else { panic!("nothing claimed") };
    assert!(first.iter().any(|(claim, _)| claim.record.resource.id == one));
}
