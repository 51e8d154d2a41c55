use model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, database_cluster, resource, stories};

/// A body that would do, for every operation that takes one.
fn body_for(operation: &str) -> Option<Value> {
    match operation {
        "create_resource_type" => Some(json!({"name": "Intruder", "version": "v1", "schema": {"type": "object"}})),
        "update_resource_type" => Some(json!({"schema": {"type": "object"}})),
        "create_resource" => Some(resource("intruder")),
        "update_resource" | "patch_resource" => Some(json!({"spec": {"engine": "mysql", "storage_gb": 10}})),
        "import_resource" => Some(json!({"address": "cloudsim_thing.it", "id": "thing-1"})),
        "set_finalizers" => Some(json!({"finalizers": ["intruder.example/veto"]})),
        "create_account" => Some(json!({"name": "intruder", "provider": "other"})),
        "push_state" | "terraform_write_state" => Some(json!({"version": 4, "serial": 9, "lineage": "intruder"})),
        "set_secret" => Some(json!({"value": "intruder"})),
        "create_tenant" => Some(json!({"name": "intruder"})),
        "enrol_runner" => Some(json!({"name": "intruder", "tenants": ["victim"]})),
        "runner_claim" => Some(json!({"contract": "terrane.runner/v1", "free": 1})),
        "create_token" => Some(json!({"name": "intruder", "role": "viewer"})),
        _ => None,
    }
}

/// Every operation of the API's own description, with the victim's ids and names filled in.
/// What the engine leaves behind: an operation that waits for a job.
const OPERATION: &str = "INSERT INTO operations (id, tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, \
    message, fencing_token, holder, trace_id, resources_created, resources_updated, resources_deleted, started_at, updated_at) \
    SELECT 77, tenant_id, id, 'reconcile', 'created', 1, 'waiting', 'applying', 'apply', 1, '', 1, '', '', 0, 0, 0, 1, 1 \
    FROM resources WHERE name = 'secret-plans'";
const JOB: &str = r#"INSERT INTO jobs (id, tenant_id, resource_id, operation_id, state, request, created_at)
    SELECT 77, tenant_id, id, 77, 'queued',
    '{"work":{"kind":"terraform","goal":"apply","source":{"path":"/m"},"variables":{},"approval":"auto"}}', 1
    FROM resources WHERE name = 'secret-plans'"#;

async fn no_route_crosses_from_one_tenant_to_another(server: Server) {
    let guarded = server.asking_for_tokens().await;
    for tenant in ["victim", "intruder"] {
        server.post("/api/v1/tenants", &json!({"name": tenant})).await.expect(201);
    }
    let victim = server.token("victim", "victim-admin", Role::Admin).await;
    let intruder = server.token("intruder", "intruder-admin", Role::Admin).await;
    let send = async |token: &str, method: Method, path: &str, body: Option<Value>, tenant: Option<&str>| {
        let mut request = guarded.request(method, path).bearer_auth(token);
        if let Some(tenant) = tenant {
            request = request.header("terrane-tenant", tenant);
        }
        guarded
            .send(match body {
                Some(body) => request.json(&body),
                None => request,
            })
            .await
    };
    let kind = send(&victim, Method::POST, "/api/v1/resource-types", Some(database_cluster()), None).await.expect(201);
    let mut mine = resource("secret-plans");
    mine["labels"] = json!({"codename": "bluebird"});
    let mine = send(&victim, Method::POST, "/api/v1/resources", Some(mine), None).await.expect(201);
    let hush = json!({"value": "hunter2-of-the-victim", "hosts": ["vault.victim.example"]});
    send(&victim, Method::PUT, "/api/v1/secrets/victims-secret", Some(hush), None).await.expect(201);
    server.post("/api/v1/runners", &json!({"name": "victims-runner", "tenants": ["victim"]})).await.expect(201);
    let account = json!({"name": "victims-secret", "provider": "other", "region": "hunter2"});
    send(&victim, Method::POST, "/api/v1/accounts", Some(account), None).await.expect(201);
    let state = json!({"version": 4, "serial": 1, "lineage": "hunter2"});
    let versions = format!("/api/v1/resources/{}/state/versions", mine["id"]);
    let state = send(&victim, Method::POST, &versions, Some(state), None).await.expect(201);
    server.sql(OPERATION).await;
    server.sql(JOB).await;
    let token_id = send(&victim, Method::GET, "/api/v1/tokens", None, None).await.expect(200)[0]["id"].clone();
    let snapshot = async || {
        let mut all = Vec::new();
        for path in [
            versions.as_str(),
            "/api/v1/resources",
            "/api/v1/resource-types",
            "/api/v1/tokens",
            "/api/v1/secrets",
            "/api/v1/accounts",
            "/api/v1/jobs/77",
            "/api/v1/events?limit=1000",
        ] {
            let answer = send(&victim, Method::GET, path, None, None).await.expect(200);
            all.push(answer);
        }
        all
    };
    let before = snapshot().await;

    let document = guarded.get("/openapi.json").await.expect(200);
    let mut walked = 0;
    for (template, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an operation id");
            let path = template
                .replace("resources/{id}", &format!("resources/{}", mine["id"]))
                .replace("resource-types/{id}", &format!("resource-types/{}", kind["id"]))
                .replace("jobs/{id}", "jobs/77")
                .replace("versions/{version}", &format!("versions/{}", state["id"]))
                .replace("/state/lock", "/state/lock?id=victims")
                .replace("tokens/{id}", &format!("tokens/{token_id}"))
                .replace("resource-types/{name}/{version}", "resource-types/DatabaseCluster/v1")
                .replace("by-name/{type}/{version}/{name}", "by-name/DatabaseCluster/v1/secret-plans")
                .replace("secrets/{name}", "secrets/victims-secret")
                .replace("accounts/{name}", "accounts/victims-secret")
                .replace("tenants/{name}", "tenants/victim")
                .replace("runners/{name}", "runners/victims-runner")
                .replace("webhooks/github/{tenant}", "webhooks/github/victim")
                .replace("webhooks/gitlab/{tenant}", "webhooks/gitlab/victim");
            assert!(!path.contains('{'), "fill in {path}");
            let method: Method = method.to_uppercase().parse().expect("a method");
            for tenant in [None, Some("victim"), Some("fleet")] {
                let answer = send(&intruder, method.clone(), &path, body_for(id), tenant).await;
                let what = format!("{method} {path} as {tenant:?}: {} {}", answer.status, answer.text);
                for hint in [
                    "secret-plans",
                    "bluebird",
                    "victim-admin",
                    "victims-secret",
                    "victim.example",
                    "hunter2",
                    "victims-runner",
                ] {
                    // What the request itself names may be named in its refusal.
                    assert!(!answer.text.contains(hint) || path.contains(hint), "{what}");
                }
                // A secret of that name may be made: the intruder's own, which leaves the victim's alone.
                if template.contains('{') && !template.contains("/secrets/") {
                    assert!(answer.status >= 400, "{what}");
                }
                // A runner's call knows no person's token.
                if template.starts_with("/api/v1/runner/") || template == "/api/v1/runner" {
                    assert_eq!(answer.status, 401, "{what}");
                    continue;
                }
                // A webhook asks for no token but for the tenant's own signature.
                if tenant.is_some() && template.starts_with("/api") && !template.contains("/webhooks/") {
                    assert_eq!(answer.status, 403, "{what}");
                }
                walked += 1;
            }
            // A watch must not cross either.
            if matches!(id, "list_resources" | "list_resource_types" | "list_events") {
                let path = format!("{path}?watch=true&since=0&timeout_seconds=0");
                let answer = send(&intruder, Method::GET, &path, None, None).await;
                assert_eq!(answer.status, 200);
                assert!(!answer.text.contains("secret-plans") && !answer.text.contains("victim"), "{}", answer.text);
            }
        }
    }
    assert!(walked > 100, "only {walked} requests: is the description complete?");
    assert_eq!(snapshot().await, before, "the victim's things are as they were");
}

