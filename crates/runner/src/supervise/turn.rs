//! Turns at the processors. A runner may have many jobs at once, and most of them wait for a cloud; but what Terraform does before
//! (install, plan, begin to apply) is work for a processor, and too many at it hinder each other. So a job takes one of a few
//! slots for that, and gives it back when its apply has begun, or when it has had it for long: then it waits for something else.
//!
//! A slot is a lock on a file: whoever is killed gives it back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often slots are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Who has had its slot for so long does not work, or will not be done soon.
const LONGEST: Duration = Duration::from_secs(20);

pub struct Turn {
    slots: Vec<PathBuf>,
    held: Mutex<Option<(File, Instant)>>,
}

impl Turn {
    /// Among `count` slots in this folder; none is none too few.
    pub fn among(folder: &Path, count: usize) -> Turn {
        // Where they cannot be had: rather too many at once than none.
        let is_there = count > 0 && fs::create_dir_all(folder).is_ok();
        let slots = (0..count).filter(|_| is_there).map(|number| folder.join(number.to_string())).collect();
        Turn { slots, held: Mutex::default() }
    }

    /// Wait for a slot, unless the job is to end meanwhile.
    #[expect(clippy::disallowed_methods, reason = "nothing else runs on this thread, and other processes ring no bell")]
    pub fn take(&self, is_to_end: impl Fn() -> bool) {
        while !self.slots.is_empty() && !is_to_end() {
            // Everybody begins elsewhere.
            let first = std::process::id() as usize % self.slots.len();
            let mut free =
                (0..self.slots.len()).filter_map(|number| lock(&self.slots[(first + number) % self.slots.len()]));
            match free.next() {
                Some(Ok(slot)) => return *self.held() = Some((slot, Instant::now())),
                Some(Err(())) => return,
                None => thread::sleep(LOOK),
            }
        }
    }

    pub fn give_back(&self) {
        self.held().take();
    }

    /// Give it back if it was had for long.
    pub fn look(&self) {
        self.held().take_if(|(_, since)| since.elapsed() >= LONGEST);
    }

    fn held(&self) -> MutexGuard<'_, Option<(File, Instant)>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// None where somebody has it; an error where nobody can.
fn lock(slot: &Path) -> Option<Result<File, ()>> {
    let Ok(file) = File::options().write(true).create(true).truncate(false).open(slot) else { return Some(Err(())) };
    match file.try_lock() {
        Ok(()) => Some(Ok(file)),
        Err(fs::TryLockError::WouldBlock) => None,
        Err(fs::TryLockError::Error(_)) => Some(Err(())),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_slot_is_one_jobs_until_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let turns: Vec<Turn> = (0..3).map(|_| Turn::among(folder.path(), 2)).collect();
        for turn in &turns[..2] {
            turn.take(|| false);
            assert!(turn.held().is_some());
        }
        let looks = Cell::new(0);
        turns[2].take(|| looks.replace(looks.get() + 1) > 2);
        assert!(turns[2].held().is_none(), "it ended without a turn");
        turns[0].look();
        assert!(turns[0].held().is_some(), "it has not had it for long");
        turns[0].give_back();
        turns[2].take(|| false);
        assert!(turns[2].held().is_some());
    }

    #[test]
    fn where_there_are_no_slots_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        Turn::among(folder.path(), 0).take(|| false);
        fs::write(folder.path().join("file"), "").unwrap();
        Turn::among(&folder.path().join("file/below"), 2).take(|| false);
    }
}
