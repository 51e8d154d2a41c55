//! What goes on beside the steps: the lease, a stop, the limits, and good copies of the state. One thread, woken by what it watches
//! and once a second.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use model::job::Limits;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::{read, write};

use super::cage::Cage;
use super::guard::{Act, Facts, Why};
use super::memory::Memory;
use super::turn::Turn;
use crate::beneath::Beneath;
use crate::lease::{BootTime, Lease};
use crate::state_copy::StateCopy;
use crate::stop::Stop;
use crate::workspace::Workspace;

const SECOND: Duration = Duration::from_secs(1);
/// Where the kernel cannot tell us of writes.
const QUICKLY: Duration = Duration::from_millis(50);

pub struct Watch {
    workspace: Workspace,
    limits: Limits,
    began: BootTime,
    changes: Option<OwnedFd>,
    ended: OwnedFd,
    noted: Mutex<Noted>,
}

struct Noted {
    lease: Lease,
    weighed: BootTime,
    why: Option<(BootTime, Why)>,
    killed: bool,
    states: Option<(StateCopy, Beneath)>,
}

impl Watch {
    pub fn new(workspace: &Workspace, limits: Limits, first_lease: Lease) -> std::io::Result<Watch> {
        let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        let began = BootTime::now();
        let watch = Watch {
            workspace: workspace.clone(),
            limits,
            began,
            changes,
            ended: eventfd(0, EventfdFlags::CLOEXEC)?,
            noted: Mutex::new(Noted { lease: first_lease, weighed: began, why: None, killed: false, states: None }),
        };
        watch.add(workspace.folder(), WatchFlags::MOVED_TO);
        Ok(watch)
    }

    /// From now on every good state in this folder is copied.
    pub fn copy_states(&self, states: StateCopy, folder: Beneath) {
        self.add(&folder.handle(), WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO);
        self.noted().states = Some((states, folder));
    }

    /// The last look, when nothing writes any more.
    pub fn copy_last_state(&self) {
        if let Some((states, folder)) = &mut self.noted().states {
            // What cannot be read is not good; the copy stays what it was.
            let _ = states.look_last(folder);
        }
    }

    /// Why the job does not go on.
    pub fn why(&self) -> Option<Why> {
        self.noted().why.map(|(_, why)| why)
    }

    pub fn was_killed(&self) -> bool {
        self.noted().killed
    }

    pub fn end(&self) {
        // A counter cannot be full after one.
        let _ = write(&self.ended, &1u64.to_ne_bytes());
    }

    /// Until `end`.
    pub fn keep(&self, cage: &Cage, memory: &Memory, turn: &Turn) {
        while !self.wait() {
            self.look(cage, memory);
            turn.look();
        }
    }

    /// One round: once before the first step, then whenever something changes, and every second.
    pub fn look(&self, cage: &Cage, memory: &Memory) {
        let now = BootTime::now();
        let mut noted = self.noted();
        if let Some((states, folder)) = &mut noted.states {
            // Torn or gone just now: another write will come, or the last look.
            let _ = states.look(folder);
        }
        if noted.killed {
            return;
        }
        noted.lease = Lease::read(&self.workspace.lease()).unwrap_or(noted.lease);
        let due = now.since(noted.weighed) >= SECOND;
        if due {
            noted.weighed = now;
        }
        let facts = Facts {
            now,
            began: self.began,
            lease: noted.lease,
            stop: Stop::read(&self.workspace.stop()),
            too_much_memory: if due { memory.exceeded(cage.first()) } else { None },
            interrupted: noted.why,
            timeout: Duration::from_secs(self.limits.timeout_seconds),
            grace: Duration::from_secs(self.limits.grace_seconds),
        };
        match facts.decide() {
            None => {}
            Some(Act::Interrupt(why)) => {
                noted.why = Some((now, why));
                cage.interrupt();
            }
            Some(Act::Kill(why)) => {
                noted.why = noted.why.or(Some((now, why)));
                noted.killed = true;
                drop(noted);
                cage.kill();
            }
        }
    }

    fn add(&self, folder: &Path, flags: WatchFlags) {
        if let Some(changes) = &self.changes {
            let _ = inotify::add_watch(changes, folder, flags);
        }
    }

    /// True when it has ended.
    fn wait(&self) -> bool {
        let timeout = if self.changes.is_some() { SECOND } else { QUICKLY };
        let timeout = Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
        let mut waited = vec![PollFd::new(&self.ended, PollFlags::IN)];
        waited.extend(self.changes.as_ref().map(|changes| PollFd::new(changes, PollFlags::IN)));
        let _ = poll(&mut waited, Some(&timeout));
        let ended = !waited[0].revents().is_empty();
        if let Some(changes) = &self.changes {
            // What changed is looked up; that something did is enough to know.
            let mut told = [0u8; 4096];
            while read(changes, &mut told).is_ok_and(|length| length > 0) {}
        }
        ended
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