async fn a_fleet_type_is_every_tenants_to_use_and_none_of_theirs_to_change(server: Server) {
    let guarded = server.asking_for_tokens().await;
    server.post("/api/v1/tenants", &json!({"name": "acme"})).await.expect(201);
    let request = server.request(Method::POST, "/api/v1/resource-types").header("terrane-tenant", "fleet");
    let shared = server.send(request.json(&database_cluster())).await.expect(201);
    assert_eq!(shared["tenant"], "fleet");
    let acme = server.token("acme", "admin", Role::Admin).await;
    let send = async |method: Method, path: &str, body: Value| {
        let request = guarded.request(method, path).bearer_auth(&acme);
        guarded.send(if body.is_null() { request } else { request.json(&body) }).await
    };
    assert_eq!(send(Method::GET, "/api/v1/resource-types/DatabaseCluster/v1", json!(null)).await.expect(200), shared);
    send(Method::POST, "/api/v1/resources", resource("production-pg")).await.expect(201);
    let path = format!("/api/v1/resource-types/{}", shared["id"]);
    assert_eq!(send(Method::PUT, &path, json!({"schema": {"type": "object"}})).await.status, 403);
    assert_eq!(send(Method::DELETE, &path, json!(null)).await.status, 403);
    let refused = server.request(Method::DELETE, &path).header("terrane-tenant", "fleet");
    assert_eq!(server.send(refused).await.status, 409, "a tenant uses it");
    let in_fleet = server.request(Method::POST, "/api/v1/resources").header("terrane-tenant", "fleet");
    assert_eq!(server.send(in_fleet.json(&resource("x"))).await.status, 403, "resources belong to a tenant");

    let own = send(Method::POST, "/api/v1/resource-types", database_cluster()).await.expect(201);
    assert_eq!(send(Method::GET, "/api/v1/resource-types/DatabaseCluster/v1", json!(null)).await.expect(200), own);
}

async fn an_operator_names_the_tenant(server: Server) {
    server.post("/api/v1/tenants", &json!({"name": "acme"})).await.expect(201);
    server.with_type().await;
    let request = server.request(Method::GET, "/api/v1/resource-types").header("terrane-tenant", "acme");
    assert_eq!(server.send(request).await.expect(200), json!([]));
    for wrong in ["nowhere", "NOT-A-NAME", "a b"] {
        let request = server.request(Method::GET, "/api/v1/resource-types").header("terrane-tenant", wrong);
        assert!([400, 404].contains(&server.send(request).await.status), "{wrong}");
    }
    assert_eq!(server.delete("/api/v1/tenants/default").await.status, 409);
    assert_eq!(server.delete("/api/v1/tenants/fleet").await.status, 404);
    assert_eq!(server.delete("/api/v1/tenants/acme").await.status, 204);
    let request = server.request(Method::GET, "/api/v1/resource-types").header("terrane-tenant", "acme");
    assert_eq!(server.send(request).await.status, 404);
}

stories!(
    no_route_crosses_from_one_tenant_to_another,
    a_fleet_type_is_every_tenants_to_use_and_none_of_theirs_to_change,
    an_operator_names_the_tenant,
);
