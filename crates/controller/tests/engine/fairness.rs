use model::{Actor, Scope};
use serde_json::json;
use store::NewTenant;

use crate::harness::{Bench, settings};

stories!(one_tenants_thousand_do_not_delay_anothers_one);

async fn one_tenants_thousand_do_not_delay_anothers_one(bench: Bench) {
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
    for n in 0..300 {
        bench.create(&format!("n-{n}"), json!({})).await;
    }
    let small = Scope { id: made.id, name: made.name };
    let one = bench.create_for(&small, "one", json!({})).await.id;
    let controller = bench.with(controller::Settings { max_concurrent_reconciles: 2, ..settings() }).await;
    let Ok(controller::Tick::Claimed(first)) = controller.tick().await else { panic!("nothing claimed") };
    assert!(first.iter().any(|(claim, _)| claim.record.resource.id == one));
}
