//! A database for each side: a file of its own, or a fresh database on the PostgreSQL of `scripts/with-postgres`.

use anyhow::Context;
use clap::ValueEnum;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Sqlite => "SQLite",
            Kind::Postgres => "PostgreSQL",
        }
    }
}

pub struct Database {
    pub url: String,
    pub folder: TempDir,
}

impl Database {
    pub async fn fresh(kind: Kind, name: &str) -> anyhow::Result<Database> {
        let folder = TempDir::new()?;
        let url = match kind {
            Kind::Sqlite => format!("sqlite:{}", folder.path().join("bench.db").display()),
            Kind::Postgres => {
                let server = std::env::var("TERRANE_TEST_POSTGRES")
                    .context("TERRANE_TEST_POSTGRES names no PostgreSQL: run `make bench`, or scripts/with-postgres")?;
                let name = format!("bench_{name}_{}", std::process::id());
                let mut admin = PgConnection::connect(&server).await?;
                sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut admin).await?;
                let (address, _) = server.rsplit_once('/').context("the URL names a database")?;
                format!("{address}/{name}")
            }
        };
        Ok(Database { url, folder })
    }
}
