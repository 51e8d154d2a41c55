use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Server, resource, stories};

async fn post(server: &Server, path: &str, key: &str, body: &Value) -> Answer {
    server.send(server.request(Method::POST, path).header("idempotency-key", key).json(body)).await
}

async fn a_post_sent_again_with_its_key_gets_the_first_answer(server: Server) {
    server.with_type().await;
    let first = post(&server, "/api/v1/resources", "k1", &resource("production-pg")).await;
    let again = post(&server, "/api/v1/resources", "k1", &resource("production-pg")).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!((again.header("etag"), again.header("location")), (first.header("etag"), first.header("location")));
    let other = post(&server, "/api/v1/resources", "k1", &resource("another")).await;
    assert_eq!(other.status, 422);
    assert!(other.detail().contains("Idempotency-Key"), "{}", other.detail());
    server.delete("/api/v1/resources/1").await.expect(202);
    let late = post(&server, "/api/v1/resources", "k1", &resource("production-pg")).await;
    assert_eq!(late.body, first.body, "the answer stands even after the resource is gone");
    assert_eq!(server.get("/api/v1/resources").await.expect(200), json!([]));
}

async fn a_refused_request_leaves_its_key_free(server: Server) {
    server.with_type().await;
    let mut bad = resource("production-pg");
    bad["spec"]["storage_gb"] = json!(1);
    assert_eq!(post(&server, "/api/v1/resources", "k1", &bad).await.status, 400);
    assert_eq!(post(&server, "/api/v1/resources", "k1", &resource("production-pg")).await.status, 201);
}

async fn of_many_posts_with_one_key_one_acts_and_all_get_its_answer(server: Server) {
    server.with_type().await;
    let body = resource("production-pg");
    let posts = (0..32).map(|_| post(&server, "/api/v1/resources", "k1", &body));
    let answers = futures::future::join_all(posts).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (201, &answers[0].body));
    }
    assert_eq!(server.get("/api/v1/resources").await.expect(200).as_array().expect("a list").len(), 1);
}

async fn every_post_takes_a_key(server: Server) {
    let kind = json!({"name": "Thing", "version": "v1", "schema": {"type": "object"}});
    let tenant = json!({"name": "acme"});
    for (path, body) in [("/api/v1/resource-types", &kind), ("/api/v1/tenants", &tenant)] {
        let first = post(&server, path, "k", body).await;
        let again = post(&server, path, "k", body).await;
        assert_eq!((first.status, again.status, &first.body), (201, 201, &again.body), "{path}");
    }
    server.with_type().await;
    server.with_resource("production-pg").await;
    let first = post(&server, "/api/v1/resources/1/reconcile", "r", &json!(null)).await.expect(202);
    let again = post(&server, "/api/v1/resources/1/reconcile", "r", &json!(null)).await.expect(202);
    assert_eq!(first, again);
}

async fn a_tokens_secret_is_not_shown_again_by_its_key(server: Server) {
    let body = json!({"name": "ci", "role": "viewer"});
    let first = post(&server, "/api/v1/tokens", "k", &body).await.expect(201);
    let again = post(&server, "/api/v1/tokens", "k", &body).await;
    assert_eq!(again.status, 409);
    assert!(!again.text.contains(first["token"].as_str().expect("a token")));
}

stories!(
    a_post_sent_again_with_its_key_gets_the_first_answer,
    a_refused_request_leaves_its_key_free,
    of_many_posts_with_one_key_one_acts_and_all_get_its_answer,
    every_post_takes_a_key,
    a_tokens_secret_is_not_shown_again_by_its_key,
);
