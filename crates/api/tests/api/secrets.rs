use std::io::Write;
use std::sync::{Arc, Mutex};

use api::{Access, App, Engine};
use reqwest::Method;
use serde_json::json;

use crate::harness::{Server, stories};

const VALUE: &str = "hunter2-correct-horse";

async fn a_secret_is_set_replaced_listed_and_deleted_and_never_shown(server: Server) {
    let path = "/api/v1/secrets/github-token";
    let body = json!({"value": VALUE, "hosts": ["api.github.com", "*.example.com", "localhost:8443"]});
    let tried = server.put(&format!("{path}?dry_run=true"), &body).await.expect(201);
    assert_eq!((tried["id"].as_i64(), server.get(path).await.status), (Some(0), 404), "it was only tried");
    let created = server.put(path, &body).await;
    assert_eq!((created.status, created.header("location")), (201, path));
    insta::allow_duplicates! {
        insta::assert_json_snapshot!(created.body, {
            ".created_at" => "[time]", ".updated_at" => "[time]", ".resource_version" => "[version]", ".id" => "[id]",
        }, @r#"
        {
          "id": "[id]",
          "name": "github-token",
          "hosts": [
            "api.github.com",
            "*.example.com",
            "localhost:8443"
          ],
          "resource_version": "[version]",
          "created_at": "[time]",
          "updated_at": "[time]"
        }
        "#);
    }
    let replaced = server.put(path, &json!({"value": "another-hunter2"})).await;
    assert_eq!((replaced.status, &replaced.body["hosts"]), (200, &json!([])));
    assert_eq!(replaced.body["id"], created.body["id"]);
    assert_eq!(server.get(path).await.expect(200), replaced.body);
    assert_eq!(server.get("/api/v1/secrets").await.expect(200), json!([replaced.body]));
    let answers = [created.text, replaced.text, server.get("/api/v1/events").await.text];
    assert!(answers.iter().all(|text| !text.contains("hunter2") && !text.contains("sealed")), "{answers:?}");
    let events = server.get("/api/v1/events?kind=secret").await.expect(200);
    let actions: Vec<_> = events.as_array().expect("a list").iter().map(|event| event["action"].clone()).collect();
    assert_eq!(json!(actions), json!(["created", "updated"]));
    assert_eq!(server.delete(&format!("{path}?dry_run=true")).await.status, 204);
    assert_eq!(server.delete(path).await.status, 204);
    assert_eq!(server.delete(path).await.status, 404);
    assert_eq!(server.get(path).await.status, 404);
}

async fn what_is_kept_is_sealed_and_opens_only_with_the_key(server: Server) {
    server.put("/api/v1/secrets/hush", &json!({"value": VALUE})).await.expect(201);
    let kept = server.app.store.sealed_secret(model::TenantId::DEFAULT, "hush").await.expect("read").expect("there");
    assert!(!String::from_utf8_lossy(&kept.sealed).contains("hunter2"));
    let opened = crate::harness::keyring().open(&kept).expect("it opens");
    assert_eq!(secrecy::ExposeSecret::expose_secret(&opened), VALUE);
}

async fn a_refusal_repeats_nothing_of_what_was_sent(server: Server) {
    let send = async |name: &str, body: String| {
        let request = server.request(Method::PUT, &format!("/api/v1/secrets/{name}"));
        server.send(request.header("content-type", "application/json").body(body)).await
    };
    for (status, body) in [
        (422, json!({"value": [VALUE]}).to_string()),
        (422, json!({"value": {VALUE: 1}}).to_string()),
        (422, json!({VALUE: "x"}).to_string()),
        (422, json!({"value": "x", VALUE: "x"}).to_string()),
        (422, json!({"value": "x", "hosts": VALUE}).to_string()),
        (422, json!(VALUE).to_string()),
        (422, r#"{"value": 200220022002}"#.to_string()),
        (400, json!({"value": "x", "hosts": [format!("{VALUE}/")]}).to_string()),
        (400, json!({"value": VALUE.repeat(4000)}).to_string()),
        (400, json!({"value": ""}).to_string()),
        (400, json!({"value": "x", "hosts": vec!["a"; 33]}).to_string()),
        (400, format!(r#"{{"value": "{VALUE}"#)),
        (400, format!(r#"{{"value": {VALUE}}}"#)),
    ] {
        let refused = send("hush", body.clone()).await;
        assert_eq!(refused.status, status, "{body}: {}", refused.text);
        for part in ["hunter2", "200220022002"] {
            assert!(!refused.text.contains(part), "{}", refused.text);
        }
    }
    assert_eq!(send("Not-A-Name", json!({"value": VALUE}).to_string()).await.status, 400);
    assert_eq!(server.get("/api/v1/secrets").await.expect(200), json!([]));
}

async fn without_a_key_secrets_are_refused_and_the_rest_works(server: Server) {
    let other = server.with_app(App::new(server.app.store.clone(), Access::Open, Engine::default())).await;
    let refused = other.put("/api/v1/secrets/hush", &json!({"value": VALUE})).await;
    assert_eq!(refused.status, 409);
    assert!(refused.detail().contains("--secrets-key-file"), "{}", refused.detail());
    assert_eq!(other.get("/api/v1/secrets").await.expect(200), json!([]));
}

async fn secrets_belong_to_a_tenant(server: Server) {
    let request = server.request(Method::PUT, "/api/v1/secrets/hush").header("terrane-tenant", "fleet");
    assert_eq!(server.send(request.json(&json!({"value": VALUE}))).await.status, 403);
    server.post("/api/v1/tenants", &json!({"name": "acme"})).await.expect(201);
    server.put("/api/v1/secrets/hush", &json!({"value": VALUE})).await.expect(201);
    let request = server.request(Method::GET, "/api/v1/secrets/hush").header("terrane-tenant", "acme");
    assert_eq!(server.send(request).await.status, 404);
}

stories!(
    a_secret_is_set_replaced_listed_and_deleted_and_never_shown,
    what_is_kept_is_sealed_and_opens_only_with_the_key,
    a_refusal_repeats_nothing_of_what_was_sent,
    without_a_key_secrets_are_refused_and_the_rest_works,
    secrets_belong_to_a_tenant,
);

/// Every line of the log, from whichever thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the lines").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// In a process of its own, as each test is: the log is the process's.
#[tokio::test]
async fn no_log_line_holds_a_value() {
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).init();
    let server = Server::on_sqlite().await;
    server.put("/api/v1/secrets/hush", &json!({"value": VALUE})).await.expect(201);
    server.put("/api/v1/secrets/hush", &json!({"value": [VALUE]})).await.expect(422);
    server.get("/api/v1/secrets").await.expect(200);
    let log = String::from_utf8_lossy(&lines.0.lock().expect("the lines")).into_owned();
    assert!(log.contains("/api/v1/secrets/hush"), "the log was heard");
    // Our own client, in this process, logs what it sends at trace level; the server's lines are what counts.
    let own: Vec<_> = log.lines().filter(|line| !line.contains("hyper") && !line.contains("reqwest")).collect();
    assert!(!own.iter().any(|line| line.contains("hunter2")), "{own:?}");
}
