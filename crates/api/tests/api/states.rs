use model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, stories};

fn state(serial: i64, lineage: &str, password: &str) -> Value {
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": lineage, "outputs": {},
        "resources": [{
            "mode": "managed", "type": "db", "name": "main", "provider": "provider[\"x/y\"]",
            "instances": [{"attributes": {"id": "db-1", "password": password}}],
        }],
    })
}

async fn with_state(server: &Server) -> String {
    server.with_type().await;
    let id = server.with_resource("production-pg").await["id"].clone();
    format!("/api/v1/resources/{id}/state")
}

fn lock(id: &str) -> Value {
    json!({
        "ID": id, "Operation": "OperationTypeApply", "Info": "", "Who": "someone@laptop", "Version": "1.11.4",
        "Created": "2026-01-31T12:00:00Z", "Path": "",
    })
}

fn method(name: &str) -> Method {
    Method::from_bytes(name.as_bytes()).expect("a method")
}

/// What the engine leaves behind: a job under way.
const OPERATION: &str = "INSERT INTO operations (id, tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, \
    message, fencing_token, holder, trace_id, resources_created, resources_updated, resources_deleted, started_at, updated_at) \
    SELECT 77, tenant_id, id, 'reconcile', 'created', 1, 'waiting', 'applying', 'apply', 1, '', 1, '', '', 0, 0, 0, 1, 1 \
    FROM resources WHERE name = 'production-pg'";
const JOB: &str = r#"INSERT INTO jobs (id, tenant_id, resource_id, operation_id, state, request, runner, created_at, started_at)
    SELECT 77, tenant_id, id, 77, 'running',
    '{"work":{"kind":"terraform","goal":"apply","source":{"path":"/m"},"variables":{},"approval":"auto"}}', 'there', 1, 1
    FROM resources WHERE name = 'production-pg'"#;

async fn a_state_is_brought_listed_read_and_brought_back_and_nothing_is_overwritten(server: Server) {
    let path = with_state(&server).await;
    let versions = format!("{path}/versions");
    assert_eq!(server.get(&path).await.expect(200)["newest"], Value::Null);
    let first = server.post(&versions, &state(1, "l", "hunter2-one")).await.expect(201);
    let again = server.post(&versions, &state(1, "l", "hunter2-one")).await.expect(201);
    assert_eq!(again, first, "the same state once more changes nothing");
    let second = server.post(&versions, &state(2, "l", "hunter2-two")).await.expect(201);
    assert_eq!((&second["author"], &second["objects"]), (&json!("local"), &json!(1)));

    let info = server.get(&path).await;
    assert_eq!((info.body["newest"].clone(), &info.body["objects"][0]["id"]), (second.clone(), &json!("db-1")));
    assert!(!info.text.contains("hunter2"), "{}", info.text);
    let pulled = server.get(&format!("{versions}/{}", first["id"])).await;
    assert_eq!((pulled.status, pulled.header("cache-control")), (200, "no-store"));
    assert_eq!(pulled.body, state(1, "l", "hunter2-one"));

    let restored = server.post(&format!("{versions}/{}/restore", first["id"]), &json!({})).await.expect(201);
    assert_eq!((restored["serial"].as_i64(), restored["lineage"].as_str()), (Some(3), Some("l")));
    let newest = server.get(&format!("{path}/http")).await.expect(200);
    assert_eq!(newest, state(3, "l", "hunter2-one"));
    let serials: Vec<_> = server.get(&versions).await.expect(200).as_array().expect("a list").clone();
    assert_eq!(serials.iter().map(|version| version["serial"].clone()).collect::<Vec<_>>(), [3, 2, 1]);

    let events = server.get("/api/v1/events?kind=state").await;
    let actions: Vec<_> = events.body.as_array().expect("a list").iter().map(|event| event["action"].clone()).collect();
    assert_eq!(json!(actions), json!(["created", "created", "read", "created", "read"]));
    assert!(!events.text.contains("hunter2"), "{}", events.text);
}

