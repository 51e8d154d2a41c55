//! All that differs between the two databases, and nothing else.

/// Events per transaction that a sequence number has room for (PostgreSQL).
pub(crate) const EVENTS_PER_TRANSACTION: i64 = 1 << 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// What a column of `Dialect::rows` holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell {
    Int,
    Text,
}

impl Dialect {
    /// SQLite takes the write lock at once, so that a transaction never fails half-way for want of it.
    pub fn begin(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::Postgres => "BEGIN",
        }
    }

    /// Makes a JSON list of its arguments.
    pub fn list(self) -> &'static str {
        match self {
            Dialect::Sqlite => "json_array",
            Dialect::Postgres => "json_build_array",
        }
    }

    /// A field of a column that holds a JSON object, as text.
    pub fn field(self, column: &str, field: &str) -> String {
        match self {
            Dialect::Sqlite => format!("({column} ->> '{field}')"),
            Dialect::Postgres => format!("({column}::json ->> '{field}')"),
        }
    }

    /// The rows `v` out of one argument, a list of JSON objects: one text, prepared once, for any number of rows.
    pub fn rows(self, columns: &[(&str, Cell)]) -> String {
        self.rows_of("$1", columns)
    }

    pub fn rows_of(self, argument: &str, columns: &[(&str, Cell)]) -> String {
        let list = |column: fn(&str, Cell) -> String| {
            columns.iter().map(|(name, cell)| column(name, *cell)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Dialect::Sqlite => {
                let columns = list(|name, _| format!("value ->> '{name}' AS {name}"));
                // The limit that limits nothing keeps the rows apart from what is made of them: else each column would
                // unpack its row anew.
                format!("(SELECT {columns} FROM (SELECT value FROM json_each({argument}) LIMIT -1)) AS v")
            }
            Dialect::Postgres => {
                let columns = list(|name, cell| match cell {
                    Cell::Int => format!("{name} bigint"),
                    Cell::Text => format!("{name} text"),
                });
                format!("json_to_recordset({argument}::json) AS v ({columns})")
            }
        }
    }

    /// For connections that write nothing. On PostgreSQL they still ring the bell, which is a transaction of its own and
    /// need not wait for the disk.
    pub fn reader_setting(self) -> &'static str {
        match self {
            Dialect::Sqlite => "PRAGMA query_only = ON",
            Dialect::Postgres => "SET synchronous_commit = off",
        }
    }

    pub fn version(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT 'SQLite ' || sqlite_version()",
            Dialect::Postgres => "SELECT 'PostgreSQL ' || current_setting('server_version')",
        }
    }

    /// The database's clock, where it has one of its own.
    pub fn now(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"),
        }
    }

    /// Rows read for a change are held until commit; SQLite's single writer holds everything anyway.
    pub fn for_update(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        }
    }

    /// As `for_update`, leaving out what somebody else holds just now.
    pub fn for_update_of_free(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE SKIP LOCKED",
        }
    }

    pub fn for_share(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR SHARE",
        }
    }

    /// Makes whoever comes with the same idempotency key wait for the commit; SQLite's single writer has none to wait for.
    pub fn hold_key(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some("SELECT pg_advisory_xact_lock(hashtextextended($1, $2))"),
        }
    }

    /// The sequence number after which this transaction's events come, and the database's own time.
    ///
    /// SQLite has one writer at a time: the last number is enough. On PostgreSQL transactions commit in any order, so
    /// a number is (transaction id, place within it), and `horizon` keeps readers below every transaction under way.
    pub fn sequence_base(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT coalesce(max(seq), 0) AS base, CAST(NULL AS INTEGER) AS now FROM events",
            Dialect::Postgres => {
                "SELECT ((pg_current_xact_id()::text::bigint + xid_offset) << 12) - 1 AS base, \
                 CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now FROM event_epoch"
            }
        }
    }

    /// The highest number that a reader may look at, and the highest there is: where the second is larger, somebody's
    /// transaction is still under way.
    ///
    /// On PostgreSQL: below the lowest transaction under way *in this database*. The snapshot's `xmax` is taken before
    /// the activity is looked at, so a transaction below it either shows there or has ended and is visible to the next
    /// statement. (The snapshot's own `xmin` would not do: it waits for every other database of the server too.)
    /// Activity shows 32 bits of a transaction id; its distance below `xmax` is what counts.
    pub fn horizon(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT coalesce(max(seq), 0) AS horizon, coalesce(max(seq), 0) AS newest FROM events",
            Dialect::Postgres => {
                "WITH top AS (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next_xid), \
                 open AS (SELECT mod(next_xid - backend_xid::text::bigint + 4294967296, 4294967296) AS below \
                          FROM pg_stat_activity, top WHERE datname = current_database() AND backend_xid IS NOT NULL) \
                 SELECT ((next_xid - (SELECT coalesce(max(below), 0) FROM open WHERE below < 2147483648) + xid_offset) << 12) - 1 \
                 AS horizon, (SELECT coalesce(max(seq), 0) FROM events) AS newest FROM top, event_epoch"
            }
        }
    }
}
