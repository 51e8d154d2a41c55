//! Runners elsewhere: what their tokens open, and whose work they get.

use model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Server, resource, stories};

/// Two tenants, each with a resource whose operation waits for a job.
const OPERATIONS: &str = "INSERT INTO operations (id, tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, \
    message, fencing_token, holder, trace_id, resources_created, resources_updated, resources_deleted, started_at, updated_at) \
    SELECT id + 70, tenant_id, id, 'reconcile', 'created', 1, 'waiting', 'applying', 'apply', 1, '', 1, '', '', 0, 0, 0, 1, 1 \
    FROM resources";
const JOBS: &str = r#"INSERT INTO jobs (id, tenant_id, resource_id, operation_id, state, request, created_at)
    SELECT id + 70, tenant_id, id, id + 70, 'queued',
    '{"work":{"kind":"terraform","goal":"apply","source":{"path":"/m"},"variables":{},"approval":"auto"},"secrets":{"TF_VAR_key":"hush"}}', 1
    FROM resources"#;
const OURS: i64 = 71;
const THEIRS: i64 = 72;

struct Scene {
    server: Server,
    guarded: Server,
}

impl Scene {
    async fn open(server: Server) -> Scene {
        let guarded = server.asking_for_tokens().await;
        for tenant in ["ours", "theirs"] {
            server.post("/api/v1/tenants", &json!({ "name": tenant })).await.expect(201);
            let admin = server.token(tenant, "admin", Role::Admin).await;
            let post = async |path: &str, body: Value| {
                guarded.send(guarded.request(Method::POST, path).bearer_auth(&admin).json(&body)).await.expect(201)
            };
            post("/api/v1/resource-types", crate::harness::database_cluster()).await;
            post("/api/v1/resources", resource(tenant)).await;
            let secret = guarded.request(Method::PUT, "/api/v1/secrets/hush").bearer_auth(&admin);
            guarded.send(secret.json(&json!({ "value": format!("hunter2-of-{tenant}") }))).await.expect(201);
        }
        server.sql(OPERATIONS).await;
        server.sql(JOBS).await;
        Scene { server, guarded }
    }

    async fn enrol(&self, name: &str, tenants: &[&str], labels: Value) -> String {
        let body = json!({ "name": name, "tenants": tenants, "labels": labels });
        let made = self.server.post("/api/v1/runners", &body).await.expect(201);
        made["token"].as_str().expect("a token").to_owned()
    }

    async fn ask(&self, token: &str, what: &str, body: Value) -> Answer {
        let request = self.guarded.request(Method::POST, &format!("/api/v1/runner/{what}")).bearer_auth(token);
        self.guarded.send(request.json(&body)).await
    }

    /// The jobs that it gets.
    async fn claim(&self, token: &str) -> Vec<Value> {
        let body = json!({ "contract": "terrane.runner/v1", "free": 10, "of_a_later_version": true });
        let claimed = self.ask(token, "claim", body).await.expect(200);
        claimed["jobs"].as_array().cloned().expect("a list")
    }
}

fn ids(jobs: &[Value]) -> Vec<i64> {
    jobs.iter().filter_map(|job| job["assignment"]["job"].as_i64()).collect()
}

fn succeeded() -> Value {
    json!({ "end": { "end": "succeeded" }, "log_bytes": 5 })
}

