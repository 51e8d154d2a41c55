//! Which process it is. A number alone is used again; together with when the process began, and in which life of the machine, it
//! is never mistaken for another.

use std::fs;
use std::io;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::processes::Process;
use crate::replace::replace;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub pid: i32,
    /// In ticks since boot.
    start: u64,
    boot: String,
}

impl Identity {
    pub fn of(pid: i32) -> Option<Identity> {
        let process = Process::read(pid)?;
        Some(Identity { pid, start: process.start, boot: boot()? })
    }

    pub fn read(path: &Path) -> Option<Identity> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        replace(path, &serde_json::to_vec(self)?)
    }

    /// A process that has ended and only waits to be noticed by its parent is not alive.
    pub fn alive(&self) -> bool {
        boot().is_some_and(|boot| boot == self.boot)
            && Process::read(self.pid).is_some_and(|process| process.start == self.start && !process.ended())
    }

    /// Kills this very process, and waits for its end for so many seconds at most. True when it is gone.
    pub fn kill(&self, seconds: i64) -> bool {
        // The handle is taken first and compared then: what it refers to cannot change any more.
        let Some(handle) = Pid::from_raw(self.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            return !self.alive();
        };
        if self.alive() {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
            let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
            let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout));
        }
        !self.alive()
    }

    /// Waits for its end by itself. True when it is gone.
    pub fn await_end(&self, seconds: i64) -> bool {
        if let Some(handle) = Pid::from_raw(self.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            && self.alive()
        {
            let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
            let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout));
        }
        !self.alive()
    }
}

fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}
