use serde_json::{Value, json};

use crate::harness::{Server, resource, stories};

fn nested(depth: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
}

async fn hostile_schemas_are_refused_when_the_type_is_created(server: Server) {
    let doubling: Value = {
        let mut defs = serde_json::Map::new();
        for level in 0..40 {
            let next = format!("#/$defs/l{}", level + 1);
            defs.insert(format!("l{level}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        }
        defs.insert("l40".into(), json!({"type": "object"}));
        json!({"type": "object", "$defs": defs, "properties": {"x": {"$ref": "#/$defs/l0"}}})
    };
    let schemas = [
        doubling,
        json!({"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}),
        json!({"type": "object", "properties": {"x": {"$ref": "https://example.com/schema.json"}}}),
        json!({"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}}),
        json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "(?=a)b"}}}),
        json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "((a{1000}){1000}){1000}"}}}),
        json!({"type": "object", "properties": {"x": {"default": 5, "type": "string"}}}),
        json!({"type": "string"}),
        json!(true),
        json!({"type": "object", "properties": {"x": {"multipleOf": 0}}}),
    ];
    for schema in schemas {
        let text: String = schema.to_string().chars().take(120).collect();
        let body = json!({"name": "Hostile", "version": "v1", "schema": schema});
        let refused = server.post("/api/v1/resource-types", &body).await;
        assert!([400, 422].contains(&refused.status), "{text}: {} {}", refused.status, refused.text);
    }
    let deep = format!(r#"{{"name": "Hostile", "version": "v1", "schema": {}}}"#, nested(5000));
    let request = server.request(reqwest::Method::POST, "/api/v1/resource-types");
    let refused = server.send(request.header("content-type", "application/json").body(deep)).await;
    assert_eq!(refused.status, 400);
}

async fn hostile_documents_are_answered(server: Server) {
    let body = json!({"name": "Open", "version": "v1", "schema": {"type": "object", "properties": {
        "name": {"type": "string", "pattern": "^(a+)+$"}, "n": {"type": "number", "multipleOf": 0.01}}}});
    server.post("/api/v1/resource-types", &body).await.expect(201);
    let post = async |spec: String| {
        let body = format!(
            r#"{{"name": "x", "resource_type_name": "Open", "resource_type_version": "v1", "action_plugin": "noop", "spec": {spec}}}"#
        );
        let request = server.request(reqwest::Method::POST, "/api/v1/resources?dry_run=true");
        server.send(request.header("content-type", "application/json").body(body)).await
    };
    assert_eq!(post(nested(5000)).await.status, 400);
    assert_eq!(post(nested(100)).await.status, 400, "deeper than a spec may be");
    assert_eq!(post(nested(30)).await.status, 201);
    assert_eq!(post(format!(r#"{{"name": "{}!"}}"#, "a".repeat(100_000))).await.status, 400);
    assert_eq!(post(r#"{"n": 1e308}"#.into()).await.status, 201);
    assert_eq!(post(r#"{"n": 1e400}"#.into()).await.status, 400);
    assert_eq!(post(format!(r#"{{"n": {}}}"#, "9".repeat(500))).await.status, 400);
    assert_eq!(post(format!(r#"{{"free": "{}"}}"#, "é".repeat(450_000))).await.status, 201, "large, but within bounds");
    assert_eq!(post(format!(r#"{{"free": "{}"}}"#, "x".repeat(1_100_000))).await.status, 413);
    assert_eq!(post(r#"{"free": "a\u0000b", "emoji": "\ud83d\ude00"}"#.into()).await.status, 201);
    assert_eq!(post(r#"{"free": "\ud83d"}"#.into()).await.status, 400, "half a character");
    server.get("/health").await.expect(200);
}

async fn odd_texts_survive_the_round_trip(server: Server) {
    server
        .post("/api/v1/resource-types", &json!({"name": "Open", "version": "v1", "schema": {"type": "object"}}))
        .await
        .expect(201);
    let spec = json!({
        "nul": "a\u{0}b", "emoji": "😀", "quotes": "'\";--", "max": i64::MAX, "min": i64::MIN, "umax": u64::MAX,
        "float": 0.1, "tiny": 5e-324, "empty": {}, "list": [null, true, [[]]], "": "no key",
    });
    let mut body = resource("odd");
    body["resource_type_name"] = json!("Open");
    body["spec"] = spec.clone();
    body["annotations"] = json!({"note": "a\u{0}b 😀"});
    let created = server.post("/api/v1/resources", &body).await.expect(201);
    assert_eq!(created["spec"], spec);
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), created);
}

async fn nul_and_oversize_texts_are_refused_where_they_cannot_be_kept(server: Server) {
    let nul = json!({"name": "T", "version": "v1", "description": "a\u{0}b", "schema": {"type": "object"}});
    assert_eq!(server.post("/api/v1/resource-types", &nul).await.status, 400);
    let long = json!({"name": "acme", "description": "x".repeat(5000)});
    assert_eq!(server.post("/api/v1/tenants", &long).await.status, 400);
    server.with_type().await;
    let mut body = resource("big");
    body["annotations"] = json!({"note": "x".repeat(70_000)});
    assert_eq!(server.post("/api/v1/resources", &body).await.status, 400);
    let mut body = resource("big");
    body["plugin_config"] = json!({"note": "x".repeat(300_000)});
    assert_eq!(server.post("/api/v1/resources", &body).await.status, 400);
}

stories!(
    hostile_schemas_are_refused_when_the_type_is_created,
    hostile_documents_are_answered,
    odd_texts_survive_the_round_trip,
    nul_and_oversize_texts_are_refused_where_they_cannot_be_kept,
);
