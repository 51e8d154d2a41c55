use serde_json::{Value, json};

use crate::harness::{Server, database_cluster, resource, stories};

async fn versions_of_a_type_live_side_by_side(server: Server) {
    server.with_type().await;
    let beta = json!({"name": "DatabaseCluster", "version": "v1beta1", "schema": {"type": "object"}});
    let beta = server.post("/api/v1/resource-types", &beta).await.expect(201);
    let listed = server.get("/api/v1/resource-types?name=DatabaseCluster").await.expect(200);
    assert_eq!(listed.as_array().expect("an array").len(), 2);
    assert_eq!(server.get("/api/v1/resource-types/DatabaseCluster/v1beta1").await.expect(200), beta);
    assert_eq!(server.get("/api/v1/resource-types?name=Other").await.expect(200), json!([]));
}

async fn a_type_exists_once(server: Server) {
    server.with_type().await;
    let again = server.post("/api/v1/resource-types", &database_cluster()).await;
    assert_eq!(again.status, 409);
    assert!(again.detail().contains("DatabaseCluster/v1"), "{}", again.detail());
}

async fn a_schema_change_that_would_break_a_live_resource_is_refused_naming_it(server: Server) {
    let kind = server.with_type().await;
    server.with_resource("production-pg").await;
    let path = format!("/api/v1/resource-types/{}", kind["id"]);
    let mut schema = kind["schema"].clone();
    schema["properties"]["storage_gb"]["minimum"] = json!(500);
    let refused = server.put(&path, &json!({"schema": schema})).await;
    assert_eq!(refused.status, 409);
    assert!(refused.detail().contains("default/production-pg (spec.storage_gb"), "{}", refused.detail());
    assert_eq!(server.get(&path).await.expect(200), kind, "nothing changed");

    schema["properties"]["storage_gb"]["minimum"] = json!(50);
    let changed = server.put(&path, &json!({"schema": schema})).await.expect(200);
    assert_eq!(changed["schema"], schema);
    assert_eq!(changed["description"], kind["description"]);
    let small = json!({"spec": {"engine": "postgres", "storage_gb": 20}});
    assert_eq!(server.put("/api/v1/resources/1", &small).await.status, 400, "the new schema is in force");
}

async fn a_type_update_that_changes_nothing_changes_nothing(server: Server) {
    let kind = server.with_type().await;
    let path = format!("/api/v1/resource-types/{}", kind["id"]);
    let same = server.put(&path, &json!({"schema": kind["schema"]})).await.expect(200);
    assert_eq!(same, kind);
}

async fn a_type_configures_the_plugins_of_its_resources(server: Server) {
    let kind = server.with_type().await;
    assert_eq!(kind["plugin_config"], json!({}));
    let path = format!("/api/v1/resource-types/{}", kind["id"]);
    server.with_resource("production-pg").await;
    let config = json!({"repository": "acme/infra", "ref": "main"});
    let changed = server.put(&path, &json!({"schema": kind["schema"], "plugin_config": config})).await.expect(200);
    assert_eq!((&changed["plugin_config"], &changed["description"]), (&config, &kind["description"]));
    assert_ne!(changed["resource_version"], kind["resource_version"]);
    assert_eq!(server.get(&path).await.expect(200), changed);
    let kept = server.put(&path, &json!({"schema": kind["schema"], "description": "x"})).await.expect(200);
    assert_eq!(kept["plugin_config"], config, "what a PUT does not name stays");
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200)["generation"], 1);
    let large = json!({"note": "x".repeat(300_000)});
    assert_eq!(server.put(&path, &json!({"schema": kind["schema"], "plugin_config": large})).await.status, 400);
    let mut other = database_cluster();
    (other["name"], other["plugin_config"]) = (json!("Other"), large);
    assert_eq!(server.post("/api/v1/resource-types", &other).await.status, 400);
    other["plugin_config"] = json!([]);
    assert_eq!(server.post("/api/v1/resource-types", &other).await.status, 422);
    other["plugin_config"] = config.clone();
    assert_eq!(server.post("/api/v1/resource-types", &other).await.expect(201)["plugin_config"], config);
}

async fn a_type_in_use_cannot_be_deleted(server: Server) {
    let kind = server.with_type().await;
    let used_by = server.with_resource("production-pg").await;
    let path = format!("/api/v1/resource-types/{}", kind["id"]);
    let refused = server.delete(&path).await;
    assert_eq!(refused.status, 409);
    assert!(refused.detail().contains("production-pg"), "{}", refused.detail());
    server.delete(&format!("/api/v1/resources/{}", used_by["id"])).await.expect(202);
    assert_eq!(server.delete(&path).await.status, 204);
    assert_eq!(server.get(&path).await.status, 404);
    let created = server.post("/api/v1/resources", &resource("later")).await;
    assert_eq!(created.status, 404);
    assert!(created.detail().contains("create it first"), "{}", created.detail());
    server.with_type().await;
}

async fn a_schema_that_cannot_be_used_is_refused_with_every_reason(server: Server) {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "strng"}, "b": {"pattern": "(a+)+\\1"}, "c": {"$ref": "http://example.com/x"}},
    });
    let refused =
        server.post("/api/v1/resource-types", &json!({"name": "Bad", "version": "v1", "schema": schema})).await;
    assert_eq!(refused.status, 400);
    let paths: Vec<_> =
        refused.body["violations"].as_array().expect("violations").iter().map(|v| v["path"].as_str()).collect();
    for path in ["schema.properties.a.type", "schema.properties.b.pattern", "schema.properties.c.$ref"] {
        assert!(paths.iter().flatten().any(|found| found.starts_with(path)), "{path} in {paths:?}");
    }
}

async fn names_and_versions_of_types_follow_rules(server: Server) {
    for (name, version) in [
        ("", "v1"),
        ("1a", "v1"),
        ("a b", "v1"),
        ("A".repeat(64).as_str(), "v1"),
        ("Ok", "1"),
        ("Ok", "v"),
        ("Ok", "V1"),
    ] {
        let body = json!({"name": name, "version": version, "schema": {"type": "object"}});
        assert_eq!(server.post("/api/v1/resource-types", &body).await.status, 400, "{name} {version}");
    }
}

async fn the_order_of_fields_in_a_schema_is_kept(server: Server) {
    let text = r#"{"name": "Ordered", "version": "v1", "schema": {"type": "object", "properties": {"zebra": {"type": "string"}, "ant": {"type": "string"}}}}"#;
    let body: Value = serde_json::from_str(text).expect("JSON");
    server.post("/api/v1/resource-types", &body).await.expect(201);
    let answer = server.get("/api/v1/resource-types/Ordered/v1").await;
    assert!(answer.text.find("zebra") < answer.text.find("ant"), "{}", answer.text);
}

stories!(
    versions_of_a_type_live_side_by_side,
    a_type_exists_once,
    a_schema_change_that_would_break_a_live_resource_is_refused_naming_it,
    a_type_update_that_changes_nothing_changes_nothing,
    a_type_configures_the_plugins_of_its_resources,
    a_type_in_use_cannot_be_deleted,
    a_schema_that_cannot_be_used_is_refused_with_every_reason,
    names_and_versions_of_types_follow_rules,
    the_order_of_fields_in_a_schema_is_kept,
);
