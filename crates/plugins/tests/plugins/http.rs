//! `http`: something made, changed, looked at and removed over HTTP.

use std::sync::Arc;

use model::plugin::{Changes, Observation, Outcome, Step};
use model::{Class, Reason};
use plugins::actions::http::Http;
use plugins::{Action, World};
use serde_json::{Value, json};

use crate::harness::{Server, call, done, failed, run, secrets, waits};

fn config(server: &Server) -> Value {
    json!({
        "base_url": server.url("/v1"),
        "headers": { "X-Tenant": "${resource.tenant}" },
        "create": {
            "path": "/clusters",
            "body": { "name": "${resource.name}", "size": "${spec.size}" },
            "expect": [201],
            "outputs": { "endpoint": "${response.body.host}:${response.body.port}", "id": "${memory.id}" },
        },
        "update": { "method": "PUT", "path": "/clusters/${memory.id}", "body": { "size": "${spec.size}" } },
        "read": {
            "path": "/clusters/${memory.id}",
            "compare": { "size": { "expected": "${spec.size}", "found": "${response.body.size}" } },
        },
        "delete": { "path": "/clusters/${memory.id}" },
    })
}

fn created() -> Value {
    json!({ "id": 17, "host": "db.example", "port": 5432 })
}

#[tokio::test]
async fn it_is_created_with_a_key_that_was_written_down_first() {
    let server = Server::start().await;
    server.then(201, created());
    let (http, world) = (Http::default(), server.world());
    let mut asked = call(Step::Apply, config(&server), json!({ "size": 3 }));

    let intent = http.call(&asked, &world).await;
    assert_eq!(waits(&intent).wake.after_seconds, 0);
    assert!(server.seen().is_empty(), "nothing is sent before the intent is written down");

    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { created: 1, ..Changes::default() }));
    assert_eq!(done(&answer).outputs, Some(json!({ "endpoint": "db.example:5432", "id": 17 })));
    assert_eq!(answer.holds, Some(vec![format!("POST {} -> id 17", server.url("/v1/clusters"))]));
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/clusters"));
    assert_eq!(seen.json(), json!({ "name": "orders", "size": 3 }));
    assert_eq!((seen.header("idempotency-key"), seen.header("x-tenant")), ("terrane-17-apply", "acme"));
}

#[tokio::test]
async fn after_a_crash_or_an_outage_it_is_sent_again_with_the_same_key() {
    let server = Server::start().await;
    server.then(503, json!("down")).then(201, created()).then(201, created());
    let (http, world) = (Http::default(), server.world());
    let mut asked = call(Step::Apply, config(&server), json!({ "size": 3 }));
    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(failed(&answer).class, Class::Outage);

    // Another operation, hours later: what is sent is the same request, and may have been carried out.
    asked.operation.id = 99;
    asked.operation.reason = Reason::Retried;
    done(&run(&http, &mut asked, &world).await);
    // The process died before the answer was written down.
    done(&http.call(&asked, &world).await);
    let keys: Vec<String> = server.seen().iter().map(|seen| seen.header("idempotency-key").to_owned()).collect();
    assert_eq!(keys, ["terrane-17-apply"; 3]);
}

async fn made(server: &Server, http: &Http, world: &World) -> model::plugin::Call {
    server.then(201, created());
    let mut asked = call(Step::Apply, config(server), json!({ "size": 3 }));
    done(&run(http, &mut asked, world).await);
    asked.checkpoint = Value::Null;
    asked.operation.id = 18;
    asked.operation.reason = Reason::Updated;
    asked
}

#[tokio::test]
async fn an_unchanged_request_is_not_planned_unless_somebody_asks_or_it_drifted() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let mut asked = made(&server, &http, &world).await;
    // The update differs from the create, so that the first plan is a change; the second is none.
    server.then(200, json!({}));
    done(&run(&http, &mut asked, &world).await);
    asked.step = Step::Plan;
    let planned = |reason: Reason, size: i64| {
        let mut asked = asked.clone();
        (asked.operation.reason, asked.spec) = (reason, json!({ "size": size }));
        asked
    };
    for (reason, size, updated) in
        [(Reason::Updated, 3, 0), (Reason::Updated, 4, 1), (Reason::Requested, 3, 1), (Reason::Drifted, 3, 1)]
    {
        let answer = http.call(&planned(reason, size), &world).await;
        assert_eq!(done(&answer).changes, Some(Changes { updated, ..Changes::default() }), "{reason:?} {size}");
    }
    assert_eq!(server.seen().len(), 2, "a plan sends nothing");
}

#[tokio::test]
async fn it_is_updated_and_made_anew_if_it_is_gone() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let mut asked = made(&server, &http, &world).await;
    asked.spec = json!({ "size": 5 });
    server.then(200, json!({}));
    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { updated: 1, ..Changes::default() }));
    assert_eq!(server.seen()[1].path, "/v1/clusters/17");

    asked.spec = json!({ "size": 6 });
    server.then(404, json!({})).then(201, json!({ "id": 18, "host": "db2", "port": 1 }));
    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { created: 1, ..Changes::default() }));
    assert_eq!(asked.memory["id"], 18);
    let seen = server.seen();
    assert_eq!(seen[3].method.as_str(), "POST");
    assert_ne!(seen[3].header("idempotency-key"), seen[2].header("idempotency-key"));
}

