use model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, resource, stories};

fn account(name: &str) -> Value {
    let credentials =
        json!({"AWS_ACCESS_KEY_ID": {"secret": "aws-id"}, "AWS_SECRET_ACCESS_KEY": {"secret": "aws-key"}});
    json!({"name": name, "provider": "aws", "region": "eu-west-1", "credentials": credentials})
}

async fn an_account_is_registered_shown_and_deleted(server: Server) {
    let created = server.post("/api/v1/accounts", &account("prod-aws")).await;
    assert_eq!((created.status, created.header("location")), (201, "/api/v1/accounts/prod-aws"));
    assert_eq!(created.body["credentials"]["AWS_ACCESS_KEY_ID"], json!({"secret": "aws-id"}));
    assert_eq!(server.post("/api/v1/accounts", &account("prod-aws")).await.status, 409);
    assert_eq!(server.get("/api/v1/accounts/prod-aws").await.expect(200), created.body);
    assert_eq!(server.get("/api/v1/accounts").await.expect(200), json!([created.body]));
    assert_eq!(server.delete("/api/v1/accounts/prod-aws?dry_run=true").await.status, 204);
    let stale = server.request(Method::DELETE, "/api/v1/accounts/prod-aws").header("if-match", "\"0\"");
    assert_eq!(server.send(stale).await.status, 412);
    assert_eq!(server.delete("/api/v1/accounts/prod-aws").await.status, 204);
    assert_eq!(server.delete("/api/v1/accounts/prod-aws").await.status, 404);
    let events = server.get("/api/v1/events?kind=account").await.expect(200);
    let actions: Vec<_> = events.as_array().expect("a list").iter().map(|event| event["action"].clone()).collect();
    assert_eq!(json!(actions), json!(["created", "deleted"]));
}

async fn an_account_that_makes_no_sense_is_refused_with_what_would(server: Server) {
    let with = |change: Value| {
        let mut body = account("prod-aws");
        change.as_object().expect("fields").iter().for_each(|(key, value)| body[key] = value.clone());
        body
    };
    for (body, status, says) in [
        (with(json!({"provider": "gcp"})), 400, "gcp needs GOOGLE_CREDENTIALS"),
        (with(json!({"provider": "nimbus"})), 422, "provider"),
        (with(json!({"name": "Not A Name"})), 400, "name"),
        (with(json!({"credentials": {"AWS_ACCESS_KEY_ID": {"secret": "x"}}})), 400, "AWS_SECRET_ACCESS_KEY"),
        (with(json!({"credentials": {"AWS_ACCESS_KEY_ID": "hunter2"}})), 422, "credentials"),
        (with(json!({"provider": "other", "credentials": {"LD_PRELOAD": {"secret": "x"}}})), 400, "LD_PRELOAD"),
        (with(json!({"provider": "other", "credentials": {"X": {"secret": "no name"}}})), 400, "secret"),
        (with(json!({"colour": "red"})), 422, "colour"),
    ] {
        let refused = server.post("/api/v1/accounts", &body).await;
        assert_eq!(refused.status, status, "{body}: {}", refused.text);
        assert!(refused.detail().contains(says), "{body}: {}", refused.text);
    }
    assert_eq!(server.get("/api/v1/accounts").await.expect(200), json!([]));
}

async fn an_account_in_use_stays(server: Server) {
    server.with_type().await;
    server.post("/api/v1/accounts", &account("prod-aws")).await.expect(201);
    let mut body = resource("production-pg");
    body["plugin_config"] = json!({"account": "prod-aws"});
    let made = server.post("/api/v1/resources", &body).await.expect(201);
    let refused = server.delete("/api/v1/accounts/prod-aws").await;
    assert_eq!(refused.status, 409);
    assert!(refused.detail().contains("resource DatabaseCluster/production-pg"), "{}", refused.text);
    assert_eq!(server.delete(&format!("/api/v1/resources/{}?forget=true", made["id"])).await.status, 200);
    assert_eq!(server.delete("/api/v1/accounts/prod-aws").await.status, 204);
}

async fn accounts_are_an_admins_to_make(server: Server) {
    let guarded = server.asking_for_tokens().await;
    let send = async |role: Role, method: Method, path: &str| {
        let token = server.token("default", &format!("{}-{method}-{}", role.as_str(), path.len()), role).await;
        guarded.send(guarded.request(method, path).bearer_auth(token).json(&account("prod-aws"))).await.status
    };
    assert_eq!(send(Role::Editor, Method::POST, "/api/v1/accounts").await, 403);
    assert_eq!(send(Role::Admin, Method::POST, "/api/v1/accounts").await, 201);
    assert_eq!(send(Role::Viewer, Method::GET, "/api/v1/accounts/prod-aws").await, 200);
    assert_eq!(send(Role::Editor, Method::DELETE, "/api/v1/accounts/prod-aws").await, 403);
    assert_eq!(send(Role::Admin, Method::DELETE, "/api/v1/accounts/prod-aws").await, 204);
    let in_fleet = server.request(Method::POST, "/api/v1/accounts").header("terrane-tenant", "fleet");
    assert_eq!(server.send(in_fleet.json(&account("prod-aws"))).await.status, 403, "accounts belong to a tenant");
}

stories!(
    an_account_is_registered_shown_and_deleted,
    an_account_that_makes_no_sense_is_refused_with_what_would,
    an_account_in_use_stays,
    accounts_are_an_admins_to_make,
);
