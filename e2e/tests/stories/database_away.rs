//! While PostgreSQL is away the server says so, politely; when it is back, so is the server.

use e2e::{Api, Database, Proxy, Server, Watch, database_cluster, resource, soon, until};

async fn a_server_outlives_an_absence_of_its_database(database: Database) {
    let mut server = Server::start(&database, &[]).await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    let watch = Watch::begin(&api);
    api.post("/api/v1/resources", &resource(0)).await.ok();
    until("the watcher to see it", async || watch.count() == 1).await;

    for absence in 1..=2 {
        database.shut().await;
        check_absence(&api, absence).await;
        database.open_again().await;
        until("the server to be ready again", async || api.ready().await == Some(200)).await;
        // Nothing was written while the database was away: the same body is new.
        let mut made = 0;
        until("writes to go through again", async || {
            made = api.post("/api/v1/resources", &resource(absence)).await.status;
            made != 503
        })
        .await;
        assert_eq!(made, 201);
        assert_eq!(api.all("/api/v1/resources").await.len(), absence + 1);
        until("the watcher to see what came after", async || watch.count() == absence + 1).await;
    }
    assert_eq!(watch.opened(), 1, "the stream went on by itself");
    assert!(server.ended().is_none(), "all without a restart");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

async fn check_absence(api: &Api, number: usize) {
    let body = resource(number);
    let [write, read, list] = soon("answers while the database is away", async {
        [
            api.post("/api/v1/resources", &body).await,
            api.get("/api/v1/resources/1").await,
            api.get("/api/v1/resources").await,
        ]
    })
    .await;
    for answer in [write, read, list] {
        assert_eq!((answer.status, answer.header("retry-after")), (503, "1"), "{answer:?}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert!(answer.body["detail"].as_str().is_some_and(|text| text.contains("the database")), "{answer:?}");
    }
    assert_eq!(api.ready().await, Some(503));
    assert_eq!(api.get("/health").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_answered_and_a_stop_ends_while_the_database_hangs() {
    let database = Database::postgres().await;
    let (host, port) = database.address();
    let wire = Proxy::to(host, port).await;
    let mut server = Server::spawn("server", &["--database", &database.url_by(wire.port)], &[]);
    server.ready().await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    api.post("/api/v1/resources", &resource(0)).await.ok();
    // Connections that were just used are taken for good.
    futures::future::join_all((0..16).map(|_| api.get("/api/v1/resources"))).await;
    wire.cut();
    check_absence(&api, 1).await;
    wire.mend();
    until("the server to be ready again", async || api.ready().await == Some(200)).await;
    api.get("/api/v1/resources/1").await.ok();

    wire.cut();
    let under_way = tokio::spawn({
        let api = api.clone();
        async move { api.try_post("/api/v1/resources", &resource(2)).await }
    });
    server.term();
    assert_eq!(server.end().await.code(), Some(0), "{}", server.log());
    let _ = under_way.await;
}

on_postgres!(a_server_outlives_an_absence_of_its_database);
