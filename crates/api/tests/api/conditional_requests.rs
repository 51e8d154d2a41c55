use reqwest::Method;
use serde_json::json;

use crate::harness::{Server, stories};

async fn if_match_guards_every_change(server: Server) {
    let kind = server.with_type().await;
    server.with_resource("production-pg").await;
    server.put("/api/v1/secrets/hush", &json!({"value": "first"})).await.expect(201);
    let read = server.get("/api/v1/resources/1").await;
    let tag = read.header("etag").to_string();
    assert_eq!(tag, format!("\"{}\"", read.body["resource_version"]));
    let larger = json!({"spec": {"engine": "postgres", "storage_gb": 200}});
    for (method, path, body) in [
        (Method::PUT, "/api/v1/resources/1".to_string(), larger.clone()),
        (Method::PATCH, "/api/v1/resources/1".to_string(), larger.clone()),
        (Method::DELETE, "/api/v1/resources/1".to_string(), json!(null)),
        (Method::DELETE, "/api/v1/resources/1?forget=true".to_string(), json!(null)),
        (Method::PUT, "/api/v1/resources/1/finalizers".to_string(), json!({"finalizers": ["a.example/veto"]})),
        (Method::PUT, "/api/v1/secrets/hush".to_string(), json!({"value": "other"})),
        (Method::DELETE, "/api/v1/secrets/hush".to_string(), json!(null)),
        (Method::POST, "/api/v1/resources/1/reconcile".to_string(), json!(null)),
        (Method::PUT, format!("/api/v1/resource-types/{}", kind["id"]), json!({"schema": {"type": "object"}})),
        (Method::DELETE, format!("/api/v1/resource-types/{}", kind["id"]), json!(null)),
    ] {
        for stale in ["\"999\"", "\"nonsense\"", "W/\"1\"", "nonsense"] {
            let request = server.request(method.clone(), &path).header("if-match", stale).json(&body);
            assert_eq!(server.send(request).await.status, 412, "{method} {path} {stale}");
        }
    }
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), read.body, "nothing changed");
    let request = server.request(Method::PUT, "/api/v1/resources/1").header("if-match", &tag).json(&larger);
    let updated = server.send(request).await;
    assert_ne!(updated.header("etag"), tag);
    updated.expect(200);
    let request = server.request(Method::PUT, "/api/v1/resources/1").header("if-match", &tag).json(&larger);
    let stale = server.send(request).await;
    assert_eq!(stale.status, 412);
    assert!(stale.detail().contains("If-Match"), "{}", stale.detail());
    let request = server.request(Method::DELETE, "/api/v1/resources/1").header("if-match", "*");
    assert_eq!(server.send(request).await.status, 202);
}

async fn of_many_changes_on_one_version_one_wins(server: Server) {
    server.with_type().await;
    let created = server.with_resource("production-pg").await;
    let tag = format!("\"{}\"", created["resource_version"]);
    let puts = (0..32).map(|at| {
        let body = json!({"spec": {"engine": "postgres", "storage_gb": 1000 + at}});
        let request = server.request(Method::PUT, "/api/v1/resources/1").header("if-match", &tag).json(&body);
        server.send(request)
    });
    let answers = futures::future::join_all(puts).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 412).count(), 31);
}

async fn a_known_version_is_not_sent_again(server: Server) {
    let kind = server.with_type().await;
    server.with_resource("production-pg").await;
    server.put("/api/v1/secrets/hush", &json!({"value": "first"})).await.expect(201);
    for path in [
        "/api/v1/resources/1".to_string(),
        "/api/v1/resources/by-name/DatabaseCluster/v1/production-pg".to_string(),
        format!("/api/v1/resource-types/{}", kind["id"]),
        "/api/v1/resource-types/DatabaseCluster/v1".to_string(),
        "/api/v1/secrets/hush".to_string(),
    ] {
        let tag = server.get(&path).await.header("etag").to_string();
        let request = server.request(Method::GET, &path).header("if-none-match", &tag);
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.text.as_str()), (304, ""), "{path}");
        let request = server.request(Method::GET, &path).header("if-none-match", "\"999999\"");
        assert_eq!(server.send(request).await.status, 200, "{path}");
    }
}

stories!(if_match_guards_every_change, of_many_changes_on_one_version_one_wins, a_known_version_is_not_sent_again);
