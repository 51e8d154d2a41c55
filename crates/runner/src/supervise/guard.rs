//! When a job is interrupted or killed, and why: a pure decision over what is known at an instant.

use std::time::Duration;

use crate::lease::{BootTime, Lease};
use crate::stop::Stop;

/// Why a job does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A person stopped it.
    Stopped,
    /// The lease was not renewed.
    Lease,
    Timeout,
    Memory {
        used: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Interrupt(Why),
    Kill(Why),
}

/// What is known at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    pub now: BootTime,
    pub began: BootTime,
    pub lease: Lease,
    pub stop: Option<Stop>,
    /// How much the job took, if that was too much.
    pub too_much_memory: Option<u64>,
    /// Since when it is interrupted, and why.
    pub interrupted: Option<(BootTime, Why)>,
    pub timeout: Duration,
    pub grace: Duration,
}

impl Facts {
    pub fn decide(&self) -> Option<Act> {
        if let Some(used) = self.too_much_memory {
            return Some(Act::Kill(Why::Memory { used }));
        }
        if self.now >= self.lease.until {
            return Some(Act::Kill(Why::Lease));
        }
        if self.stop == Some(Stop::Kill) {
            return Some(Act::Kill(Why::Stopped));
        }
        match self.interrupted {
            // Nobody waits for it but the lease: until that ends Terraform may finish in peace.
            Some((_, Why::Lease)) if self.stop.is_none() => None,
            Some((since, why)) => (self.now >= since.after(self.grace)).then_some(Act::Kill(why)),
            None if self.stop == Some(Stop::Interrupt) => Some(Act::Interrupt(Why::Stopped)),
            None if self.now >= self.lease.half() => Some(Act::Interrupt(Why::Lease)),
            None if self.now >= self.began.after(self.timeout) => Some(Act::Interrupt(Why::Timeout)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(seconds: u64) -> Facts {
        Facts {
            now: BootTime(seconds * SECOND),
            began: BootTime(0),
            lease: Lease { from: BootTime(10 * SECOND), until: BootTime(30 * SECOND) },
            stop: None,
            too_much_memory: None,
            interrupted: None,
            timeout: Duration::from_secs(1000),
            grace: Duration::from_secs(5),
        }
    }

    #[test]
    fn a_lease_interrupts_at_half_and_kills_at_its_end() {
        assert_eq!(at(19).decide(), None);
        assert_eq!(at(20).decide(), Some(Act::Interrupt(Why::Lease)));
        let interrupted = |seconds| Facts { interrupted: Some((BootTime(20 * SECOND), Why::Lease)), ..at(seconds) };
        assert_eq!(interrupted(29).decide(), None, "the grace period is the rest of the lease");
        assert_eq!(interrupted(30).decide(), Some(Act::Kill(Why::Lease)));
    }

    #[test]
    fn a_stop_interrupts_once_and_kills_after_the_grace_period() {
        let asked = Facts { stop: Some(Stop::Interrupt), ..at(11) };
        assert_eq!(asked.decide(), Some(Act::Interrupt(Why::Stopped)));
        let since = Some((BootTime(11 * SECOND), Why::Stopped));
        assert_eq!(Facts { interrupted: since, now: BootTime(15 * SECOND), ..asked }.decide(), None);
        let later = Facts { interrupted: since, now: BootTime(16 * SECOND), ..asked };
        assert_eq!(later.decide(), Some(Act::Kill(Why::Stopped)));
        assert_eq!(Facts { stop: Some(Stop::Kill), ..at(11) }.decide(), Some(Act::Kill(Why::Stopped)));
    }

    #[test]
    fn too_long_interrupts_and_too_much_kills() {
        let facts = Facts { timeout: Duration::from_secs(12), ..at(12) };
        assert_eq!(facts.decide(), Some(Act::Interrupt(Why::Timeout)));
        let facts = Facts { too_much_memory: Some(7), ..facts };
        assert_eq!(facts.decide(), Some(Act::Kill(Why::Memory { used: 7 })));
    }
}
