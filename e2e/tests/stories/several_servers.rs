//! Servers that share a PostgreSQL are one: what is written at one is seen at all, and none needs the others.

use e2e::{Database, Server, Watch, database_cluster, resource, until};

async fn a_watch_at_one_server_sees_what_is_written_at_another(database: Database) {
    let here = Server::start(&database, &[]).await;
    let there = Server::start(&database, &[]).await;
    let watch = Watch::begin(&here.api());
    until("the watch to begin", async || watch.opened() == 1).await;
    there.api().post("/api/v1/resource-types", &database_cluster()).await.ok();
    for number in 0..20 {
        there.api().post("/api/v1/resources", &resource(number)).await.ok();
        until("the change to be seen", async || watch.count() == number + 1).await;
    }
    assert_eq!(watch.opened(), 1, "all in one stream");
}

async fn a_server_goes_on_when_another_is_killed(database: Database) {
    let mut here = Server::start(&database, &[]).await;
    let there = Server::start(&database, &[]).await;
    here.api().post("/api/v1/resource-types", &database_cluster()).await.ok();
    let watch = Watch::begin(&there.api());
    for number in 0..10 {
        here.api().post("/api/v1/resources", &resource(number)).await.ok();
    }
    here.kill();
    for number in 10..20 {
        there.api().post("/api/v1/resources", &resource(number)).await.ok();
    }
    assert_eq!(there.api().all("/api/v1/resources").await.len(), 20);
    until("all changes to be seen", async || watch.count() == 20).await;
    here.restart().await;
    assert_eq!(here.api().all("/api/v1/resources").await.len(), 20);
}

async fn eight_servers_started_at_once_on_an_empty_database_all_become_ready(database: Database) {
    let mut servers: Vec<_> = (0..8).map(|_| Server::launch(&database, &[])).collect();
    for server in &mut servers {
        server.ready().await;
    }
    servers[0].api().post("/api/v1/resource-types", &database_cluster()).await.ok();
    for (number, server) in servers.iter().enumerate() {
        server.api().post("/api/v1/resources", &resource(number)).await.ok();
    }
    for server in &servers {
        assert_eq!(server.api().all("/api/v1/resources").await.len(), 8);
    }
}

on_postgres!(
    a_watch_at_one_server_sees_what_is_written_at_another,
    a_server_goes_on_when_another_is_killed,
    eight_servers_started_at_once_on_an_empty_database_all_become_ready,
);
