//! A stop is orderly: what was taken is finished, what was acknowledged is kept, streams are ended, nobody new comes in.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use e2e::{Crowd, Database, Server, Watch, database_cluster, name_of, resource, until};

async fn a_stop_under_load_finishes_what_it_took_and_exits_with_0(database: Database) {
    let mut server = Server::start(&database, &[]).await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    let watch = Watch::begin(&api);
    let crowd = Crowd::gather(&api, 32, 1_000_000, false);
    until("the crowd to get on", async || crowd.acknowledged() >= 500).await;
    until("the watcher to see some of it", async || watch.count() >= 100).await;

    server.term();
    let status = server.end().await;
    crowd.send_home();
    let acknowledged = crowd.done().await;
    assert_eq!(status.code(), Some(0), "{}", server.log());
    until("the watcher to notice", async || watch.ended() + watch.broken() > 0).await;
    assert_eq!((watch.ended(), watch.broken()), (1, 0), "the stream was ended, not broken off");

    server.restart().await;
    for number in acknowledged {
        let found = api.get(&format!("/api/v1/resources/by-name/DatabaseCluster/v1/{}", name_of(number))).await;
        assert_eq!(found.status, 200, "{number} was acknowledged");
    }
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

async fn a_stopping_server_finishes_a_request_under_way_and_takes_no_other(database: Database) {
    let mut server = Server::start(&database, &[]).await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    let body = resource(7).to_string();
    let (first, rest) = body.split_at(body.len() / 2);
    let address = ("127.0.0.1", server.port);
    let mut slow = half_a_request(address, body.len(), first);
    server.term();
    until("new connections to be refused", async || TcpStream::connect(address).is_err()).await;
    assert!(server.ended().is_none(), "it waits for the request under way");
    slow.write_all(rest.as_bytes()).expect("the connection stays open");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("an answer, then the end of the connection");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    assert_eq!(server.end().await.code(), Some(0), "{}", server.log());

    server.restart().await;
    let found = api.get(&format!("/api/v1/resources/by-name/DatabaseCluster/v1/{}", name_of(7))).await;
    assert_eq!(found.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_finishes_its_request_does_not_keep_the_server_from_stopping() {
    let database = Database::sqlite().await;
    let mut server = Server::start(&database, &[]).await;
    let _stalled = half_a_request(("127.0.0.1", server.port), 100, "{");
    server.api().get("/api/v1/whoami").await.ok();
    server.term();
    assert_eq!(server.end().await.code(), Some(0), "{}", server.log());
}

/// Begin a create of `length` bytes.
fn half_a_request(address: (&str, u16), length: usize, first: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
    let head = "POST /api/v1/resources HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    // Told to go on, one knows that somebody has begun to read the body.
    let request = format!("{head}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut told = [0; 25];
    stream.read_exact(&mut told).expect("the server asks for the body");
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(first.as_bytes()).expect("the server reads on");
    stream
}

on_both!(
    a_stop_under_load_finishes_what_it_took_and_exits_with_0,
    a_stopping_server_finishes_a_request_under_way_and_takes_no_other,
);
