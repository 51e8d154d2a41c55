use jiff::{Timestamp, ToSpan};
use model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Server, database_cluster, resource, stories};

async fn with_token(server: &Server, token: &str, method: Method, path: &str, body: &Value) -> Answer {
    let request = server.request(method, path).bearer_auth(token);
    server.send(if body.is_null() { request } else { request.json(body) }).await
}

async fn without_a_good_token_nothing_is_served(server: Server) {
    let guarded = server.asking_for_tokens().await;
    let good = server.token("default", "good", Role::Viewer).await;
    let refused = guarded.get("/api/v1/resources").await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"));
    let (public, secret) = good.rsplit_once('_').expect("two parts");
    for wrong in [
        "",
        "x",
        "trn",
        "trn_",
        "trn__",
        "trn_abc",
        "trn_abc_def",
        &format!("{public}_"),
        &format!("{public}_{secret}x"),
        &format!("{public}_{}", &secret[1..]),
        &good.to_uppercase(),
        "trn_%00_x",
        "trn_'; DROP TABLE tokens; --_x",
    ] {
        let answer = with_token(&guarded, wrong, Method::GET, "/api/v1/resources", &json!(null)).await;
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(wrong.is_empty() || !answer.text.contains(wrong) || wrong.len() < 5, "{}", answer.text);
    }
    let basic = guarded.request(Method::GET, "/api/v1/resources").basic_auth("user", Some(&good));
    assert_eq!(guarded.send(basic).await.status, 401);
    assert_eq!(with_token(&guarded, &good, Method::GET, "/api/v1/resources", &json!(null)).await.status, 200);
    for open in ["/health", "/ready", "/metrics", "/openapi.json", "/docs"] {
        assert_eq!(guarded.get(open).await.status, 200, "{open}");
    }
}

async fn roles_allow_what_they_say(server: Server) {
    let guarded = server.asking_for_tokens().await;
    server.with_type().await;
    server.with_resource("production-pg").await;
    let spec = json!({"spec": {"engine": "mysql", "storage_gb": 10}});
    let tenant = json!({"name": "acme"});
    let mut other_type = database_cluster();
    other_type["name"] = json!("Other");
    let acts: Vec<(Role, Method, &str, Value)> = vec![
        (Role::Viewer, Method::GET, "/api/v1/resources", json!(null)),
        (Role::Viewer, Method::GET, "/api/v1/events", json!(null)),
        (Role::Editor, Method::PUT, "/api/v1/resources/1?dry_run=true", spec.clone()),
        (Role::Editor, Method::PATCH, "/api/v1/resources/1?dry_run=true", spec),
        (Role::Editor, Method::POST, "/api/v1/resources?dry_run=true", resource("other")),
        (Role::Editor, Method::POST, "/api/v1/resources/1/reconcile?dry_run=true", json!(null)),
        (Role::Editor, Method::DELETE, "/api/v1/resources/1?dry_run=true", json!(null)),
        (Role::Editor, Method::DELETE, "/api/v1/resources/1?dry_run=true&forget=true", json!(null)),
        (Role::Editor, Method::PUT, "/api/v1/resources/1/finalizers?dry_run=true", json!({"finalizers": ["a/b"]})),
        (Role::Viewer, Method::GET, "/api/v1/resources/1/operations", json!(null)),
        (Role::Viewer, Method::GET, "/api/v1/secrets", json!(null)),
        (Role::Editor, Method::PUT, "/api/v1/secrets/hush?dry_run=true", json!({"value": "x"})),
        (Role::Viewer, Method::GET, "/api/v1/plugins/actions", json!(null)),
        (Role::Admin, Method::POST, "/api/v1/resource-types?dry_run=true", other_type),
        (Role::Admin, Method::GET, "/api/v1/tokens", json!(null)),
        (Role::Admin, Method::POST, "/api/v1/tokens?dry_run=true", json!({"name": "x", "role": "admin"})),
        (Role::Admin, Method::GET, "/api/v1/events?kind=token", json!(null)),
        (Role::Operator, Method::GET, "/api/v1/tenants", json!(null)),
        (Role::Operator, Method::POST, "/api/v1/tenants?dry_run=true", tenant),
    ];
    for role in Role::ALL {
        let home = if role == Role::Operator { "fleet" } else { "default" };
        let token = server.token(home, &format!("role-{}", role.as_str()), role).await;
        let me = with_token(&guarded, &token, Method::GET, "/api/v1/whoami", &json!(null)).await.expect(200);
        assert_eq!(
            me,
            json!({"actor": format!("token:role-{}", role.as_str()), "role": role.as_str(), "tenant": "default"})
        );
        for (needed, method, path, body) in &acts {
            let answer = with_token(&guarded, &token, method.clone(), path, body).await;
            let allowed = (200..300).contains(&answer.status);
            assert_eq!(allowed, role >= *needed, "{} {method} {path}: {}", role.as_str(), answer.text);
            assert!(allowed || answer.status == 403, "{}", answer.text);
        }
    }
}

