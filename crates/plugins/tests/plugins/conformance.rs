//! The conformance kit, on a plugin that is right and on some that are wrong.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::get;
use plugins::check::{Report, check};
use plugins::{Door, DoorPolicy};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The example plugin, as long as it is held.
struct Python(Child);

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the example plugin is a program of its own")]
fn python(directory: &Path) -> (Python, u16) {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins/python/plugin.py");
    let mut child = Command::new("python3")
        .arg(plugin)
        .args(["--port", "0", "--directory"])
        .arg(directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    (Python(child), port.trim().parse().unwrap())
}

async fn report_on(port: u16) -> Report {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let door = Door::new(DoorPolicy::allowing([format!("127.0.0.1:{port}")]));
    check(&format!("http://127.0.0.1:{port}/"), None, door).await
}

#[tokio::test]
async fn the_example_in_python_passes_every_check() {
    let directory = tempfile::tempdir().unwrap();
    let (_python, port) = python(directory.path());
    let report = report_on(port).await;
    assert!(report.passed(), "{report}");
    assert_eq!(report.checks.len(), 16, "{report}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it leaves nothing behind");
}

/// A plugin that answers calls with what the function makes of them; what is no call gets `otherwise`.
async fn plugin(otherwise: u16, answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> u16 {
    let answer = Arc::new(answer);
    let descriptor = json!({
        "name": "broken", "version": "1", "contracts": ["terrane.plugin/v1"],
        "steps": ["validate", "plan", "apply", "outputs", "observe", "destroy"],
    });
    let post = move |body: Bytes| async move {
        let known = |call: &Value| model::plugin::Step::parse(call["step"].as_str().unwrap_or("")).is_some();
        match serde_json::from_slice(&body).ok().filter(known) {
            Some(call) => (StatusCode::OK, answer(&call).to_string()),
            None => (StatusCode::from_u16(otherwise).unwrap(), String::new()),
        }
    };
    let app = Router::new().route("/", get(move || async move { descriptor.to_string() }).post(post));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    port
}

#[tokio::test]
async fn a_plugin_that_makes_a_new_thing_each_time_is_found_out() {
    let made = AtomicI64::new(0);
    let port = plugin(500, move |call| match call["step"].as_str() {
        Some("plan") => json!({ "result": "done", "changes": { "created": made.fetch_add(1, Ordering::SeqCst) } }),
        Some("apply") => {
            let id = made.fetch_add(1, Ordering::SeqCst);
            json!({ "result": "done", "memory": { "id": id }, "holds": [format!("thing {id}")] })
        }
        Some("destroy") if call["memory"].get("gone").is_some() => {
            json!({ "result": "failed", "class": "conflict", "step": "destroy", "message": "it is not there" })
        }
        Some("destroy") => json!({ "result": "done", "memory": { "gone": true }, "holds": [] }),
        Some("validate") if call.get("from_the_future").is_some() => {
            json!({ "result": "failed", "class": "invalid_config", "step": "validate", "message": "what is from_the_future?" })
        }
        _ => json!({ "result": "done", "message": 7.to_string() }),
    })
    .await;
    let report = report_on(port).await;
    let expected = [
        "unknown fields are ignored",
        "an unknown step is refused",
        "plan changes nothing",
        "apply can be repeated",
        "destroy can be repeated",
        "malformed JSON gets a 4xx",
    ];
    assert_eq!(report.failed(), expected, "{report}");
}

#[tokio::test]
async fn a_plugin_that_waits_without_a_checkpoint_is_found_out() {
    let port = plugin(400, |call| match call["step"].as_str() {
        Some("apply") => json!({ "result": "wait", "checkpoint": null, "wake": { "after_seconds": 0 } }),
        _ => json!({ "result": "done" }),
    })
    .await;
    let report = report_on(port).await;
    assert_eq!(report.failed(), ["every wait carries a checkpoint", "apply ends", "apply can be repeated"], "{report}");
}

#[tokio::test]
async fn a_plugin_that_never_ends_or_answers_out_of_shape_is_found_out() {
    let port = plugin(400, |call| match call["step"].as_str() {
        Some("apply") => json!({ "result": "wait", "checkpoint": { "n": 1 }, "wake": { "after_seconds": 0 } }),
        Some("outputs") => json!({ "result": "done", "outputs": "none" }),
        _ => json!({ "result": "done" }),
    })
    .await;
    let report = report_on(port).await;
    assert_eq!(report.failed(), ["apply ends", "apply can be repeated", "answers follow the schema"], "{report}");
}

#[tokio::test]
async fn something_that_is_no_plugin_is_named_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = Router::new().route("/", get(|| async { "<html>hello</html>" }));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let report = report_on(port).await;
    assert_eq!(report.failed(), ["the descriptor is valid"], "{report}");
    assert!(report.to_string().contains("GET was not answered with JSON"), "{report}");
}