async fn what_cannot_follow_is_refused_with_the_versions_to_go_back_to(server: Server) {
    let path = with_state(&server).await;
    let versions = format!("{path}/versions");
    let kept = server.post(&versions, &state(5, "l", "p")).await.expect(201);
    for (wrong, why) in [
        (state(4, "l", "p"), "it is older"),
        (state(6, "other", "p"), "it is of something else"),
        (state(5, "l", "q"), "other contents"),
    ] {
        for address in [versions.clone(), format!("{path}/http")] {
            let refused = server.post(&address, &wrong).await;
            assert_eq!(refused.status, 409, "{}", refused.text);
            let offer = format!("{} (serial 5, 1 objects", kept["id"]);
            assert!(refused.detail().contains(why) && refused.detail().contains(&offer), "{}", refused.text);
        }
    }
    for wrong in [json!({}), json!({"version": 3, "serial": 9}), json!({"version": 4, "resources": 7})] {
        assert_eq!(server.post(&versions, &wrong).await.status, 400, "{wrong}");
    }
    assert_eq!(server.post(&versions, &json!([1])).await.status, 422);
    assert_eq!(server.get(&versions).await.expect(200).as_array().map(Vec::len), Some(1));

    server.sql("UPDATE state_versions SET sha256 = 'another'").await;
    let broken = server.get(&format!("{path}/http")).await;
    assert_eq!(broken.status, 409);
    assert!(broken.detail().contains("its digest is another"), "{}", broken.text);
    assert_eq!(server.get(&path).await.status, 200, "what can be told of it still is");
}

async fn plain_terraform_locks_writes_and_unlocks(server: Server) {
    let path = with_state(&server).await;
    let http = format!("{path}/http");
    assert_eq!(server.get(&http).await.status, 204);
    let send = async |name: &str, body: Value| server.send(server.request(method(name), &http).json(&body)).await;
    assert_eq!(send("LOCK", lock("one")).await.status, 200);
    assert_eq!(send("LOCK", lock("one")).await.status, 200, "asked twice, locked once");
    let refused = send("LOCK", lock("two")).await;
    assert_eq!((refused.status, &refused.body), (423, &lock("one")), "told in Terraform's own words");
    assert_eq!(server.post(&http, &state(1, "l", "p")).await.status, 409, "without the lock");
    assert_eq!(server.post(&format!("{http}?ID=two"), &state(1, "l", "p")).await.status, 409);
    assert_eq!(server.post(&format!("{http}?ID=one"), &state(1, "l", "p")).await.status, 200);
    let pushed = server.post(&format!("{path}/versions"), &state(2, "l", "p")).await;
    assert_eq!(pushed.status, 409);
    assert!(pushed.detail().contains("someone@laptop") && pushed.detail().contains("unlock TYPE/NAME one"));
    assert_eq!(server.get(&path).await.expect(200)["held_by"]["lock"], lock("one"));
    assert_eq!(send("UNLOCK", lock("two")).await.status, 409);
    assert_eq!(send("UNLOCK", json!({"ID": "one"})).await.status, 200);
    assert_eq!(send("UNLOCK", json!({"ID": "one"})).await.status, 409, "it is not locked any more");
    assert_eq!(server.delete(&http).await.status, 409, "it still looks after something");
    assert_eq!(send("LOCK", json!({})).await.status, 400, "a lock without an id");
    assert_eq!(send("LOCK", json!({"ID": "x".repeat(20_000)})).await.status, 400);
    assert_eq!(send("BREW", json!({})).await.status, 405);
    assert_eq!(server.get(&http).await.expect(200)["serial"], 1);

    send("LOCK", lock("gone")).await;
    assert_eq!(server.delete(&format!("{path}/lock?id=one")).await.status, 409);
    assert_eq!(server.delete(&format!("{path}/lock?id=gone")).await.status, 204);
    server.post(&format!("{path}/versions"), &state(2, "l", "p")).await.expect(201);
}

