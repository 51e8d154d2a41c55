//! The database's version. Migrations run in one transaction under a lock, so that several processes may start at once
//! and a kill leaves either the old schema or the new one. A database newer than the program is refused.

use jiff::Timestamp;
use sqlx::{AnyConnection, AnyPool};
use thiserror::Error;

use crate::dialect::Dialect;

struct Migration {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "foundation",
        sqlite: include_str!("../migrations/sqlite/0001_foundation.sql"),
        postgres: include_str!("../migrations/postgres/0001_foundation.sql"),
    },
    Migration {
        version: 2,
        name: "engine",
        sqlite: include_str!("../migrations/sqlite/0002_engine.sql"),
        postgres: include_str!("../migrations/postgres/0002_engine.sql"),
    },
    Migration {
        version: 3,
        name: "runner",
        sqlite: include_str!("../migrations/sqlite/0003_runner.sql"),
        postgres: include_str!("../migrations/postgres/0003_runner.sql"),
    },
    Migration {
        version: 4,
        name: "runners",
        sqlite: include_str!("../migrations/sqlite/0004_runners.sql"),
        postgres: include_str!("../migrations/postgres/0004_runners.sql"),
    },
    Migration {
        version: 5,
        name: "state",
        sqlite: include_str!("../migrations/sqlite/0005_state.sql"),
        postgres: include_str!("../migrations/postgres/0005_state.sql"),
    },
    Migration {
        version: 6,
        name: "failures",
        sqlite: include_str!("../migrations/sqlite/0006_failures.sql"),
        postgres: include_str!("../migrations/postgres/0006_failures.sql"),
    },
];

fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

/// What a migration found and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    pub from: i64,
    pub to: i64,
}

#[derive(Debug, Error)]
pub enum MigrateError {
    #[error("the database cannot be opened")]
    Database(#[from] sqlx::Error),
    #[error(
        "the database is at version {found}, which is newer than this program's {known}: run a newer terrane, or restore a backup from before the upgrade"
    )]
    Newer { found: i64, known: i64 },
    #[error("the database is at version {found}, this program needs {known}: run `terrane migrate`")]
    Older { found: i64, known: i64 },
}

pub(crate) async fn run(pool: &AnyPool, dialect: Dialect) -> Result<Migrated, MigrateError> {
    let mut connection = pool.acquire().await?;
    sqlx::query(dialect.begin()).execute(&mut *connection).await?;
    let outcome = upgrade(&mut connection, dialect).await;
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    sqlx::query(end).execute(&mut *connection).await?;
    outcome
}

/// Whether the database is at this program's version.
pub(crate) async fn check(pool: &AnyPool, dialect: Dialect) -> Result<(), MigrateError> {
    let mut connection = pool.acquire().await?;
    let known = newest();
    let found = if has_versions(&mut connection, dialect).await? { version(&mut connection).await? } else { 0 };
    match found {
        found if found < known => Err(MigrateError::Older { found, known }),
        found if found > known => Err(MigrateError::Newer { found, known }),
        _ => Ok(()),
    }
}

async fn upgrade(connection: &mut AnyConnection, dialect: Dialect) -> Result<Migrated, MigrateError> {
    if dialect == Dialect::Postgres {
        sqlx::query("SELECT pg_advisory_xact_lock(8365121390)").execute(&mut *connection).await?;
    }
    if !has_versions(connection, dialect).await? {
        sqlx::query(
            "CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)",
        )
        .execute(&mut *connection)
        .await?;
    }
    let from = version(connection).await?;
    if from > newest() {
        return Err(MigrateError::Newer { found: from, known: newest() });
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > from) {
        let text = match dialect {
            Dialect::Sqlite => migration.sqlite,
            Dialect::Postgres => migration.postgres,
        };
        sqlx::raw_sql(text).execute(&mut *connection).await?;
        sqlx::query("INSERT INTO schema_versions (version, name, applied_at) VALUES ($1, $2, $3)")
            .bind(migration.version)
            .bind(migration.name)
            .bind(Timestamp::now().as_microsecond())
            .execute(&mut *connection)
            .await?;
    }
    if dialect == Dialect::Postgres {
        keep_sequence_growing(connection).await?;
    }
    Ok(Migrated { from, to: newest() })
}

/// A dump restored into a younger server would give sequence numbers below those that exist. Numbers of this server's own
/// transactions all lie below the snapshot's end, also of those that began and ended while this one was migrating.
async fn keep_sequence_growing(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE event_epoch SET xid_offset = (SELECT (max(seq) >> 12) + 1 FROM events) - pg_current_xact_id()::text::bigint \
         WHERE (SELECT max(seq) FROM events) >= ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint + xid_offset) << 12)",
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn has_versions(connection: &mut AnyConnection, dialect: Dialect) -> Result<bool, sqlx::Error> {
    let text = match dialect {
        Dialect::Sqlite => "SELECT count(*) FROM sqlite_master WHERE name = 'schema_versions'",
        Dialect::Postgres => {
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_versions'"
        }
    };
    let found: i64 = sqlx::query_scalar(text).fetch_one(connection).await?;
    Ok(found > 0)
}

async fn version(connection: &mut AnyConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM schema_versions").fetch_one(connection).await
}