async fn nobody_makes_a_token_above_themselves(server: Server) {
    let guarded = server.asking_for_tokens().await;
    let admin = server.token("default", "admin", Role::Admin).await;
    let operator = json!({"name": "boss", "role": "operator"});
    let refused = with_token(&guarded, &admin, Method::POST, "/api/v1/tokens", &operator).await;
    assert_eq!(refused.status, 403);
    let request = guarded.request(Method::POST, "/api/v1/tokens").bearer_auth(&admin).header("terrane-tenant", "fleet");
    assert_eq!(guarded.send(request.json(&operator)).await.status, 403);
    let boss = server.token("fleet", "first", Role::Operator).await;
    let request = guarded.request(Method::POST, "/api/v1/tokens").bearer_auth(&boss).header("terrane-tenant", "fleet");
    guarded.send(request.json(&operator)).await.expect(201);
    let request = guarded.request(Method::POST, "/api/v1/tokens").bearer_auth(&boss).json(&operator);
    assert_eq!(guarded.send(request).await.status, 400, "an operator's token belongs to the fleet");
}

async fn a_token_is_shown_once_expires_and_can_be_revoked(server: Server) {
    let guarded = server.asking_for_tokens().await;
    let soon = Timestamp::now() + 1.hour();
    let made =
        server.post("/api/v1/tokens", &json!({"name": "ci", "role": "viewer", "expires_at": soon})).await.expect(201);
    let secret = made["token"].as_str().expect("a token").to_string();
    assert!(secret.starts_with("trn_") && secret.len() > 50, "{secret}");
    for path in ["/api/v1/tokens", "/api/v1/tokens/1", "/api/v1/events"] {
        let text = server.get(path).await.text;
        assert!(!text.contains(&secret) && !text.contains("hash"), "{path}: {text}");
    }
    assert_eq!(with_token(&guarded, &secret, Method::GET, "/api/v1/resources", &json!(null)).await.status, 200);
    server.sql("UPDATE tokens SET expires_at = 1 WHERE name = 'ci'").await;
    assert_eq!(with_token(&guarded, &secret, Method::GET, "/api/v1/resources", &json!(null)).await.status, 401);
    server.sql("UPDATE tokens SET expires_at = NULL WHERE name = 'ci'").await;
    assert_eq!(with_token(&guarded, &secret, Method::GET, "/api/v1/resources", &json!(null)).await.status, 200);
    assert_eq!(server.delete("/api/v1/tokens/1").await.status, 204);
    assert_eq!(with_token(&guarded, &secret, Method::GET, "/api/v1/resources", &json!(null)).await.status, 401);
    assert_eq!(server.delete("/api/v1/tokens/1").await.status, 404);
    let past = json!({"name": "late", "role": "viewer", "expires_at": "2001-01-01T00:00:00Z"});
    assert_eq!(server.post("/api/v1/tokens", &past).await.status, 400);
}

async fn the_last_use_of_a_token_is_noted(server: Server) {
    let guarded = server.asking_for_tokens().await;
    let token = server.token("default", "ci", Role::Viewer).await;
    with_token(&guarded, &token, Method::GET, "/api/v1/whoami", &json!(null)).await.expect(200);
    let keeper = tokio::spawn(guarded.app.clone().keep_token_use());
    guarded.app.drain();
    keeper.await.expect("it ends when the server drains");
    assert!(server.get("/api/v1/tokens/1").await.expect(200)["last_used_at"].is_string());
}

stories!(
    without_a_good_token_nothing_is_served,
    roles_allow_what_they_say,
    nobody_makes_a_token_above_themselves,
    a_token_is_shown_once_expires_and_can_be_revoked,
    the_last_use_of_a_token_is_noted,
);
