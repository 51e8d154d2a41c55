//! The five variables by which PostgreSQL was configured before there was `--database`.

use e2e::{Database, Server, database_cluster, resource};

async fn db_host_and_its_kin_select_postgresql(database: Database) {
    let (host, port) = database.address();
    let variables = [
        ("DB_HOST", host),
        ("DB_PORT", port),
        ("DB_NAME", database.name()),
        ("DB_USER", database.user()),
        ("DB_PASSWORD", "p@ss/w:rd?%41&"),
    ];
    let mut server = Server::spawn("server", &[], &variables);
    server.ready().await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    api.post("/api/v1/resources", &resource(1)).await.ok();
    assert_eq!(database.number("SELECT count(*) FROM resources").await, 1, "it is in that database");
    assert!(!server.log().contains("p@ss"), "{}", server.log());
}

on_postgres!(db_host_and_its_kin_select_postgresql);