#[tokio::test]
async fn without_an_update_the_create_request_is_sent_again() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let config =
        json!({ "create": { "method": "PUT", "url": server.url("/things/${resource.name}"), "body": "${spec}" } });
    let mut asked = call(Step::Apply, config, json!({ "size": 1 }));
    server.then(200, json!({})).then(200, json!({}));
    done(&run(&http, &mut asked, &world).await);
    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { updated: 1, ..Changes::default() }));
    assert!(server.seen().iter().all(|seen| seen.path == "/things/orders" && seen.method == "PUT"));
}

#[tokio::test]
async fn a_poll_ends_with_readiness_failure_or_patience() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let mut config = config(&server);
    config["create"]["poll"] = json!({
        "path": "/clusters/${memory.id}", "every_seconds": 7, "until": "response.body.state == 'ready'",
        "fail_if": "${response.body.state == 'error'}", "outputs": { "state": "${response.body.state}" },
    });
    let mut asked = call(Step::Apply, config.clone(), json!({ "size": 3 }));
    server.then(201, created()).then(200, json!({ "state": "building" })).then(200, json!({ "state": "ready" }));
    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(done(&answer).outputs, Some(json!({ "endpoint": "db.example:5432", "id": 17, "state": "ready" })));
    assert_eq!(server.seen().len(), 3);
    assert_eq!(asked.checkpoint["polling"]["verb"], "create");

    server.then(200, json!({ "state": "error", "why": "no room" }));
    let answer = http.call(&asked, &world).await;
    assert_eq!(failed(&answer).class, Class::Rejected);
    assert!(failed(&answer).message.contains("no room"), "{}", failed(&answer).message);

    asked.checkpoint["polling"]["since"] = json!(0);
    server.then(200, json!({ "state": "building" }));
    assert_eq!(failed(&http.call(&asked, &world).await).class, Class::Timeout);
}

#[tokio::test]
async fn drift_is_what_differs_and_what_is_gone() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let mut asked = made(&server, &http, &world).await;
    asked.step = Step::Observe;
    assert!(http.observes(&asked.config));
    assert!(!http.observes(&json!({ "create": {} })));
    server.then(200, json!({ "size": 3 })).then(200, json!({ "size": 9 })).then(404, json!({})).then(200, json!({}));
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(done(&http.call(&asked, &world).await).observation.clone().unwrap());
    }
    assert_eq!(seen[0], Observation::Unchanged);
    let drifted = |observation: &Observation| match observation {
        Observation::Drifted { attributes } => (attributes[0].path.clone(), attributes[0].found.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(drifted(&seen[1]), ("size".to_owned(), json!(9)));
    assert_eq!(drifted(&seen[2]).1, json!("gone"));
    assert_eq!(drifted(&seen[3]), ("size".to_owned(), Value::Null));
    asked.config["read"].as_object_mut().unwrap().remove("compare");
    server.then(200, json!({}));
    assert!(matches!(done(&http.call(&asked, &world).await).observation, Some(Observation::CannotTell { .. })));
}

#[tokio::test]
async fn what_is_gone_already_is_deleted() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    for status in [204, 404, 410] {
        let mut asked = made(&server, &http, &world).await;
        asked.step = Step::Destroy;
        server.then(status, json!({}));
        let answer = run(&http, &mut asked, &world).await;
        assert_eq!(done(&answer).changes.unwrap().deleted, 1);
        assert_eq!(answer.holds, Some(vec![]));
        let before = server.seen().len();
        done(&run(&http, &mut asked, &world).await);
        assert_eq!(server.seen().len(), before, "the second time nothing is left to delete");
    }
}

#[tokio::test]
async fn what_may_exist_though_nobody_knows_its_id_is_not_called_deleted() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let mut asked = call(Step::Apply, config(&server), json!({ "size": 3 }));
    server.then(502, json!({}));
    failed(&run(&http, &mut asked, &world).await);
    asked.step = Step::Destroy;
    assert_eq!(failed(&run(&http, &mut asked, &world).await).class, Class::Uncertain);

    // That it is refused now does not tell what became of it the first time.
    asked.step = Step::Apply;
    server.then(409, json!({ "error": "there is one already" }));
    failed(&run(&http, &mut asked, &world).await);
    asked.step = Step::Destroy;
    assert_eq!(failed(&run(&http, &mut asked, &world).await).class, Class::Uncertain);
}

#[tokio::test]
async fn what_was_refused_or_never_left_does_not_exist() {
    let server = Server::start().await;
    let http = Http::default();
    let closed = World { door: plugins::Door::new(plugins::DoorPolicy::default()), ..server.world() };
    for world in [server.world(), closed] {
        let mut asked = call(Step::Apply, config(&server), json!({ "size": 3 }));
        server.then(422, json!({ "error": "size must be even" }));
        failed(&run(&http, &mut asked, &world).await);
        asked.step = Step::Destroy;
        done(&run(&http, &mut asked, &world).await);
    }
}

