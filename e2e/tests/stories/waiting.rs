//! Waiting costs nothing, and what takes long holds up nobody.

use std::time::Duration;

use e2e::{Api, Database, Outside, Server, until};
use serde_json::{Value, json};

fn thing(name: &str, plugin: &str, config: Value) -> Value {
    json!({
        "name": name, "resource_type_name": "Thing", "resource_type_version": "v1",
        "action_plugin": plugin, "plugin_config": config, "spec": {},
    })
}

async fn start(database: &Database, flags: &[&str]) -> Server {
    let mut server = Server::spawn("up", &[&["--database", &database.url, "--log", "warn"], flags].concat(), &[]);
    server.ready().await;
    let kind = json!({ "name": "Thing", "version": "v1", "schema": { "type": "object" } });
    server.api().post("/api/v1/resource-types", &kind).await.ok();
    server
}

async fn create(api: &Api, count: usize, config: &Value) {
    let lanes = (0..16).map(|lane| {
        let (api, config) = (api.clone(), config.clone());
        tokio::spawn(async move {
            for number in (lane..count).step_by(16) {
                api.post("/api/v1/resources", &thing(&format!("n-{number}"), "noop", config.clone())).await.ok();
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.expect("all are made");
    }
}

async fn one_that_takes_long_does_not_delay_a_thousand_others(database: Database) {
    let outside = Outside::open().await;
    outside.slow_down("slow", Duration::from_secs(25));
    let server = start(&database, &["--allow-outbound", &outside.address()]).await;
    let config = json!({
        "base_url": format!("http://{}", outside.address()),
        "create": { "method": "POST", "path": "/things", "body": { "name": "${resource.name}" } },
    });
    // One step that executes for long, and one operation that waits for long.
    let slow = server.api().post("/api/v1/resources", &thing("slow", "http", config)).await.ok();
    let waits =
        server.api().post("/api/v1/resources", &thing("waits", "noop", json!({ "wait_seconds": 60 }))).await.ok();
    until("the slow one to be asked for", async || outside.first_asked("slow").is_some()).await;
    create(&server.api(), 1000, &json!({})).await;
    let active = "SELECT count(*) FROM resources WHERE lifecycle = 'active'";
    until("a thousand others", async || database.number(active).await == 1000).await;
    for one in [slow, waits] {
        let status = server.api().get(&format!("/api/v1/resources/{}", one["id"])).await.ok()["status"].clone();
        assert_eq!(status, "reconciling", "the others did not wait for it");
    }
}

async fn ten_thousand_waiting_operations_hold_no_task_and_no_connection(database: Database) {
    let server = start(&database, &[]).await;
    create(&server.api(), 10, &json!({ "wait_seconds": 3600 })).await;
    let waiting = "SELECT count(*) FROM operations WHERE state = 'waiting'";
    until("the first ten", async || database.number(waiting).await == 10).await;
    let before = server.holdings().await;
    let api = server.api();
    for batch in 0..10 {
        let lanes = (0..16).map(|lane| {
            let api = api.clone();
            tokio::spawn(async move {
                for number in (lane..999).step_by(16) {
                    let name = format!("w-{batch}-{number}");
                    let config = json!({ "wait_seconds": 3600 });
                    api.post("/api/v1/resources", &thing(&name, "noop", config)).await.ok();
                }
            })
        });
        for lane in lanes.collect::<Vec<_>>() {
            lane.await.expect("all are made");
        }
    }
    // As long as there are more of them, it goes on.
    let mut last = -1;
    loop {
        let now = database.number(waiting).await;
        if now == 10_000 {
            break;
        }
        assert!(now > last, "no more than {now} come to wait");
        last = now;
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    let after = server.holdings().await;
    println!("10 waiting: {before:?}; 10,000 waiting: {after:?}");
    assert!(after.tasks < before.tasks + 100, "{before:?} {after:?}");
    assert!(after.sockets < before.sockets + 100, "{before:?} {after:?}");
}

on_both!(
    one_that_takes_long_does_not_delay_a_thousand_others,
    ten_thousand_waiting_operations_hold_no_task_and_no_connection,
);
