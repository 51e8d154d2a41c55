//! The embedded database serves one process at a time, and a dead one holds nothing.

use e2e::{Database, Server, database_cluster, free_port, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_on_a_data_folder_is_refused_until_the_first_is_gone() {
    let folder = Database::sqlite().await;
    let data = folder.folder().join("data").display().to_string();
    let mut first = Server::spawn("up", &["--data-dir", &data], &[]);
    first.ready().await;
    first.api().post("/api/v1/resource-types", &database_cluster()).await.ok();

    let listen = format!("127.0.0.1:{}", free_port());
    let second = run(folder.folder(), &["up", "--listen", &listen, "--data-dir", &data]);
    assert_eq!(second.code, Some(1), "{}", second.said());
    let message = format!("another terrane (process {}) uses", first.pid());
    assert!(second.stderr.contains(&message), "{}", second.stderr);
    assert!(second.stderr.contains("--data-dir"), "{}", second.stderr);
    assert_eq!(first.api().ready().await, Some(200), "the first does not notice");

    first.kill();
    let mut next = Server::spawn("up", &["--data-dir", &data], &[]);
    next.ready().await;
    assert_eq!(next.api().all("/api/v1/resource-types").await.len(), 1);
}
