//! A database for one story alone: a file, or a fresh database on the PostgreSQL that `make test` started.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AnyConnection, AssertSqlSafe, Connection};
use tempfile::TempDir;

pub struct Database {
    /// As `--database` takes it.
    pub url: String,
    folder: TempDir,
}

impl Database {
    pub async fn sqlite() -> Database {
        let folder = TempDir::new().expect("a temporary folder");
        Database { url: format!("sqlite:{}", folder.path().join("terrane.db").display()), folder }
    }

    pub async fn postgres() -> Database {
        Database::on(&postgres_server()).await
    }

    /// A fresh database on this server.
    pub async fn on(server: &str) -> Database {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let moment = jiff::Timestamp::now().as_microsecond();
        let name = format!("e2e_{}_{number}_{moment}", std::process::id());
        let mut admin = connect(server).await;
        execute(&mut admin, &format!("CREATE DATABASE {name}")).await;
        let (address, _) = server.rsplit_once('/').expect("the URL names a database");
        Database { url: format!("{address}/{name}"), folder: TempDir::new().expect("a temporary folder") }
    }

    pub fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres:")
    }

    /// A folder that goes with the database.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The last part of the URL.
    pub fn name(&self) -> &str {
        self.url.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// The same database, with a password in its URL: the server trusts everybody, so that any will do.
    pub fn url_with_password(&self, password: &str) -> String {
        self.url.replacen('@', &format!(":{password}@"), 1)
    }

    /// Host and port of the PostgreSQL server.
    pub fn address(&self) -> (&str, &str) {
        let (_, rest) = self.url.split_once('@').expect("a PostgreSQL URL with a user");
        let (address, _) = rest.split_once('/').expect("a PostgreSQL URL with a name");
        address.split_once(':').expect("a PostgreSQL URL with a port")
    }

    /// The same database, by another port.
    pub fn url_by(&self, port: u16) -> String {
        let (host, usual) = self.address();
        self.url.replacen(&format!("{host}:{usual}"), &format!("127.0.0.1:{port}"), 1)
    }

    pub fn user(&self) -> &str {
        self.url.trim_start_matches("postgres://").split_once('@').map_or("", |(user, _)| user)
    }

    /// One number, asked past the program.
    pub async fn number(&self, text: &str) -> i64 {
        let mut connection = connect(&self.url).await;
        sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(&mut connection).await.expect("a number")
    }

    /// Nobody can come in any more, and whoever is in is thrown out.
    pub async fn shut(&self) {
        let mut admin = connect(&postgres_server()).await;
        execute(&mut admin, &format!("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false", self.name())).await;
        let throw_out = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ";
        execute(&mut admin, &format!("{throw_out}'{}'", self.name())).await;
    }

    pub async fn open_again(&self) {
        let mut admin = connect(&postgres_server()).await;
        execute(&mut admin, &format!("ALTER DATABASE {} WITH ALLOW_CONNECTIONS true", self.name())).await;
    }
}

fn postgres_server() -> String {
    std::env::var("TERRANE_TEST_POSTGRES").expect("TERRANE_TEST_POSTGRES names a PostgreSQL: run by `make test`")
}

async fn connect(url: &str) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(url).await.expect("the database answers")
}

async fn execute(connection: &mut AnyConnection, text: &str) {
    sqlx::raw_sql(AssertSqlSafe(text)).execute(connection).await.expect("the database does as it is told");
}
