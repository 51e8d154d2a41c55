//! Somebody else's plugin, over HTTP, whatever it answers.

use std::sync::Arc;

use model::Class;
use model::plugin::{CONTRACT, Outcome, Step};
use plugins::{Action, Door, DoorPolicy, Remote};
use serde_json::{Value, json};

use crate::harness::{Server, call, done, failed, secrets, waits};

fn descriptor(contracts: &[&str]) -> Value {
    json!({ "name": "theirs", "version": "2.1", "contracts": contracts, "steps": ["validate", "apply"], "later": true })
}

fn remote(server: &Server) -> Remote {
    Remote::connect("ours", server.url("/plugin"), Some("plugin-token".to_owned().into()), server.door())
}

#[tokio::test]
async fn the_configuration_is_rendered_and_opened_before_it_is_sent() {
    let server = Server::start().await;
    server
        .then(200, descriptor(&[CONTRACT]))
        .then(200, json!({ "result": "done", "outputs": { "a": 1 }, "unknown": 1 }));
    let remote = remote(&server);
    let mut world = server.world();
    world.secrets = Arc::new(secrets(&[("db", "hunter-22", &[])]));
    let config = json!({ "size": "${spec.size * 2}", "password": { "secret": "db" } });
    let spec = json!({ "size": 2, "note": "${not.an.expression}", "key": { "secret": "db" } });
    let answer = remote.call(&call(Step::Apply, config, spec), &world).await;
    assert_eq!(done(&answer).outputs, Some(json!({ "a": 1 })));
    let seen = server.seen();
    assert_eq!((seen[0].method.as_str(), seen[1].method.as_str()), ("GET", "POST"));
    assert!(seen.iter().all(|seen| seen.header("authorization") == "Bearer plugin-token" && seen.path == "/plugin"));
    let sent = seen[1].json();
    assert_eq!(sent["config"], json!({ "size": 4, "password": "hunter-22" }));
    assert_eq!(sent["spec"], json!({ "size": 2, "note": "${not.an.expression}", "key": "hunter-22" }));
    assert_eq!((&sent["contract"], &sent["step"]), (&json!(CONTRACT), &json!("apply")));
}

#[tokio::test]
async fn its_descriptor_is_asked_for_once_and_again_after_a_failure() {
    let server = Server::start().await;
    let remote = remote(&server);
    assert_eq!(remote.descriptor().name, "ours", "it can be registered before it answers");
    let wait = json!({ "result": "wait", "checkpoint": { "n": 1 }, "wake": { "after_seconds": 5 } });
    server.then(200, descriptor(&[CONTRACT])).then(200, wait.clone()).then(200, wait.clone()).then(500, json!({}));
    let (world, asked) = (server.world(), call(Step::Apply, json!({}), json!({})));
    assert_eq!(waits(&remote.call(&asked, &world).await).checkpoint, json!({ "n": 1 }));
    remote.call(&asked, &world).await;
    assert_eq!((remote.descriptor().name.as_str(), remote.descriptor().version.as_str()), ("ours", "2.1"));
    assert_eq!(failed(&remote.call(&asked, &world).await).class, Class::Outage);
    let mut upgraded = descriptor(&[CONTRACT]);
    upgraded["version"] = json!("2.2");
    server.then(200, upgraded).then(200, wait);
    waits(&remote.call(&asked, &world).await);
    assert_eq!(remote.descriptor().version, "2.2");
    let methods: Vec<String> = server.seen().iter().map(|seen| seen.method.to_string()).collect();
    assert_eq!(methods, ["GET", "POST", "POST", "POST", "GET", "POST"]);
}

#[tokio::test]
async fn a_plugin_of_another_contract_is_told_apart() {
    let server = Server::start().await;
    server.then(200, descriptor(&["terrane.plugin/v2", "terrane.plugin/v3"]));
    let answer = remote(&server).call(&call(Step::Apply, json!({}), json!({})), &server.world()).await;
    assert_eq!(failed(&answer).class, Class::Plugin);
    let message =
        "the plugin `ours` speaks terrane.plugin/v2, terrane.plugin/v3; this Terrane speaks terrane.plugin/v1";
    assert_eq!((failed(&answer).message.as_str(), failed(&answer).step), (message, Step::Apply));
}

#[tokio::test]
async fn a_step_that_it_does_not_take_is_done_without_asking() {
    let server = Server::start().await;
    server.then(200, descriptor(&[CONTRACT]));
    done(&remote(&server).call(&call(Step::Destroy, json!({}), json!({})), &server.world()).await);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn whatever_it_answers_is_a_failure_of_the_right_class() {
    let server = Server::start().await;
    let cases: Vec<(u16, Vec<u8>, Class)> = vec![
        (200, b"<html>hunter-22".to_vec(), Class::Plugin),
        (200, b"".to_vec(), Class::Plugin),
        (200, json!({ "result": "perhaps" }).to_string().into_bytes(), Class::Plugin),
        (200, json!({ "result": "wait" }).to_string().into_bytes(), Class::Plugin),
        (200, json!([]).to_string().into_bytes(), Class::Plugin),
        (200, "[".repeat(100_000).into_bytes(), Class::Plugin),
        (200, vec![b' '; 9 * 1024 * 1024], Class::Plugin),
        (400, b"no".to_vec(), Class::Plugin),
        (302, b"".to_vec(), Class::Plugin),
        (401, b"".to_vec(), Class::Credentials),
        (429, b"".to_vec(), Class::Throttle),
        (500, b"oops".to_vec(), Class::Outage),
    ];
    for (status, body, class) in cases {
        server.then(200, descriptor(&[CONTRACT])).then_raw(status, vec![], body);
        let mut world = server.world();
        world.secrets = Arc::new(secrets(&[("db", "hunter-22", &[])]));
        let answer = remote(&server).call(&call(Step::Apply, json!({}), json!({})), &world).await;
        assert_eq!(failed(&answer).class, class, "{status}: {}", failed(&answer).message);
        assert!(failed(&answer).message.len() < 1_000 && !failed(&answer).message.contains("hunter-22"));
    }
}

#[tokio::test]
async fn a_failure_of_its_own_is_passed_on() {
    let server = Server::start().await;
    let failure =
        json!({ "result": "failed", "class": "quota", "step": "apply", "message": "full", "hint": "Ask for more." });
    server.then(200, descriptor(&[CONTRACT])).then(200, failure);
    let answer = remote(&server).call(&call(Step::Apply, json!({}), json!({})), &server.world()).await;
    assert_eq!((failed(&answer).class, failed(&answer).hint.as_str()), (Class::Quota, "Ask for more."));
}

#[tokio::test]
async fn a_plugin_that_may_not_be_called_is_not() {
    let server = Server::start().await;
    let remote = Remote::connect("ours", server.url("/"), None, Door::new(DoorPolicy::default()));
    let answer = remote.call(&call(Step::Apply, json!({}), json!({})), &server.world()).await;
    assert_eq!(failed(&answer).class, Class::Forbidden);
    assert!(failed(&answer).hint.contains("--allow-outbound"), "{}", failed(&answer).hint);
    assert!(matches!(answer.outcome, Outcome::Failed(_)) && server.seen().is_empty());
}
