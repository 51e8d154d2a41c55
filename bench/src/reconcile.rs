//! The engine: how many no-op reconciliations it gets through beside the raw database doing the same writes, and how soon a
//! plugin is called after a commit, with few and with many idle resources around.

use std::time::{Duration, Instant};

use anyhow::ensure;
use sqlx::postgres::{PgConnection, PgListener};
use sqlx::{AnyConnection, Connection};

use crate::Plan;
use crate::child::Server;
use crate::database::{Database, Kind};
use crate::http::Connection as Http;
use crate::load::{Until, Work, run};
use crate::probe::Probe;
use crate::raw::Raw;
use crate::requests::{self, Creates};
use crate::table::{Table, median, quantiles};

/// How many creations are timed.
const SAMPLES: usize = 300;
const BATCH: usize = 100;

pub async fn measure(kind: Kind, plan: Plan, table: &mut Table) -> anyhow::Result<()> {
    let name = kind.name();
    let rows = plan.resources / 5;
    let (mut single, mut batched, mut terrane) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        let database = Database::fresh(kind, &format!("raw_{round}")).await?;
        let mut raw = Raw::prepare(kind, &database, rows * 2).await?;
        single.push(raw.run(1, rows / 10, 1).await?);
        batched.push(raw.run(rows + 1, rows, BATCH).await?);
        terrane.push(noops(kind, &format!("noop_{round}"), rows, plan).await?);
    }
    let (single, batched, terrane) = (median(single), median(batched), median(terrane));
    table.rates(format!("{name}: no-op reconciles, raw one at a time"), single, terrane, Some(2.0));
    table.rates(format!("{name}: no-op reconciles, raw batches of {BATCH}"), batched, terrane, Some(0.25));

    let probe = Probe::listen().await?;
    let flag = probe.flag();
    let database = Database::fresh(kind, "latency").await?;
    let server = Server::role("up", &database, &["--plugin", &flag]).await?;
    declare_types(server.port).await?;
    let few = 1000;
    fill(server.port, 0, few, plan).await?;
    settled(kind, &database, few).await?;
    let (p50, p99) = latency(&server, &probe, "few").await?;
    table.alone(format!("{name}: commit to plugin called, p50, {few} idle"), p50, "ms", None);
    let notify = if kind == Kind::Postgres { Some(raw_notify(&database).await? * 5.0) } else { None };
    table.alone(format!("{name}: commit to plugin called, p99, {few} idle"), p99, "ms", notify);
    fill(server.port, 1_000_000, plan.resources - few, plan).await?;
    settled(kind, &database, plan.resources).await?;
    let (_, full) = latency(&server, &probe, "many").await?;
    let many = plan.resources;
    table.alone(format!("{name}: commit to plugin called, p99, {many} idle"), full, "ms", Some(p99 * 1.2));
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = server.cpu()?;
    let rest = Duration::from_secs(10);
    tokio::time::sleep(rest).await;
    let idle = (server.cpu()? - before) / rest.as_secs_f64() * 100.0;
    table.alone(format!("{name}: idle CPU, {many} resources"), idle, "%", Some(1.0));
    table.alone(format!("{name}: resident with the engine, {many} resources"), server.resident()?, "MB", None);
    // One resource becomes due after the process was killed; what it had claimed is another story, and bounded by the lease.
    let mut connection = Http::open(server.port).await?;
    let made =
        connection.send(&requests::post("/api/v1/resources", &requests::resource("before-the-kill", "probe"))).await?;
    ensure!(made == 201, "not made: {made}");
    probe.called("before-the-kill").await?;
    settled(kind, &database, plan.resources + 2 * SAMPLES + 1).await?;
    server.kill();
    due_again(&database, kind).await?;
    let killed = Instant::now();
    let again = Probe::listen().await?;
    let server = Server::role("up", &database, &["--plugin", &again.flag()]).await?;
    let called = again.called("before-the-kill").await?;
    let took = called.duration_since(killed).as_secs_f64() * 1e3;
    table.alone(format!("{name}: start after kill -9 to first claim, {many}"), took, "ms", Some(900.0));
    server.stop().await
}