async fn a_runner_gets_the_work_of_its_tenants_and_has_a_say_about_no_other(server: Server) {
    let scene = Scene::open(server).await;
    let ours = scene.enrol("ours", &["ours"], json!({})).await;
    let theirs = scene.enrol("theirs", &["theirs"], json!({})).await;
    let jobs = scene.claim(&ours).await;
    assert_eq!(ids(&jobs), [OURS]);
    assert_eq!(jobs[0]["secrets"], json!({ "TF_VAR_key": "hunter2-of-ours" }));
    assert!(jobs[0]["lease_milliseconds"].as_u64().is_some_and(|lease| lease > 0), "{jobs:?}");
    assert_eq!(ids(&scene.claim(&ours).await), [] as [i64; 0], "it has it already");

    let words = |job: i64| {
        let mut of = json!({ "job": job, "fencing_token": 1, "start": 0, "base64": "aGVsbG8=", "report": succeeded() });
        of["state"] =
            json!(r#"{"version":4,"terraform_version":"1.5.0","serial":1,"lineage":"l","outputs":{},"resources":[]}"#);
        of
    };
    // While it waits, and while another has it.
    for _ in 0..2 {
        for what in ["log", "state", "finish"] {
            assert_eq!(scene.ask(&ours, what, words(THEIRS)).await.status, 409, "{what}");
        }
        let holdings = json!({ "jobs": [{ "job": THEIRS, "fencing_token": 1 }, { "job": OURS, "fencing_token": 1 }] });
        let kept = scene.ask(&ours, "renew", holdings).await.expect(200);
        assert_eq!(kept["kept"].as_array().map(Vec::len), Some(1), "{kept}");
        assert_eq!(kept["kept"][0]["job"], OURS);
        scene.claim(&theirs).await;
    }
    assert_eq!(scene.ask(&theirs, "log", words(THEIRS)).await.expect(200)["log_bytes"], 5);
    for what in ["log", "state", "finish"] {
        scene.ask(&ours, what, words(OURS)).await.expect(200);
    }
    assert_eq!(scene.ask(&ours, "finish", words(OURS)).await.status, 409, "it ends once");
}

async fn a_runners_token_opens_the_runners_calls_and_nothing_else(server: Server) {
    let scene = Scene::open(server).await;
    let runner = scene.enrol("eu-1", &["ours", "theirs"], json!({})).await;
    let operator = scene.server.token("fleet", "boss", Role::Operator).await;
    let document = scene.guarded.get("/openapi.json").await.expect(200);
    let mut walked = 0;
    for (template, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("operations").keys() {
            let path = template
                .replace("{id}", "1")
                .replace("{name}", "ours")
                .replace("{version}", "v1")
                .replace("{type}", "x");
            if !template.starts_with("/api/v1/") || template.contains("/webhooks/") {
                continue;
            }
            let method: Method = method.to_uppercase().parse().expect("a method");
            let own = template == "/api/v1/runner" || template.starts_with("/api/v1/runner/");
            let token = if own { &operator } else { &runner };
            let request = scene.guarded.request(method.clone(), &path).bearer_auth(token);
            let answer = scene.guarded.send(request.json(&json!({}))).await;
            assert_eq!(answer.status, 401, "{method} {path}: {}", answer.text);
            walked += 1;
        }
    }
    assert!(walked > 40, "only {walked} requests");
    let me = scene.guarded.request(Method::GET, "/api/v1/runner").bearer_auth(&runner);
    let me = scene.guarded.send(me).await.expect(200);
    assert_eq!(
        me,
        json!({"contract": "terrane.runner/v1", "name": "eu-1", "tenants": ["ours", "theirs"], "labels": {}})
    );

    assert_eq!(ids(&scene.claim(&runner).await).len(), 2);
    assert_eq!(scene.server.get("/api/v1/runners/eu-1").await.expect(200)["jobs"], 2);
    assert_eq!(scene.server.delete("/api/v1/runners/eu-1").await.status, 204);
    let holdings = json!({ "jobs": [{ "job": OURS, "fencing_token": 1 }] });
    assert_eq!(scene.ask(&runner, "renew", holdings).await.status, 401, "from its next call on");
    assert_eq!(scene.server.get("/api/v1/runners/eu-1").await.status, 404);
}

async fn a_job_that_asks_for_labels_goes_to_a_runner_that_has_them_all(server: Server) {
    let scene = Scene::open(server).await;
    scene
        .server
        .sql("INSERT INTO job_labels (job_id, key, value) VALUES (71, 'cloud', 'aws'), (71, 'region', 'eu-1')")
        .await;
    let tenants = ["ours", "theirs"];
    let none = scene.enrol("none", &tenants, json!({})).await;
    let half = scene.enrol("half", &tenants, json!({ "cloud": "aws" })).await;
    let other = scene.enrol("other", &tenants, json!({ "cloud": "aws", "region": "eu-2" })).await;
    let both = scene.enrol("both", &tenants, json!({ "cloud": "aws", "region": "eu-1", "zone": "b" })).await;
    let offered = async |token: &str, after: i64| {
        let request = scene.guarded.request(Method::GET, &format!("/api/v1/runner/offers?after={after}"));
        scene.guarded.send(request.bearer_auth(token)).await.expect(200)["newest"].clone()
    };
    assert_eq!(offered(&both, 0).await, THEIRS);
    assert_eq!(ids(&scene.claim(&none).await), [THEIRS], "what asks for nothing is any runner's");
    for wrong in [&half, &other] {
        assert_eq!(ids(&scene.claim(wrong).await), [] as [i64; 0]);
    }
    assert_eq!(offered(&both, 0).await, OURS);
    assert_eq!(ids(&scene.claim(&both).await), [OURS]);
}

async fn a_runner_is_enrolled_by_an_operator_once_and_its_token_shown_once(server: Server) {
    let scene = Scene::open(server).await;
    let admin = scene.server.token("ours", "another-admin", Role::Admin).await;
    let good = json!({ "name": "eu-1", "tenants": ["ours"], "labels": { "region": "eu-1" } });
    let refused = scene.guarded.request(Method::POST, "/api/v1/runners").bearer_auth(&admin).json(&good);
    assert_eq!(scene.guarded.send(refused).await.status, 403);
    let enrol = async |body: &Value| scene.server.post("/api/v1/runners", body).await;
    for (status, body) in [
        (400, json!({ "name": "eu-1", "tenants": [] })),
        (400, json!({ "name": "EU 1", "tenants": ["ours"] })),
        (400, json!({ "name": "eu-1", "tenants": ["ours"], "labels": { "a b": "c" } })),
        (404, json!({ "name": "eu-1", "tenants": ["ours", "nobody"] })),
        (404, json!({ "name": "eu-1", "tenants": ["fleet"] })),
        (422, json!({ "name": "eu-1" })),
        (422, json!({ "name": "eu-1", "tenants": ["ours"], "role": "operator" })),
    ] {
        let answer = enrol(&body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
    }
    assert_eq!(scene.server.post("/api/v1/runners?dry_run=true", &good).await.status, 201);
    let made = enrol(&good).await.expect(201);
    let token = made["token"].as_str().expect("a token");
    assert_eq!(enrol(&good).await.status, 409);
    assert_eq!(scene.server.get("/api/v1/runners").await.expect(200).as_array().map(Vec::len), Some(1));
    for path in ["/api/v1/runners", "/api/v1/runners/eu-1"] {
        let text = scene.server.get(path).await.text;
        assert!(text.contains("region") && !text.contains(token) && !text.contains("hash"), "{text}");
    }
    let request = scene.server.request(Method::GET, "/api/v1/events?kind=runner").header("terrane-tenant", "fleet");
    let events = scene.server.send(request).await;
    assert!(events.text.contains("eu-1") && !events.text.contains(token), "{}", events.text);
    // The name is free again, and the old token stays worthless.
    assert_eq!(scene.server.delete("/api/v1/runners/eu-1").await.status, 204);
    let again = enrol(&good).await.expect(201);
    assert_ne!(again["token"], made["token"]);
    assert_eq!(scene.ask(token, "claim", json!({ "contract": "terrane.runner/v1", "free": 1 })).await.status, 401);
    let new = again["token"].as_str().expect("a token");
    assert_eq!(ids(&scene.claim(new).await), [OURS]);
}

async fn what_a_runner_hands_in_is_written_once_and_nothing_it_says_breaks_the_server(server: Server) {
    let scene = Scene::open(server).await;
    let runner = scene.enrol("eu-1", &["ours"], json!({})).await;
    scene.claim(&runner).await;
    let log = async |start: i64, text: &str| {
        use base64::Engine;
        let base64 = base64::prelude::BASE64_STANDARD.encode(text);
        scene.ask(&runner, "log", json!({ "job": OURS, "fencing_token": 1, "start": start, "base64": base64 })).await
    };
    assert_eq!(log(0, "one ").await.expect(200)["log_bytes"], 4);
    assert_eq!(log(0, "one ").await.expect(200)["log_bytes"], 4, "sent twice");
    assert_eq!(log(9, "four").await.expect(200)["log_bytes"], 4, "something is missing in between");
    assert_eq!(log(2, "e two ").await.expect(200)["log_bytes"], 8);
    let whole = scene.server.request(Method::GET, "/api/v1/jobs/71/log").header("terrane-tenant", "ours");
    assert_eq!(scene.server.send(whole).await.text, "one two ");
    let of = |more: Value| {
        let mut body = json!({ "job": OURS, "fencing_token": 1 });
        for (key, value) in more.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        body
    };
    for (what, body) in [
        ("log", of(json!({ "start": -1, "base64": "" }))),
        ("log", of(json!({ "start": u64::MAX, "base64": "aGk=" }))),
        ("log", of(json!({ "start": 8, "base64": "not base64!" }))),
        ("state", of(json!({ "state": "no state" }))),
        ("state", of(json!({ "state": "{\"version\":4,\"serial\":1,\"lineage\":\"a\\u0000b\",\"resources\":[]}" }))),
        ("finish", of(json!({ "report": { "end": { "end": "exploded" } } }))),
        (
            "finish",
            of(
                json!({ "report": { "end": { "end": "awaits_approval" }, "plan_file": { "sha256": "x\u{0}", "base64": "" } } }),
            ),
        ),
        ("claim", json!({ "contract": "terrane.runner/v1", "free": -1 })),
    ] {
        let answer = scene.ask(&runner, what, body.clone()).await;
        assert_eq!(answer.status, 422, "{what} {body}: {}", answer.text);
    }
}

stories!(
    a_runner_gets_the_work_of_its_tenants_and_has_a_say_about_no_other,
    a_runners_token_opens_the_runners_calls_and_nothing_else,
    a_job_that_asks_for_labels_goes_to_a_runner_that_has_them_all,
    a_runner_is_enrolled_by_an_operator_once_and_its_token_shown_once,
    what_a_runner_hands_in_is_written_once_and_nothing_it_says_breaks_the_server,
);
