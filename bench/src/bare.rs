//! The measure of things: the same framework and driver without anything of Terrane's, as one writes it on an afternoon.
//! One table of JSON texts, one commit for each request, as durable as Terrane: a write is on disk when it is answered.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Row};

#[derive(Clone)]
enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// The same code for both pools, each with its own types.
macro_rules! either {
    ($pool:expr, $inner:ident => $body:expr) => {
        match $pool {
            Pool::Sqlite($inner) => $body,
            Pool::Postgres($inner) => $body,
        }
    };
}

pub async fn serve(url: &str, listen: SocketAddr, size: u32) -> anyhow::Result<()> {
    let pool = connect(url, size).await?;
    let table = match &pool {
        Pool::Sqlite(_) => "CREATE TABLE IF NOT EXISTS resources (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        Pool::Postgres(_) => "CREATE TABLE IF NOT EXISTS resources (id BIGSERIAL PRIMARY KEY, body TEXT NOT NULL)",
    };
    either!(&pool, pool => { sqlx::query(table).execute(pool).await?; });
    let router = Router::new()
        .route("/ready", get(async || "ready"))
        .route("/health", get(async || "healthy"))
        .route("/api/v1/resources", post(create).get(list))
        .route("/api/v1/resources/{id}", get(find))
        .with_state(pool);
    axum::serve(tokio::net::TcpListener::bind(listen).await?, router).await?;
    Ok(())
}

async fn connect(url: &str, size: u32) -> anyhow::Result<Pool> {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30))
            .disable_statement_logging();
        let pool = SqlitePoolOptions::new().max_connections(size).connect_with(options).await?;
        return Ok(Pool::Sqlite(pool));
    }
    let options: PgConnectOptions = url.parse()?;
    let options = options.options([("synchronous_commit", "on")]).disable_statement_logging();
    Ok(Pool::Postgres(PgPoolOptions::new().max_connections(size).connect_with(options).await?))
}

type Failure = (StatusCode, String);

fn failure(error: impl std::fmt::Display) -> Failure {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn create(State(pool): State<Pool>, Json(body): Json<Value>) -> Result<(StatusCode, Json<Value>), Failure> {
    let id: i64 = either!(&pool, pool => {
        sqlx::query_scalar("INSERT INTO resources (body) VALUES ($1) RETURNING id")
            .bind(body.to_string())
            .fetch_one(pool)
            .await
            .map_err(failure)?
    });
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "body": body }))))
}

async fn find(State(pool): State<Pool>, Path(id): Path<i64>) -> Result<Json<Value>, Failure> {
    let body: String = either!(&pool, pool => {
        sqlx::query_scalar("SELECT body FROM resources WHERE id = $1").bind(id).fetch_one(pool).await.map_err(failure)?
    });
    Ok(Json(shown(id, &body)?))
}

async fn list(State(pool): State<Pool>) -> Result<Json<Vec<Value>>, Failure> {
    let select = "SELECT id, body FROM resources ORDER BY id LIMIT 100";
    let rows: Vec<(i64, String)> = either!(&pool, pool => {
        let rows = sqlx::query(select).fetch_all(pool).await.map_err(failure)?;
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    });
    Ok(Json(rows.iter().map(|(id, body)| shown(*id, body)).collect::<Result<_, _>>()?))
}

fn shown(id: i64, body: &str) -> Result<Value, Failure> {
    let body: Value = serde_json::from_str(body).map_err(failure)?;
    Ok(json!({ "id": id, "body": body }))
}
