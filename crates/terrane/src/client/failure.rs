//! How a command fails: an exit code that scripts can branch on, what happened, and what to do next.

use std::fmt;
use std::io;
use std::process::ExitCode;

use super::print;

/// Exit codes, in the order of how bad they are; documented in `docs/src/command-line.md` and `terrane --help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Conflict = 4,
    Invalid = 5,
    NotAllowed = 6,
    NotReachable = 7,
    TimedOut = 8,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        ExitCode::from(code as u8)
    }
}

#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    /// One line for each thing that is wrong.
    pub details: Vec<String>,
    pub next_step: Option<String>,
    /// The reader of our output went away: nobody is there to be told.
    pub unheard: bool,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), details: vec![], next_step: None, unheard: false }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Failure::new(Code::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(Code::Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Failure::new(Code::NotFound, message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Failure::new(Code::Invalid, message)
    }

    pub fn next_step(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = Some(next_step.into());
        self
    }

    /// Say first which document or object this is about.
    pub fn about(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    pub fn tell(&self) {
        if self.unheard {
            return;
        }
        print::error(&self.message);
        for detail in &self.details {
            print::note(&format!("  {detail}"));
        }
        if let Some(next_step) = &self.next_step {
            print::note(next_step);
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        if self.unheard { ExitCode::SUCCESS } else { self.code.into() }
    }
}

/// Standard output could not be written to.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let unheard = error.kind() == io::ErrorKind::BrokenPipe;
        Failure { unheard, ..Failure::failed(format!("cannot write to standard output: {error}")) }
    }
}

/// Several things are done in one command; the rest goes on when one fails, and the worst decides the exit code.
#[derive(Default)]
pub struct Tally {
    worst: Option<Failure>,
}

impl Tally {
    /// Take note of an outcome. A server that cannot be reached, or a reader that is gone, ends the whole command.
    pub fn count(&mut self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        match outcome {
            Ok(()) => Ok(()),
            Err(failure) if failure.unheard || failure.code == Code::NotReachable => Err(failure),
            Err(failure) => {
                failure.tell();
                if self.worst.as_ref().is_none_or(|worst| worst.code < failure.code) {
                    self.worst = Some(failure);
                }
                Ok(())
            }
        }
    }

    /// The worst code; what led to it has been told already.
    pub fn worst(&self) -> Option<Code> {
        self.worst.as_ref().map(|worst| worst.code)
    }
}
