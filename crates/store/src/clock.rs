//! Whose clock counts. On PostgreSQL the database's, for everybody: leases are compared by several machines. On SQLite the
//! process's own; tests bring theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

type Source = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Clone)]
pub struct Clock {
    source: Source,
    /// How far the database's clock is ahead of ours, in microseconds.
    ahead: Arc<AtomicI64>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock::new(Timestamp::now)
    }
}

impl Clock {
    pub fn new(source: impl Fn() -> Timestamp + Send + Sync + 'static) -> Clock {
        Clock { source: Arc::new(source), ahead: Arc::default() }
    }

    /// The time, as exactly as the database keeps it: an answer shows what a later read will show.
    pub fn now(&self) -> Timestamp {
        let ours = self.ours();
        Timestamp::from_microsecond(ours + self.ahead.load(Ordering::Relaxed)).unwrap_or((self.source)())
    }

    /// The database says that it is `theirs`.
    pub(crate) fn set(&self, theirs: i64) {
        self.ahead.store(theirs - self.ours(), Ordering::Relaxed);
    }

    fn ours(&self) -> i64 {
        (self.source)().as_microsecond()
    }
}