async fn nobody_writes_while_a_job_is_under_way_and_its_lock_is_not_broken(server: Server) {
    let path = with_state(&server).await;
    let kept = server.post(&format!("{path}/versions"), &state(1, "l", "p")).await.expect(201);
    server.sql(OPERATION).await;
    server.sql(JOB).await;
    let http = format!("{path}/http");
    let refused = server.send(server.request(method("LOCK"), &http).json(&lock("one"))).await;
    assert_eq!((refused.status, &refused.body["ID"]), (423, &json!("terrane-job-77")));
    assert_eq!(refused.body["Info"], "Terrane applies DatabaseCluster/production-pg: job 77");
    for (address, body) in [
        (http.clone(), state(2, "l", "p")),
        (format!("{http}?ID=terrane-job-77"), state(2, "l", "p")),
        (format!("{path}/versions"), state(2, "l", "p")),
        (format!("{path}/versions/{}/restore", kept["id"]), json!({})),
    ] {
        let refused = server.post(&address, &body).await;
        assert_eq!(refused.status, 409, "{address}: {}", refused.text);
        assert!(refused.detail().contains("job 77 is under way"), "{}", refused.text);
    }
    let unlocked = server.delete(&format!("{path}/lock?id=terrane-job-77")).await;
    assert_eq!(unlocked.status, 409);
    assert!(unlocked.detail().contains("terrane cancel"), "{}", unlocked.text);
    server.get(&http).await.expect(200);
}

async fn a_token_is_the_password_and_what_is_secret_needs_an_editor(server: Server) {
    let path = with_state(&server).await;
    server.post(&format!("{path}/versions"), &state(1, "l", "hunter2")).await.expect(201);
    server.post("/api/v1/tenants", &json!({"name": "other"})).await.expect(201);
    let guarded = server.asking_for_tokens().await;
    let viewer = server.token("default", "viewer", Role::Viewer).await;
    let editor = server.token("default", "editor", Role::Editor).await;
    let stranger = server.token("other", "stranger", Role::Admin).await;
    let operator = server.token("fleet", "operator", Role::Operator).await;
    let http = format!("{path}/http");
    let ask = async |user: &str, token: &str| {
        guarded.send(guarded.request(Method::GET, &http).basic_auth(user, Some(token))).await.status
    };
    assert_eq!(ask("default", &editor).await, 200);
    assert_eq!(ask("", &editor).await, 200, "a user name is not needed");
    assert_eq!(ask("default", &operator).await, 200);
    assert_eq!(ask("default", &viewer).await, 403);
    assert_eq!(ask("other", &editor).await, 403, "the token fixes the tenant");
    assert_eq!(ask("other", &stranger).await, 404);
    assert_eq!(ask("default", &stranger).await, 403);
    assert_eq!(ask("other", &operator).await, 404, "the operator names the tenant by the user name");
    for (user, token) in [("default", ""), ("default", "wrong"), (editor.as_str(), "")] {
        assert_eq!(ask(user, token).await, 401, "{user:?}");
    }
    let odd = guarded.request(Method::GET, &http).header("authorization", "Basic %%%");
    assert_eq!(guarded.send(odd).await.status, 401);
    let as_viewer = async |path: &str| guarded.send(guarded.request(Method::GET, path).bearer_auth(&viewer)).await;
    assert_eq!(as_viewer(&path).await.status, 200);
    assert_eq!(as_viewer(&format!("{path}/versions")).await.status, 200);
    assert_eq!(as_viewer(&format!("{path}/versions/1")).await.status, 403);
    let locked = guarded.request(method("LOCK"), &http).basic_auth("default", Some(&viewer)).json(&lock("one"));
    assert_eq!(guarded.send(locked).await.status, 403);
}

async fn a_state_may_be_larger_than_anything_else_and_is_bounded(server: Server) {
    let path = with_state(&server).await;
    let large = server.post(&format!("{path}/versions"), &state(1, "l", &"x".repeat(3 << 20))).await;
    assert_eq!(large.status, 201, "{}", large.text);
    let huge = server.post(&format!("{path}/http"), &state(2, "l", &"x".repeat(33 << 20))).await;
    assert_eq!(huge.status, 413);
}

stories!(
    a_state_is_brought_listed_read_and_brought_back_and_nothing_is_overwritten,
    what_cannot_follow_is_refused_with_the_versions_to_go_back_to,
    plain_terraform_locks_writes_and_unlocks,
    nobody_writes_while_a_job_is_under_way_and_its_lock_is_not_broken,
    a_token_is_the_password_and_what_is_secret_needs_an_editor,
    a_state_may_be_larger_than_anything_else_and_is_bounded,
);
