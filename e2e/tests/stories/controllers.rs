//! Controllers that share a PostgreSQL: whatever dies, everything comes to rest, and nothing is done twice.

use std::time::{Duration, Instant};

use e2e::{Api, Database, Outside, Postgres, Server, until};
use serde_json::{Value, json};

const RESOURCES: usize = 5_000;

fn order(outside: &Outside) -> Value {
    json!({
        "name": "Order", "version": "v1",
        "schema": { "type": "object" },
        "plugin_config": {
            "base_url": format!("http://{}", outside.address()),
            "create": { "method": "POST", "path": "/orders", "body": { "name": "${resource.name}" } },
            "delete": { "method": "DELETE", "path": "/orders/${memory.id}" },
        },
    })
}

async fn declare(api: &Api, count: usize) {
    let making = (0..16).map(|lane| {
        let api = api.clone();
        tokio::spawn(async move {
            for number in (lane..count).step_by(16) {
                let body = json!({
                    "name": format!("order-{number}"), "resource_type_name": "Order", "resource_type_version": "v1",
                    "action_plugin": "http", "spec": {},
                });
                // The database restarts meanwhile: an unanswered create is asked again, by the same key.
                let key = format!("order-{number}");
                loop {
                    match api.try_post_by_key("/api/v1/resources", &body, &key).await {
                        Some(201) => break,
                        _ => tokio::time::sleep(Duration::from_millis(100)).await,
                    }
                }
            }
        })
    });
    for lane in making.collect::<Vec<_>>() {
        lane.await.expect("all are declared");
    }
}

fn signal(server: &Server, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &server.pid().to_string()]).status();
    assert!(sent.expect("kill is there").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn three_controllers_through_kills_pauses_and_restarts_of_the_database() {
    let postgres = Postgres::start().await;
    let database = Database::on(&postgres.url).await;
    let outside = Outside::open().await;
    let api_server = Server::start(&database, &[]).await;
    let api = api_server.api();
    api.post("/api/v1/resource-types", &order(&outside)).await.ok();
    let outbound = outside.address();
    let flags = ["--database", &database.url, "--allow-outbound", &outbound, "--lease", "5s"];
    let mut controllers: Vec<_> = (0..3).map(|_| Server::spawn("controller", &flags, &[])).collect();
    for controller in &mut controllers {
        controller.ready().await;
    }
    let declaring = tokio::spawn({
        let api = api.clone();
        async move { declare(&api, RESOURCES).await }
    });
    let open = "SELECT count(*) FROM resources WHERE lifecycle <> 'active'";
    let mut takeovers = Vec::new();
    for round in 0..6 {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        match round {
            // Killed, and its work is taken over.
            0 | 2 | 4 => {
                let victim = &mut controllers[round % 3];
                victim.kill();
                let killed = Instant::now();
                let orphans = "SELECT count(*) FROM resources WHERE lease_until < \
                    CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
                tokio::time::sleep(Duration::from_secs(5)).await;
                until("its claims to be taken over", async || database.number(orphans).await == 0).await;
                takeovers.push(killed.elapsed());
                victim.restart().await;
            }
            // Paused beyond its lease, and awake again.
            1 => {
                signal(&controllers[0], "STOP");
                tokio::time::sleep(Duration::from_secs(8)).await;
                signal(&controllers[0], "CONT");
            }
            _ => postgres.restart(),
        }
    }
    declaring.await.expect("all are declared");
    let started = Instant::now();
    let mut last = i64::MAX;
    loop {
        let now = database.number(open).await;
        if now == 0 {
            break;
        }
        assert!(now < last || started.elapsed() < Duration::from_secs(240), "{now} resources do not come to rest");
        last = now;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let done = outside.done();
    let twice: Vec<_> = done.iter().filter(|(_, count)| **count > 1).collect();
    assert_eq!((done.len(), twice.len()), (RESOURCES, 0), "done twice: {twice:?}");
    let history = "SELECT count(*) FROM reconciliation_history WHERE success";
    assert_eq!(database.number(history).await, i64::try_from(RESOURCES).expect("a number"));
    println!(
        "claims of a killed controller were taken over after {takeovers:?}; {} requests in all",
        outside.requests()
    );
}
