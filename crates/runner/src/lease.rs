//! Until when a job is ours. Counted on the clock since boot, which no one sets and which goes on while the machine sleeps: wall
//! clocks jump, and a lease that jumps with them would let two runners apply at once.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::replace::replace;

/// Nanoseconds since the machine was booted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootTime(pub u64);

impl BootTime {
    pub fn now() -> BootTime {
        let now = clock_gettime(ClockId::Boottime);
        BootTime(now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs())
    }

    pub fn after(self, duration: Duration) -> BootTime {
        BootTime(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }

    pub fn since(self, earlier: BootTime) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// What the last renewal gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// When the renewal was sent: what was granted counts from there.
    pub from: BootTime,
    pub until: BootTime,
}

impl Lease {
    /// What a renewal that was sent then has granted.
    pub fn granted(sent: BootTime, duration: Duration) -> Lease {
        Lease { from: sent, until: sent.after(duration) }
    }

    /// Unrenewed by then, Terraform is interrupted.
    pub fn half(self) -> BootTime {
        BootTime(self.from.0 + self.until.0.saturating_sub(self.from.0) / 2)
    }

    pub(crate) fn read(path: &Path) -> Option<Lease> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(crate) fn write(self, path: &Path) -> Result<(), Error> {
        let content = serde_json::to_vec(&self).map_err(Error::content(path))?;
        replace(path, &content).map_err(Error::file("write", path))
    }
}
