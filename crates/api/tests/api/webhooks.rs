use hmac::{Hmac, Mac};
use model::reconcile::End;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::harness::{Answer, Server, stories};

const SECRET: &str = "a long and winding webhook secret";

fn delivery() -> String {
    delivery_of("completed", "completed")
}

fn delivery_of(action: &str, status: &str) -> String {
    json!({
        "action": action,
        "workflow_run": { "id": 4711, "status": status },
        "repository": { "full_name": "acme/infrastructure", "name": "infrastructure", "owner": { "login": "acme" } },
    })
    .to_string()
}

fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    mac.update(body.as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

async fn deliver(server: &Server, tenant: &str, signature: &str) -> Answer {
    deliver_body(server, tenant, signature, delivery()).await
}

async fn deliver_body(server: &Server, tenant: &str, signature: &str, body: String) -> Answer {
    let request = server.request(Method::POST, &format!("/api/v1/webhooks/github/{tenant}"));
    let request = request.header("x-github-event", "workflow_run").header("x-hub-signature-256", signature);
    server.send(request.header("content-type", "application/json").body(body)).await
}

/// A resource whose operation waits for that run.
async fn waiting(server: &Server) -> i64 {
    server.with_type().await;
    let id = server.with_resource("one").await["id"].as_i64().expect("an id");
    let signal = Some("github:acme/infrastructure:4711".into());
    let after = std::time::Duration::from_secs(300);
    server.conclude(id, End::Waits { after, signal, message: "waiting for run 4711".into() }, None).await;
    id
}

async fn a_signed_delivery_wakes_what_waits_for_the_run_however_often_it_comes(server: Server) {
    server.put("/api/v1/secrets/github-webhook", &json!({ "value": SECRET })).await.expect(201);
    let id = waiting(&server).await;
    let before = server.get(&format!("/api/v1/resources/{id}")).await.expect(200);
    let signed = signature(SECRET, &delivery());
    assert_eq!(deliver(&server, "default", &signed).await.expect(202), json!({ "woken": 1 }));
    assert_eq!(deliver(&server, "default", &signed).await.expect(202), json!({ "woken": 1 }));
    let after = server.get(&format!("/api/v1/resources/{id}")).await.expect(200);
    let next = |resource: &Value| resource["next_reconcile_at"].as_str().map(String::from).expect("a time");
    assert!(next(&after) < next(&before));
    assert_eq!(after["resource_version"], before["resource_version"], "it only wakes");
}

/// What a delivery says of the run is not believed but looked up: so it cannot be too old.
async fn deliveries_out_of_order_wake_and_change_nothing_else(server: Server) {
    server.put("/api/v1/secrets/github-webhook", &json!({ "value": SECRET })).await.expect(201);
    let id = waiting(&server).await;
    let seen = async || {
        let mut resource = server.get(&format!("/api/v1/resources/{id}")).await.expect(200);
        resource["next_reconcile_at"] = Value::Null;
        (resource, server.get(&format!("/api/v1/resources/{id}/operations")).await.expect(200))
    };
    let before = seen().await;
    for (action, status) in [("completed", "completed"), ("in_progress", "in_progress"), ("requested", "queued")] {
        let body = delivery_of(action, status);
        let signed = signature(SECRET, &body);
        assert_eq!(deliver_body(&server, "default", &signed, body).await.expect(202), json!({ "woken": 1 }));
    }
    assert_eq!(seen().await, before);
}

async fn a_delivery_that_is_not_signed_wakes_nobody_and_learns_nothing(server: Server) {
    waiting(&server).await;
    let signed = signature(SECRET, &delivery());
    let without_secret = deliver(&server, "default", &signed).await;
    server.put("/api/v1/secrets/github-webhook", &json!({ "value": SECRET })).await.expect(201);
    let wrong = deliver(&server, "default", &signature("another", &delivery())).await;
    let nobody = deliver(&server, "nobody", &signed).await;
    for answer in [without_secret, wrong, nobody] {
        assert_eq!(answer.status, 401, "{}", answer.text);
        assert!(answer.text.contains("not signed with the tenant's webhook secret"), "{}", answer.text);
    }
}

stories!(
    a_signed_delivery_wakes_what_waits_for_the_run_however_often_it_comes,
    deliveries_out_of_order_wake_and_change_nothing_else,
    a_delivery_that_is_not_signed_wakes_nobody_and_learns_nothing,
);
