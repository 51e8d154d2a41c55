use std::sync::Arc;
use std::time::Duration;

use controller::Tick;
use model::Lifecycle;
use serde_json::json;

use crate::harness::{Bench, settle};

stories!(
    a_renewal_that_comes_late_changes_nothing,
    a_paused_controller_can_write_nothing,
    a_claim_is_nobody_elses_before_it_lapses,
    what_a_dead_controller_left_behind_comes_before_what_has_waited_longer,
    a_lock_changes_hands_when_it_lapses
);

async fn a_paused_controller_can_write_nothing(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["fail:quota"] })).await.id;
    let Ok(Tick::Claimed(paused)) = bench.controller.tick().await else { panic!("nothing claimed") };
    bench.pass(Duration::from_secs(601)).await;
    bench.db.execute("UPDATE resources SET plugin_config = '{}'").await;
    let another = bench.another().await;
    settle(&another).await;
    let before = bench.db.contents().await;
    for (claim, deadline) in paused {
        bench.controller.carry_out(claim, deadline).await;
    }
    assert_eq!(bench.db.contents().await, before);
    assert_eq!(bench.lifecycle(id).await, Lifecycle::Active);
}

async fn a_claim_is_nobody_elses_before_it_lapses(bench: Bench) {
    for n in 0..20 {
        bench.create(&format!("n-{n}"), json!({})).await;
    }
    let another = bench.another().await;
    let mut claimed = Vec::new();
    loop {
        let (here, there) = tokio::join!(bench.controller.tick(), another.tick());
        let mut some = false;
        for tick in [here, there] {
            if let Ok(Tick::Claimed(claims)) = tick {
                some = true;
                claimed.extend(claims.into_iter().map(|(claim, _)| claim.record.resource.id));
            }
        }
        if !some {
            break;
        }
    }
    let count = claimed.len();
    claimed.sort();
    claimed.dedup();
    assert_eq!((count, claimed.len()), (20, 20));
}

async fn what_a_dead_controller_left_behind_comes_before_what_has_waited_longer(bench: Bench) {
    let orphan = bench.create("orphan", json!({})).await.id;
    let Ok(Tick::Claimed(_)) = bench.controller.tick().await else { panic!("nothing claimed") };
    // All of one tenant, and more than are looked at together.
    for n in 0..100 {
        bench.create(&format!("n-{n}"), json!({})).await;
    }
    bench.pass(Duration::from_secs(601)).await;
    let another = bench.another().await;
    let Ok(Tick::Claimed(claims)) = another.tick().await else { panic!("nothing claimed") };
    assert_eq!(claims[0].0.record.resource.id, orphan);
    let mut claimed: Vec<_> = claims.iter().map(|(claim, _)| claim.record.resource.id).collect();
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), claims.len());
}

async fn a_lock_changes_hands_when_it_lapses(bench: Bench) {
    let ttl = Duration::from_secs(15);
    let take = |holder: &str| bench.store.lock("test", holder.to_string(), ttl);
    let first = take("a").await.expect("an answer").expect("the lock");
    assert_eq!(take("a").await.expect("an answer"), Some(first));
    assert_eq!(take("b").await.expect("an answer"), None);
    bench.pass(Duration::from_secs(16)).await;
    assert_eq!(take("b").await.expect("an answer"), Some(first + 1));
    bench.store.unlock("test", "b".into()).await.expect("unlocked");
    assert!(take("a").await.expect("an answer").is_some());
}

async fn a_renewal_that_comes_late_changes_nothing(bench: Bench) {
    let id = bench.create("one", json!({ "apply": ["wait:3600", "done"] })).await.id;
    let Ok(Tick::Claimed(claims)) = bench.controller.tick().await else { panic!("nothing claimed") };
    let renew = |observes, claims: &[(Arc<store::Claim>, controller::Deadline)]| {
        let claim = &claims[0].0;
        let renewal = store::Renewal { resource: id, fencing_token: claim.record.fencing_token, observes };
        bench.store.renew(vec![renewal], Duration::from_secs(600))
    };
    assert_eq!(renew(false, &claims).await.expect("an answer"), [id]);
    let late = claims.clone();
    for (claim, deadline) in claims {
        bench.controller.carry_out(claim, deadline).await;
    }
    let before = bench.get(id).await.next_reconcile_at;
    assert_eq!(renew(false, &late).await.expect("an answer"), []);
    assert_eq!(bench.get(id).await.next_reconcile_at, before, "it waits as long as it asked to");
}
