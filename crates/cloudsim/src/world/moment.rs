//! Points in time on the cloud's clock, which all processes share and which goes on when one of them dies.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    pub fn now() -> Moment {
        // A clock set before 1970 reads as 1970; there is nothing here that would mind.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment(micros(since))
    }

    pub fn after(self, delay: Duration) -> Moment {
        Moment(self.0.saturating_add(micros(delay)))
    }

    /// How long until then; no time, if it has passed.
    pub fn remaining(self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(Moment::now().0))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
