//! What time it is. Given, so that a test need not wait an hour to see an hour pass.

use std::sync::Arc;

use jiff::Timestamp;

/// Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    pub fn system() -> Clock {
        Clock(Arc::new(|| Timestamp::now().as_second()))
    }

    /// A clock of seconds since 1970.
    pub fn of(now: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    pub(crate) fn now(&self) -> i64 {
        (self.0)()
    }
}
