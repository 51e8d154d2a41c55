//! Where the database is, and how its connections are set up.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Once;
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection};

use crate::dialect::Dialect;

/// A database: a file, or a PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    Sqlite(PathBuf),
    /// `postgres://user:password@host:port/name?sslmode=…`
    Postgres(String),
}

impl Location {
    /// Read a URL: `sqlite:path/to/file.db` or `postgres://…`.
    pub fn parse(url: &str) -> Result<Location, String> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() || path.contains('?') {
                return Err(format!("{url:?} names no file; write sqlite:DIR/terrane.db"));
            }
            return Ok(Location::Sqlite(path.into()));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            AnyConnectOptions::from_str(url).map_err(|error| format!("not a PostgreSQL URL: {error}"))?;
            return Ok(Location::Postgres(url.into()));
        }
        Err("a database URL begins with sqlite: or postgres:".to_string())
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Location::Sqlite(_) => Dialect::Sqlite,
            Location::Postgres(_) => Dialect::Postgres,
        }
    }

    fn options(&self) -> Result<AnyConnectOptions, sqlx::Error> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let url = match self {
            Location::Sqlite(path) => {
                let path = path.display().to_string().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
                format!("sqlite:{path}?mode=rwc")
            }
            Location::Postgres(url) => url.clone(),
        };
        Ok(AnyConnectOptions::from_str(&url)?.disable_statement_logging())
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Location::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Location::Postgres(url) => f.write_str(&redacted(url)),
        }
    }
}

/// A URL without its password, for logs and for people.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (authority, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user.to_string(), |(name, _)| format!("{name}:***"));
            format!("{user}@{host}")
        }
        None => authority.to_string(),
    };
    let path = match path.split_once('?') {
        Some((path, query)) => {
            let query: Vec<_> = query
                .split('&')
                .map(|pair| if pair.starts_with("password=") { "password=***" } else { pair })
                .collect();
            format!("{path}?{}", query.join("&"))
        }
        None => path.to_string(),
    };
    format!("{scheme}://{authority}{path}")
}

/// WAL lets readers go on while the writer commits; FULL makes a commit wait for the disk.
const SQLITE_SETTINGS: &[&str] = &[
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA busy_timeout = 10000",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -8000",
    "PRAGMA journal_size_limit = 67108864",
];

/// Long statements and forgotten transactions would hold back the event horizon for every reader.
const POSTGRES_SETTINGS: &[&str] = &[
    "SET application_name = 'terrane'",
    "SET synchronous_commit = on",
    "SET statement_timeout = '30s'",
    "SET idle_in_transaction_session_timeout = '30s'",
];

/// Statements that write join a few given rows with a table, always by its index. PostgreSQL does not know how few, and would
/// go through the whole table to merge them.
const POSTGRES_WRITER_SETTINGS: &[&str] = &["SET enable_mergejoin = off", "SET enable_hashjoin = off"];

const SQLITE_READERS: u32 = 4;
const POSTGRES_READERS: u32 = 8;
const POSTGRES_WRITERS: u32 = 3;

pub(crate) async fn readers(location: &Location) -> Result<AnyPool, sqlx::Error> {
    let size = match location.dialect() {
        Dialect::Sqlite => SQLITE_READERS,
        Dialect::Postgres => POSTGRES_READERS,
    };
    connect(location, size, true).await
}

/// As many connections as there are scribes: see `writer`.
pub(crate) async fn writers(location: &Location) -> Result<AnyPool, sqlx::Error> {
    let size = match location.dialect() {
        Dialect::Sqlite => 1,
        Dialect::Postgres => POSTGRES_WRITERS,
    };
    connect(location, size, false).await
}

/// How long a database may be silent during a read.
const SILENCE: Duration = Duration::from_secs(10);

pub(crate) type Answer<'c, T> = BoxFuture<'c, Result<T, sqlx::Error>>;

/// Ask this on one of the pool's connections. One that falls silent is given up: in the pool it would be asked for a sign
/// of life before it is used again, and keep its place until it gives one.
pub(crate) async fn ask<T>(
    pool: &AnyPool,
    ask: impl for<'c> FnOnce(&'c mut AnyConnection) -> Answer<'c, T>,
) -> Result<T, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    match tokio::time::timeout(SILENCE, ask(&mut connection)).await {
        Ok(answer) => answer,
        Err(_) => {
            drop(connection.detach());
            Err(sqlx::Error::PoolTimedOut)
        }
    }
}

/// Whether the connection itself is gone: the server ended it, or the way there broke.
pub(crate) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => matches!(error.code().as_deref(), Some("57P01" | "57P02" | "57P03")),
        _ => false,
    }
}

async fn connect(location: &Location, size: u32, read_only: bool) -> Result<AnyPool, sqlx::Error> {
    let dialect = location.dialect();
    // A pool says only that it waited too long; a single connection says what is wrong.
    AnyConnection::connect_with(&location.options()?).await?.close().await?;
    AnyPoolOptions::new()
        // No minimum: sqlx keeps it up with pauses of up to a minute, during which the writer's only place is taken.
        .max_connections(size)
        .acquire_timeout(Duration::from_secs(5))
        .test_before_acquire(false)
        // A ping costs as much as a read: only a connection that has rested is asked whether it still lives.
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > Duration::from_secs(5) {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(move |connection, _| {
            Box::pin(async move {
                let settings = match dialect {
                    Dialect::Sqlite => SQLITE_SETTINGS,
                    Dialect::Postgres => POSTGRES_SETTINGS,
                };
                for setting in settings {
                    sqlx::query(*setting).execute(&mut *connection).await?;
                }
                let further = match (read_only, dialect) {
                    (true, dialect) => &[dialect.reader_setting()][..],
                    (false, Dialect::Postgres) => POSTGRES_WRITER_SETTINGS,
                    (false, Dialect::Sqlite) => &[],
                };
                for setting in further {
                    sqlx::query(*setting).execute(&mut *connection).await?;
                }
                Ok(())
            })
        })
        .connect_with(location.options()?)
        .await
}
