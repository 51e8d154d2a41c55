//! A start reads what it needs and no more, however much there is.

use e2e::{Database, Server, database_cluster, settle};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_reads_no_more_of_20_000_resources_than_of_100() {
    let few = bytes_read_until_ready(100).await;
    let many = bytes_read_until_ready(20_000).await;
    assert!(many < 2 * few, "{few} bytes were read to start on 100 resources, {many} on 20000");
}

async fn bytes_read_until_ready(resources: usize) -> u64 {
    let database = Database::sqlite().await;
    let mut server = Server::start(&database, &["--log", "warn"]).await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    settle(&api, resources).await;
    server.term();
    server.end().await;
    server.restart().await;
    server.bytes_read()
}
