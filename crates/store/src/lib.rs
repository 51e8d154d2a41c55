//! The only SQL of Terrane. One text per query serves SQLite and PostgreSQL; what differs is in `dialect`.
//!
//! Reads go through a pool, each a statement or two. Writes go to one queue; what arrives together is committed
//! together (`writer`). Every change leaves an event in the same transaction (`events`), and a commit
//! rings the bell (`bell`) for whoever waits for events.

mod accounts;
mod alerts;
mod bell;
mod clock;
mod connect;
mod dialect;
mod error;
mod events;
mod history;
mod idempotency;
mod imports;
mod jobs;
mod locks;
mod migrate;
mod operations;
mod page;
mod resources;
mod row;
mod rows;
mod runners;
mod sealed_outputs;
mod secrets;
mod select;
mod tenants;
mod tokens;
mod types;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::{AnyConnection, AnyPool};
use tracing::{debug, warn};

pub use accounts::NewAccount;
pub use bell::Bell;
pub use clock::Clock;
pub use connect::{Location, redacted};
pub use error::{Error, Refusal};
pub use events::{EventFilter, EventPage};
pub use history::NewHistoryEntry;
pub use idempotency::{IdempotencyKey, Recorded};
pub use jobs::{Job, KeptJob, LogPiece, LogStanding, NewState, Offered, SealedPlan, SealedState, Succession, TakenJob};
pub use migrate::{MigrateError, Migrated};
pub use operations::{Backlog, Claim, Claimant, Conclusion, Due, Renewal};
pub use page::Page;
pub use resources::{NewResource, ResourceFilter, ResourceText, StoredResource};
pub use runners::{NewRunner, StoredRunner};
pub use sealed_outputs::SealedOutputs;
pub use secrets::{NewSecret, SealedSecret};
pub use tenants::NewTenant;
pub use tokens::{NewToken, StoredToken};
pub use types::{NewType, StoredType};
pub use writer::{Moment, Probe, Tx, WriterStats};

use connect::Answer;
use dialect::Dialect;
use writer::Writer;

/// How long the end may take.
const CLOSING: Duration = Duration::from_secs(5);

/// The truth. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    dialect: Dialect,
    readers: AnyPool,
    writers: AnyPool,
    writer: Writer,
    bell: Bell,
    clock: Clock,
}

/// What tests bring along.
#[derive(Clone, Default)]
pub struct Options {
    pub clock: Clock,
    /// Called around every commit.
    pub probe: Option<Probe>,
}

impl Store {
    /// Open a database that is migrated already.
    pub async fn open(location: &Location) -> Result<Store, MigrateError> {
        Store::open_with(location, Options::default()).await
    }

    pub async fn open_with(location: &Location, options: Options) -> Result<Store, MigrateError> {
        let Options { clock, probe } = options;
        let dialect = location.dialect();
        let readers = connect::readers(location).await?;
        let writers = connect::writers(location).await?;
        migrate::check(&readers, dialect).await?;
        let bell = Bell::hang(location, &readers);
        let writer = Writer::start(writers.clone(), dialect, bell.clone(), clock.clone(), probe);
        let store = Store(Arc::new(Inner { dialect, readers, writers, writer, bell, clock }));
        store.set_clock().await?;
        Ok(store)
    }

    /// Bring the database up to this program's version. Safe when several processes do it at once.
    pub async fn migrate(location: &Location) -> Result<Migrated, MigrateError> {
        let writers = connect::writers(location).await?;
        let migrated = migrate::run(&writers, location.dialect()).await;
        writers.close().await;
        migrated
    }

    /// Answers when the database does.
    pub async fn ping(&self) -> Result<(), Error> {
        self.read(|reader| Box::pin(sqlx::query("SELECT 1").execute(reader))).await?;
        Ok(())
    }

    /// The time that counts here.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    async fn set_clock(&self) -> Result<(), sqlx::Error> {
        if let Some(text) = self.dialect().now() {
            let theirs: i64 = sqlx::query_scalar(text).fetch_one(&self.0.readers).await?;
            self.0.clock.set(theirs);
        }
        Ok(())
    }

    /// Whether only this process uses the database.
    pub fn is_embedded(&self) -> bool {
        self.dialect() == Dialect::Sqlite
    }

    pub fn bell(&self) -> &Bell {
        &self.0.bell
    }

    pub fn writer_stats(&self) -> WriterStats {
        self.0.writer.stats()
    }

    /// `SQLite` or `PostgreSQL`, with its version.
    pub async fn database(&self) -> Result<String, Error> {
        self.read(|reader| Box::pin(sqlx::query_scalar(self.dialect().version()).fetch_one(reader))).await
    }

    /// Let the writer finish what it has taken, then close. Whatever was acknowledged is on disk already.
    /// A database that says nothing is not waited for long.
    pub async fn close(&self) {
        let closing = async {
            self.0.writer.stop().await;
            self.0.readers.close().await;
            self.0.writers.close().await;
        };
        if tokio::time::timeout(CLOSING, closing).await.is_err() {
            warn!("the database did not answer to the end; closing without it");
        }
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect
    }

    /// Read. Where the connection turns out to be dead, as each is after a restart of the database, read again on another.
    async fn read<T>(&self, read: impl for<'c> Fn(&'c mut AnyConnection) -> Answer<'c, T>) -> Result<T, Error> {
        let pool = &self.0.readers;
        for _ in 0..pool.options().get_max_connections() {
            match connect::ask(pool, &read).await {
                Err(error) if connect::is_lost(&error) => debug!(%error, "a connection was lost; reading on another"),
                answer => return Ok(answer?),
            }
        }
        Ok(connect::ask(pool, &read).await?)
    }
}
