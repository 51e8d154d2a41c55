use model::plugin::Step;
use model::reconcile::End;
use model::{Class, Failure};
use serde_json::{Value, json};

use crate::harness::{Server, stories};

fn failed() -> End {
    let failure = Failure::new(Class::Quota, Step::Apply, "no room for another database").with_hint("Ask for more.");
    End::Failed { failure }
}

async fn operations_are_listed_newest_first_with_how_they_ended(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    assert_eq!(server.get("/api/v1/resources/1/operations").await.expect(200), json!([]));
    server.conclude(1, failed(), None).await;
    let resource = server.get("/api/v1/resources/1").await.expect(200);
    assert_eq!(resource["failure"]["class"], "quota");
    assert_eq!((&resource["failures"], &resource["next_reconcile_at"]), (&json!(1), &json!(null)));
    server.post("/api/v1/resources/1/reconcile", &json!(null)).await.expect(202);
    server.claim(1).await;
    let listed = server.get("/api/v1/resources/1/operations").await.expect(200);
    let told: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|operation| [&operation["kind"], &operation["reason"], &operation["state"], &operation["phase"]])
        .collect();
    assert_eq!(
        json!(told),
        json!([["reconcile", "requested", "running", "initializing"], ["reconcile", "created", "failed", "applying"],])
    );
    assert_eq!(listed[1]["failure"]["hint"], "Ask for more.");
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200)["operation_id"], listed[0]["id"]);
}

async fn operations_are_paged_as_the_history_is_and_stay_after_the_resource(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    for _ in 0..3 {
        server.conclude(1, failed(), None).await;
        server.post("/api/v1/resources/1/reconcile", &json!(null)).await.expect(202);
    }
    let (mut path, mut ids) = ("/api/v1/resources/1/operations?limit=2".to_string(), Vec::new());
    loop {
        let page = server.get(&path).await;
        ids.extend(page.body.as_array().expect("a list").iter().filter_map(|operation| operation["id"].as_i64()));
        let link = page.header("link").to_string();
        if link.is_empty() {
            break;
        }
        path = link.trim_start_matches('<').trim_end_matches(">; rel=\"next\"").to_string();
    }
    assert_eq!(ids.len(), 3);
    assert!(ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    server.delete("/api/v1/resources/1?forget=true").await.expect(200);
    let left: Value = server.get("/api/v1/resources/1/operations").await.expect(200);
    assert_eq!(left.as_array().map(Vec::len), Some(3));
    assert_eq!(server.get("/api/v1/resources/99/operations").await.status, 404);
    assert_eq!(server.get("/api/v1/resources/1/operations?limit=0").await.status, 400);
}

stories!(
    operations_are_listed_newest_first_with_how_they_ended,
    operations_are_paged_as_the_history_is_and_stay_after_the_resource,
);