/// Declared while no controller runs; then how fast one gets through them, by its own record.
async fn noops(kind: Kind, name: &str, rows: usize, plan: Plan) -> anyhow::Result<f64> {
    let database = Database::fresh(kind, name).await?;
    let server = Server::terrane(&database).await?;
    declare_types(server.port).await?;
    fill(server.port, 0, rows, plan).await?;
    server.stop().await?;
    let controller = Server::role("controller", &database, &[]).await?;
    settled(kind, &database, rows).await?;
    controller.stop().await?;
    let mut connection = open(kind, &database).await?;
    let micros: i64 = sqlx::query_scalar("SELECT max(finished_at) - min(started_at) FROM operations")
        .fetch_one(&mut connection)
        .await?;
    Ok(rows as f64 / (micros as f64 / 1e6))
}

async fn declare_types(port: u16) -> anyhow::Result<()> {
    let mut connection = Http::open(port).await?;
    let made = connection.send(&requests::post("/api/v1/resource-types", &requests::database_cluster())).await?;
    ensure!(made == 201, "the type was not made: {made}");
    Ok(())
}

async fn fill(port: u16, first: usize, count: usize, plan: Plan) -> anyhow::Result<()> {
    let post = Work::Create(std::sync::Arc::new(Creates::of("noop", first)));
    run(port, plan.connections, &post, Until::Requests(count)).await?;
    Ok(())
}

/// Wait until so many are active.
async fn settled(kind: Kind, database: &Database, count: usize) -> anyhow::Result<()> {
    let mut connection = open(kind, database).await?;
    let started = Instant::now();
    loop {
        let active: i64 = sqlx::query_scalar("SELECT count(*) FROM resources WHERE lifecycle = 'active'")
            .fetch_one(&mut connection)
            .await?;
        if active as usize >= count {
            return Ok(());
        }
        ensure!(started.elapsed() < Duration::from_secs(600), "only {active} of {count} came to rest");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn open(kind: Kind, database: &Database) -> anyhow::Result<AnyConnection> {
    sqlx::any::install_default_drivers();
    let url = if kind == Kind::Sqlite { format!("{}?mode=ro", database.url) } else { database.url.clone() };
    Ok(AnyConnection::connect(&url).await?)
}

async fn due_again(database: &Database, kind: Kind) -> anyhow::Result<()> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&database.url).await?;
    if kind == Kind::Sqlite {
        sqlx::query("PRAGMA busy_timeout = 5000").execute(&mut connection).await?;
    }
    sqlx::query("UPDATE resources SET next_reconcile_at = 1, wanted = 'requested' WHERE name = 'before-the-kill'")
        .execute(&mut connection)
        .await?;
    Ok(())
}

/// p50 and p99, in milliseconds, from the answer to a creation to the plugin's first call for it.
async fn latency(server: &Server, probe: &Probe, name: &str) -> anyhow::Result<(f64, f64)> {
    let mut connection = Http::open(server.port).await?;
    let mut found = Vec::new();
    for number in 0..SAMPLES {
        let resource = format!("{name}-{number}");
        let made =
            connection.send(&requests::post("/api/v1/resources", &requests::resource(&resource, "probe"))).await?;
        let answered = Instant::now();
        ensure!(made == 201, "not made: {made}");
        let called = probe.called(&resource).await?;
        found.push(called.saturating_duration_since(answered).as_secs_f64() * 1e3);
    }
    Ok(quantiles(found))
}

/// The p99 of a NOTIFY on its way to a listener, in milliseconds.
async fn raw_notify(database: &Database) -> anyhow::Result<f64> {
    let mut listener = PgListener::connect(&database.url).await?;
    listener.listen("bench").await?;
    let mut connection = PgConnection::connect(&database.url).await?;
    let mut found = Vec::new();
    for _ in 0..SAMPLES {
        let sent = Instant::now();
        sqlx::query("SELECT pg_notify('bench', '')").execute(&mut connection).await?;
        listener.recv().await?;
        found.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    Ok(quantiles(found).1)
}
