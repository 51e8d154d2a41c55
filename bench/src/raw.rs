//! The writes of a no-op reconciliation, in a bare loop on the same database: a claim (the row, an operation, an event), and a
//! completion (the row, the operation, the history, an event).

use std::time::Instant;

use sqlx::AnyConnection;
use sqlx::{AssertSqlSafe, Connection};

use crate::database::{Database, Kind};

const BODY: usize = 1200;

pub struct Raw {
    connection: AnyConnection,
    kind: Kind,
}

impl Raw {
    pub async fn prepare(kind: Kind, database: &Database, rows: usize) -> anyhow::Result<Raw> {
        sqlx::any::install_default_drivers();
        let url = match kind {
            Kind::Sqlite => format!("{}?mode=rwc", database.url),
            Kind::Postgres => database.url.clone(),
        };
        let mut connection = AnyConnection::connect(&url).await?;
        let settings: &[&str] = match kind {
            Kind::Sqlite => &["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"],
            Kind::Postgres => &["SET synchronous_commit = on"],
        };
        let id = match kind {
            Kind::Sqlite => "INTEGER PRIMARY KEY",
            Kind::Postgres => "BIGSERIAL PRIMARY KEY",
        };
        let mut texts: Vec<String> = settings.iter().map(ToString::to_string).collect();
        texts.push("CREATE TABLE r (id BIGINT PRIMARY KEY, state TEXT, token BIGINT, due BIGINT)".into());
        texts.push("CREATE INDEX r_due ON r (due)".into());
        texts.push(format!("CREATE TABLE o (id {id}, r BIGINT, state TEXT)"));
        texts.push(format!("CREATE TABLE h (id {id}, r BIGINT, success BIGINT)"));
        texts.push(format!("CREATE TABLE e (id {id}, r BIGINT, before TEXT, after TEXT)"));
        texts.push(format!(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {rows}) \
             INSERT INTO r SELECT x, 'pending', 0, 0 FROM n"
        ));
        for text in texts {
            sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await?;
        }
        Ok(Raw { connection, kind })
    }

    /// Claim and complete so many rows, `batch` in a transaction. Rows per second.
    pub async fn run(&mut self, from: usize, rows: usize, batch: usize) -> anyhow::Result<f64> {
        let body = "x".repeat(BODY);
        let started = Instant::now();
        for first in (from..from + rows).step_by(batch) {
            let range = format!("BETWEEN {} AND {}", first, first + batch - 1);
            for (state, history) in [("running", false), ("done", true)] {
                let begin = if self.kind == Kind::Sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" };
                self.execute(begin.into()).await?;
                self.execute(format!("UPDATE r SET state = '{state}', token = token + 1, due = 1 WHERE id {range}"))
                    .await?;
                if history {
                    self.execute(format!("UPDATE o SET state = 'done' WHERE id {range}")).await?;
                    self.execute(format!("INSERT INTO h (r, success) SELECT id, 1 FROM r WHERE id {range}")).await?;
                } else {
                    let insert =
                        format!("INSERT INTO o (id, r, state) SELECT id, id, 'running' FROM r WHERE id {range}");
                    self.execute(insert).await?;
                }
                let text = format!("INSERT INTO e (r, before, after) SELECT id, $1, $1 FROM r WHERE id {range}");
                sqlx::query(AssertSqlSafe(text)).bind(&body).execute(&mut self.connection).await?;
                self.execute("COMMIT".into()).await?;
            }
        }
        Ok(rows as f64 / started.elapsed().as_secs_f64())
    }

    async fn execute(&mut self, text: String) -> anyhow::Result<()> {
        sqlx::query(AssertSqlSafe(text)).persistent(false).execute(&mut self.connection).await?;
        Ok(())
    }
}
