//! All that differs between the two databases, and nothing else.

/// Events per transaction that a sequence number has room for (PostgreSQL).
pub(crate) const EVENTS_PER_TRANSACTION: i64 = 1 << 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// SQLite takes the write lock at once, so that a transaction never fails half-way for want of it.
    pub fn begin(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::Postgres => "BEGIN",
        }
    }

    pub fn version(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT 'SQLite ' || sqlite_version()",
            Dialect::Postgres => "SELECT 'PostgreSQL ' || current_setting('server_version')",
        }
    }

    /// Rows read for a change are held until commit; SQLite's single writer holds everything anyway.
    pub fn for_update(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        }
    }

    pub fn for_share(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR SHARE",
        }
    }

    /// The sequence number after which this transaction's events come.
    ///
    /// SQLite has one writer at a time: the last number is enough. On PostgreSQL transactions commit in any order, so
    /// a number is (transaction id, place within it), and `horizon` keeps readers below every transaction under way.
    pub fn sequence_base(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT coalesce(max(seq), 0) FROM events",
            Dialect::Postgres => {
                "SELECT ((pg_current_xact_id()::text::bigint + xid_offset) << 12) - 1 FROM event_epoch"
            }
        }
    }

    /// The highest number that a reader may look at, and the highest there is: where the second is larger, somebody's
    /// transaction is still under way.
    pub fn horizon(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT coalesce(max(seq), 0) AS horizon, coalesce(max(seq), 0) AS newest FROM events",
            Dialect::Postgres => {
                "SELECT ((pg_snapshot_xmin(pg_current_snapshot())::text::bigint + xid_offset) << 12) - 1 AS horizon, \
                 (SELECT coalesce(max(seq), 0) FROM events) AS newest FROM event_epoch"
            }
        }
    }
}