#[tokio::test]
async fn every_status_has_its_class() {
    let server = Server::start().await;
    let (http, mut world) = (Http::default(), server.world());
    world.secrets = Arc::new(secrets(&[("token", "hunter-22", &[])]));
    let cases = [
        (429, Class::Throttle),
        (500, Class::Outage),
        (503, Class::Outage),
        (401, Class::Credentials),
        (403, Class::Credentials),
        (409, Class::Conflict),
        (400, Class::InvalidConfig),
        (422, Class::InvalidConfig),
        (404, Class::InvalidConfig),
        (408, Class::Network),
        (302, Class::InvalidConfig),
        (200, Class::InvalidConfig),
    ];
    for (status, class) in cases {
        let body = format!("your token hunter-22 is bad {}", "x".repeat(2_000)).into_bytes();
        server.then_raw(status, vec![("retry-after", "12".to_owned())], body);
        let answer = run(&http, &mut call(Step::Apply, config(&server), json!({ "size": 1 })), &world).await;
        let failure = failed(&answer);
        assert_eq!(failure.class, class, "{status}");
        assert!(failure.message.contains(&format!("answered {status}: your token *** is bad")), "{}", failure.message);
        assert!(failure.message.len() < 700);
        assert_eq!(failure.retry_after_seconds, matches!(status, 429 | 503).then_some(12), "{status}");
    }
    let date = httpdate::fmt_http_date(std::time::SystemTime::now() + std::time::Duration::from_secs(3_600));
    server.then_raw(429, vec![("retry-after", date)], vec![]);
    let answer = run(&http, &mut call(Step::Apply, config(&server), json!({ "size": 1 })), &world).await;
    assert!(failed(&answer).retry_after_seconds.is_some_and(|seconds| (3_000..=3_600).contains(&seconds)));
}

#[tokio::test]
async fn secrets_are_sent_joined_and_enter_the_digest_by_name_only() {
    let server = Server::start().await;
    let (http, mut world) = (Http::default(), server.world());
    world.secrets = Arc::new(secrets(&[("token", "hunter-22", &["127.0.0.1"])]));
    let mut config = config(&server);
    config["headers"]["Authorization"] = json!(["Bearer ", { "secret": "token" }]);
    config["create"]["body"]["password"] = json!({ "secret": "token" });
    server.then(201, created());
    let mut asked = call(Step::Apply, config, json!({ "size": 3 }));
    let answer = run(&http, &mut asked, &world).await;
    assert_eq!(server.seen()[0].header("authorization"), "Bearer hunter-22");
    assert_eq!(server.seen()[0].json()["password"], "hunter-22");
    assert!(!serde_json::to_string(&answer).unwrap().contains("hunter-22"));
}

#[tokio::test]
async fn a_value_cannot_climb_out_of_its_path() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let config = json!({ "base_url": server.url("/v1"), "create": { "path": "/buckets/${spec.name}/files" } });
    for name in ["..", ".", ""] {
        let answer = run(&http, &mut call(Step::Validate, config.clone(), json!({ "name": name })), &world).await;
        assert_eq!(failed(&answer).class, Class::InvalidConfig, "{name}");
    }
    server.then(200, json!({}));
    run(&http, &mut call(Step::Apply, config, json!({ "name": "../../admin?x=1#y" })), &world).await;
    assert_eq!(server.seen()[0].path, "/v1/buckets/..%2F..%2Fadmin%3Fx%3D1%23y/files");
}

#[tokio::test]
async fn a_wrong_configuration_is_found_by_validation() {
    let server = Server::start().await;
    let (http, world) = (Http::default(), server.world());
    let cases = [
        (json!({}), "missing field `create`"),
        (json!({ "create": {} }), "needs a `url`"),
        (json!({ "create": { "url": "x", "path": "y" }, "base_url": "http://a" }), "not both"),
        (json!({ "create": { "url": "no url" } }), "the URL of a request is wrong"),
        (json!({ "create": { "url": "http://a/", "bdoy": 1 } }), "unknown field `bdoy`"),
        (json!({ "create": { "url": "http://a/", "body": "${spec.nope}" } }), "there is no `nope`"),
        (json!({ "create": { "url": "http://a/", "headers": { "A": { "secret": "gone" } } } }), "no secret `gone`"),
    ];
    for (config, expected) in cases {
        let answer = run(&http, &mut call(Step::Validate, config, json!({})), &world).await;
        assert_eq!(failed(&answer).class, Class::InvalidConfig);
        assert!(failed(&answer).message.contains(expected), "{}", failed(&answer).message);
    }
    assert!(matches!(
        http.call(&call(Step::Validate, config(&server), json!({ "size": 1 })), &world).await.outcome,
        Outcome::Done(_)
    ));
}
