use model::plugin::Step;
use model::reconcile::End;
use model::{Choice, Class, Failure, Role};
use reqwest::Method;
use serde_json::json;

use crate::harness::{Server, stories};

fn failed(choices: &[Choice], alert: bool) -> End {
    let failure = Failure::new(Class::Quota, Step::Apply, "no room for another database").with_hint("Ask for more.");
    End::Failed { failure: Failure { choices: choices.to_vec(), alert, ..failure } }
}

async fn only_what_a_failure_leaves_open_can_be_chosen(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    let refused = server.post("/api/v1/resources/1/retry", &json!(null)).await;
    assert_eq!(refused.status, 409);
    assert_eq!(
        refused.detail(),
        "retry is not possible for production-pg (pending); no failure waits for it; to have it looked at now: reconcile"
    );
    server.conclude(1, failed(&[Choice::Retry, Choice::Continue, Choice::Cleanup], false), None).await;
    let resource = server.get("/api/v1/resources/1").await.expect(200);
    assert_eq!(resource["failure"]["choices"], json!(["retry", "continue", "cleanup"]));
    assert_eq!(
        resource["status_message"],
        "no room for another database (quota, during apply). Ask for more. What can be done: retry, continue, cleanup"
    );
    let refused = server.post("/api/v1/resources/1/rollback", &json!(null)).await;
    assert_eq!(refused.status, 409);
    assert!(refused.detail().ends_with("what can be done: retry, continue, cleanup"), "{}", refused.detail());
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), resource, "a refusal changes nothing");

    let rehearsed = server.post("/api/v1/resources/1/continue?dry_run=true", &json!(null)).await;
    assert_eq!(rehearsed.status, 202);
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), resource, "nor does a dry run");

    server.post("/api/v1/resources/1/continue", &json!(null)).await.expect(202);
    server.post("/api/v1/resources/1/continue", &json!(null)).await.expect(202);
    assert_eq!(server.post("/api/v1/resources/1/cleanup", &json!(null)).await.status, 409, "one thing at a time");
    let claim = server.claim(1).await;
    assert_eq!(claim.operation.body.reason, model::Reason::Continued);
    let refused = server.post("/api/v1/resources/1/retry", &json!(null)).await;
    assert_eq!(refused.status, 409, "an operation is at it");
    let events = server.get("/api/v1/events?kind=resource").await.expect(200);
    let asked = events.as_array().into_iter().flatten().filter(|event| event["action"] == "continue_requested");
    assert_eq!(asked.count(), 1, "asked twice is asked once: {events}");
    assert_eq!(server.post("/api/v1/resources/99/retry", &json!(null)).await.status, 404);
}

async fn a_rollback_is_an_operation_of_the_generation_that_went_well(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    let well = End::Succeeded { message: "Made".into(), watch: false };
    server.conclude(1, well.clone(), None).await;
    server.patch("/api/v1/resources/1", &json!({"spec": {"storage_gb": 77}})).await.expect(200);
    server.conclude(1, failed(&[Choice::Retry, Choice::Rollback], false), None).await;
    server.post("/api/v1/resources/1/rollback", &json!(null)).await.expect(202);
    let back = server.conclude(1, well, None).await;
    assert_eq!((back.reason, back.generation), (model::Reason::RolledBack, 1));
    let resource = server.get("/api/v1/resources/1").await.expect(200);
    assert_eq!(
        [&resource["status"], &resource["generation"], &resource["observed_generation"], &resource["failure"]],
        [&json!("ready"), &json!(2), &json!(1), &json!(null)]
    );
    assert_eq!(resource["status_message"], "Rolled back to generation 1; generation 2 is not applied");
}

async fn an_alert_stands_until_something_goes_well_or_the_resource_is_gone(server: Server) {
    server.with_type().await;
    for name in ["production-pg", "staging-pg"] {
        server.with_resource(name).await;
    }
    assert_eq!(server.get("/api/v1/alerts").await.expect(200), json!([]));
    for id in [1, 2] {
        server.conclude(id, failed(&[Choice::Retry], true), Some(vec!["vpc-7".into()])).await;
    }
    let alerts = server.get("/api/v1/alerts?limit=1").await;
    assert!(alerts.header("link").contains("cursor=1"), "{}", alerts.header("link"));
    let alert = alerts.expect(200)[0].clone();
    assert_eq!((&alert["resource_name"], &alert["holds"]), (&json!("production-pg"), &json!(["vpc-7"])));
    assert_eq!(alert["failure"]["message"], "no room for another database");
    let events = server.get("/api/v1/events?kind=resource").await.expect(200);
    let alerted = events.as_array().into_iter().flatten().filter(|event| event["action"] == "alerted");
    assert_eq!(alerted.count(), 2, "{events}");

    server.post("/api/v1/resources/1/retry", &json!(null)).await.expect(202);
    server.conclude(1, failed(&[Choice::Retry], true), None).await;
    let still = server.get("/api/v1/alerts").await.expect(200);
    assert_eq!(still[0]["since"], alert["since"], "it is the same alert");
    server.post("/api/v1/resources/1/retry", &json!(null)).await.expect(202);
    server.conclude(1, End::Succeeded { message: "Made".into(), watch: false }, None).await;
    server.delete("/api/v1/resources/2?forget=true").await.expect(200);
    assert_eq!(server.get("/api/v1/alerts").await.expect(200), json!([]));
}

async fn sensitive_outputs_are_for_those_who_may_change_the_resource(server: Server) {
    let guarded = server.asking_for_tokens().await;
    server.with_type().await;
    server.with_resource("production-pg").await;
    let viewer = server.token("default", "viewer", Role::Viewer).await;
    let editor = server.token("default", "editor", Role::Editor).await;
    let ask = async |token: &str, path: &str| guarded.send(guarded.request(Method::GET, path).bearer_auth(token)).await;
    let (open, reveal) = ("/api/v1/resources/1/outputs", "/api/v1/resources/1/outputs?reveal=true");
    assert_eq!(ask(&viewer, open).await.expect(200), json!({"outputs": {}}));
    assert_eq!(ask(&viewer, reveal).await.status, 403);
    ask(&editor, reveal).await.expect(200);
    // What was sealed with a key that is gone is told of, and is no reason to fail badly.
    server.put("/api/v1/secrets/some", &json!({"value": "hunter2"})).await.expect(201);
    server
        .sql(
            "INSERT INTO sealed_outputs (resource_id, tenant_id, names, sealed, key_id) \
             SELECT resources.id, resources.tenant_id, '[\"password\"]', sealed, 'gone' FROM resources \
             JOIN secrets ON secrets.tenant_id = resources.tenant_id",
        )
        .await;
    assert_eq!(ask(&viewer, open).await.expect(200)["sensitive"], json!(["password"]));
    let broken = ask(&editor, reveal).await;
    assert_eq!(broken.status, 409, "{}", broken.text);
    assert!(!broken.text.contains("hunter2"), "{}", broken.text);
}

stories!(
    only_what_a_failure_leaves_open_can_be_chosen,
    a_rollback_is_an_operation_of_the_generation_that_went_well,
    an_alert_stands_until_something_goes_well_or_the_resource_is_gone,
    sensitive_outputs_are_for_those_who_may_change_the_resource,
);
