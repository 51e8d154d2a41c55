//! A database for one story alone.

use std::ops::Deref;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};
use store::{Location, Store};
use tempfile::TempDir;

/// A database and a store that is open on it.
pub struct Db {
    pub store: Store,
    database: Database,
}

/// A database, perhaps an empty one.
pub struct Database {
    pub location: Location,
    /// Goes with the database.
    pub _folder: Option<TempDir>,
}

impl Db {
    pub async fn sqlite() -> Db {
        Db::on(Database::sqlite()).await
    }

    pub async fn postgres() -> Db {
        Db::on(Database::postgres().await).await
    }

    async fn on(database: Database) -> Db {
        Store::migrate(&database.location).await.expect("an empty database can be migrated");
        Db { store: database.open().await, database }
    }

    /// A further database of the same kind, with nothing in it.
    pub async fn blank(&self) -> Database {
        if self.is_postgres() { Database::postgres().await } else { Database::sqlite() }
    }
}

impl Deref for Db {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Database {
    fn sqlite() -> Database {
        let folder = TempDir::new().expect("a temporary folder");
        Database { location: Location::Sqlite(folder.path().join("terrane.db")), _folder: Some(folder) }
    }

    async fn postgres() -> Database {
        let server = server();
        let name = format!("story_{}_{}", std::process::id(), Timestamp::now().as_nanosecond());
        execute(&mut connect(&server).await, &format!("CREATE DATABASE {name}")).await;
        let (address, _) = server.rsplit_once('/').expect("the URL names a database");
        Database { location: Location::Postgres(format!("{address}/{name}")), _folder: None }
    }

    pub fn is_postgres(&self) -> bool {
        matches!(self.location, Location::Postgres(_))
    }

    /// A store as another process would open it.
    pub async fn open(&self) -> Store {
        Store::open(&self.location).await.expect("a migrated database can be opened")
    }

    /// A connection past the store.
    pub async fn raw(&self) -> AnyConnection {
        match &self.location {
            Location::Sqlite(path) => connect(&format!("sqlite://{}?mode=rwc", path.display())).await,
            Location::Postgres(url) => connect(url).await,
        }
    }

    pub async fn execute(&self, text: &str) {
        let mut raw = self.raw().await;
        execute(&mut raw, text).await;
        // Dropped, it would be closed some time later: and whoever copies the file meanwhile lacks what it wrote.
        raw.close().await.expect("the connection can be closed");
    }

    /// One number, asked past the store.
    pub async fn number(&self, text: &str) -> i64 {
        let mut raw = self.raw().await;
        let found = number(&mut raw, text).await;
        raw.close().await.expect("the connection can be closed");
        found
    }

    /// On PostgreSQL: wait until somebody waits for another's transaction.
    pub async fn until_somebody_waits(&self) {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let raw = tokio::sync::Mutex::new(self.raw().await);
        until("somebody who waits", async || number(&mut *raw.lock().await, waiting).await > 0).await;
    }

    /// Every row of every table: two of these are equal where nothing whatever was changed.
    pub async fn contents(&self) -> Vec<String> {
        let mut raw = self.raw().await;
        let mut rows = Vec::new();
        for table in TABLES {
            let text = if self.is_postgres() {
                format!("SELECT '{table} ' || t::text FROM {table} t ORDER BY 1")
            } else {
                let columns = format!(
                    "SELECT group_concat('quote(' || name || ')', '||'',''||') FROM pragma_table_info('{table}')"
                );
                let columns: String =
                    sqlx::query_scalar(AssertSqlSafe(columns)).fetch_one(&mut raw).await.expect("the table's columns");
                format!("SELECT '{table} ' || {columns} FROM {table} ORDER BY 1")
            };
            let found: Vec<String> =
                sqlx::query_scalar(AssertSqlSafe(text)).fetch_all(&mut raw).await.expect("the table's rows");
            rows.extend(found);
        }
        rows
    }
}

const TABLES: [&str; 9] = [
    "tenants",
    "tokens",
    "resource_types",
    "resources",
    "resource_labels",
    "reconciliation_history",
    "locks",
    "events",
    "idempotency_keys",
];

/// The server on which stories get their databases.
#[expect(clippy::disallowed_methods, reason = "the tests' own server is no configuration of the product")]
pub fn server() -> String {
    std::env::var("TERRANE_TEST_POSTGRES").expect("run the tests by `make test`, which starts a PostgreSQL")
}

async fn connect(url: &str) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(url).await.expect("the database can be reached")
}

pub async fn execute(raw: &mut AnyConnection, text: &str) {
    sqlx::raw_sql(AssertSqlSafe(text.to_string())).execute(raw).await.expect("a statement past the store");
}

pub async fn number(raw: &mut AnyConnection, text: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(text.to_string())).fetch_one(raw).await.expect("a number past the store")
}

/// What has to come, however long the machine takes; only what never comes fails.
pub async fn eventually<T>(what: &str, coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), coming).await.unwrap_or_else(|_| panic!("{what} never came"))
}

/// Look until it is so.
pub async fn until(what: &str, look: impl AsyncFn() -> bool) {
    eventually(what, async {
        while !look().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
