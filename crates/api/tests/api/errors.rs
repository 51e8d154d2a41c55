use reqwest::Method;
use serde_json::json;

use crate::harness::{Server, resource, stories};

async fn every_refusal_is_a_problem_that_says_what_to_do(server: Server) {
    server.with_type().await;
    let raw = async |method: Method, path: &str, kind: &str, body: &str| {
        let request = server.request(method, path).header("content-type", kind).body(body.to_string());
        server.send(request).await
    };
    let json = "application/json";
    let answers = [
        (400, raw(Method::POST, "/api/v1/resources", json, "{").await),
        (400, raw(Method::POST, "/api/v1/resources", json, "").await),
        (400, raw(Method::POST, "/api/v1/resources", json, "{} x").await),
        (400, raw(Method::POST, "/api/v1/resources", json, "\u{feff}{}").await),
        (400, raw(Method::POST, "/api/v1/resources", json, r#"{"name": 1e999}"#).await),
        (422, raw(Method::POST, "/api/v1/resources", json, "[]").await),
        (422, raw(Method::POST, "/api/v1/resources", json, "{}").await),
        (422, raw(Method::POST, "/api/v1/resources", json, r#"{"name": 7}"#).await),
        (415, raw(Method::POST, "/api/v1/resources", "text/plain", "{}").await),
        (404, server.get("/api/v1/resources/999").await),
        (400, server.get("/api/v1/resources/one").await),
        (400, server.get("/api/v1/resources/99999999999999999999").await),
        (404, server.get("/api/v1/nothing").await),
        (404, server.get("/api/v1/resource-types/Nope/v1").await),
        (405, server.delete("/api/v1/resources").await),
        (405, server.post("/health", &json!({})).await),
        (400, server.get("/api/v1/resources/by-name/a%00b/v1/x").await),
        (400, server.get("/api/v1/resource-types?name=%00").await),
        (400, server.get("/api/v1/events?object_id=1").await),
    ];
    for (status, answer) in answers {
        assert_eq!(answer.status, status, "{}", answer.text);
        assert_eq!(answer.header("content-type"), "application/problem+json", "{}", answer.text);
        assert_eq!(answer.body["status"], status);
        assert!(answer.detail().len() > 10, "{}", answer.text);
        assert!(!answer.header("x-request-id").is_empty());
    }
}

async fn a_field_of_the_wrong_shape_or_name_is_named(server: Server) {
    let mut body = resource("production-pg");
    body["sepc"] = json!({});
    let typo = server.post("/api/v1/resources", &body).await;
    assert_eq!(typo.status, 422);
    assert_eq!(typo.body["violations"][0]["path"], "sepc", "{}", typo.text);
    assert!(typo.detail().contains("`spec`"), "{}", typo.detail());
    let mut body = resource("production-pg");
    body.as_object_mut().expect("an object").remove("action_plugin");
    let missing = server.post("/api/v1/resources", &body).await;
    assert_eq!((missing.status, missing.body["violations"][0]["path"].as_str()), (422, Some("action_plugin")));
    let mut body = resource("production-pg");
    body["labels"] = json!({"env": 7});
    let shape = server.post("/api/v1/resources", &body).await;
    assert_eq!(shape.status, 422);
    assert_eq!(shape.body["violations"][0]["path"], "labels.env", "{}", shape.text);
}

async fn only_an_object_is_a_body(server: Server) {
    server.with_type().await;
    for body in
        [json!(["arr", "DatabaseCluster", "v1", "noop", {}, {}, {}, {}]), json!("x"), json!(1), json!(null), json!([])]
    {
        for path in ["/api/v1/resources", "/api/v1/resource-types", "/api/v1/tokens", "/api/v1/tenants"] {
            let refused = server.post(path, &body).await;
            assert_eq!(refused.status, 422, "{path} {body}");
            assert!(!refused.text.contains("struct"), "{}", refused.text);
        }
    }
    for kind in ["application/json-patch+json", "application/vnd.x+json", "application/yaml"] {
        let request = server.request(Method::PATCH, "/api/v1/resources/1").header("content-type", kind).body("{}");
        assert_eq!(server.send(request).await.status, 415, "{kind}");
    }
}

async fn names_follow_dns_label_rules(server: Server) {
    server.with_type().await;
    for name in ["", "A", "a_b", "-a", "a-", "a.b", "é", "a b", &"a".repeat(64), "a\u{0}b"] {
        let refused = server.post("/api/v1/resources", &resource(name)).await;
        assert_eq!(refused.status, 400, "{name:?}");
        assert!(refused.detail().contains("DNS label"), "{}", refused.detail());
    }
    for name in ["a", "0", "a-b", &"a".repeat(63)] {
        server.post("/api/v1/resources", &resource(name)).await.expect(201);
    }
    for labels in [json!({"-x": "y"}), json!({"x": "y y"}), json!({"x": "-"}), json!({"a/b/c": "y"})] {
        let mut body = resource("labelled");
        body["labels"] = labels;
        assert_eq!(server.post("/api/v1/resources", &body).await.status, 400, "{body}");
    }
}

async fn a_request_id_is_kept_or_given(server: Server) {
    let given = server.request(Method::GET, "/health").header("x-request-id", "my-id_1");
    assert_eq!(server.send(given).await.header("x-request-id"), "my-id_1");
    let odd = server.request(Method::GET, "/health").header("x-request-id", "a b\"c");
    assert_eq!(server.send(odd).await.header("x-request-id").len(), 16);
}

stories!(
    every_refusal_is_a_problem_that_says_what_to_do,
    a_field_of_the_wrong_shape_or_name_is_named,
    only_an_object_is_a_body,
    names_follow_dns_label_rules,
    a_request_id_is_kept_or_given,
);
