//! How a job is asked to end.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::replace::replace;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Terraform finishes what it has begun; killed after the grace period.
    Interrupt,
    /// At once, and with it everything it started.
    Kill,
}

impl Stop {
    fn word(self) -> &'static str {
        match self {
            Stop::Interrupt => "interrupt",
            Stop::Kill => "kill",
        }
    }

    pub(crate) fn read(path: &Path) -> Option<Stop> {
        let word = fs::read_to_string(path).ok()?;
        [Stop::Interrupt, Stop::Kill].into_iter().find(|stop| stop.word() == word.trim())
    }

    /// A kill is never taken back to an interrupt.
    pub(crate) fn write(self, path: &Path) -> Result<(), Error> {
        if Stop::read(path) >= Some(self) {
            return Ok(());
        }
        replace(path, self.word().as_bytes()).map_err(Error::file("write", path))
    }
}
