//! Counts work in place of time, so that the same document is admitted or refused on every machine.

use super::limits;
use super::violation::Violation;

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exhausted {
    Steps,
    Stack,
    Size,
    Trials,
    Depth,
}

impl Exhausted {
    pub(super) fn violation(self, path: &str) -> Violation {
        let (expected, found) = match self {
            Exhausted::Steps => (
                format!("a document that its schema can be checked on in {} steps", limits::STEPS),
                "one that takes more: it is too large for so involved a schema",
            ),
            Exhausted::Stack => (
                format!("at most {} subschemas one within another", limits::FRAMES),
                "more: it nests too deep for so involved a schema",
            ),
            Exhausted::Size => (
                format!("at most {} bytes with defaults filled in", limits::SPEC_BYTES),
                "defaults that make it larger",
            ),
            Exhausted::Trials => (
                "alternatives whose defaults can be tried in the memory allowed".to_owned(),
                "too many, one within another",
            ),
            Exhausted::Depth => {
                (format!("at most {} levels with defaults filled in", limits::SPEC_DEPTH), "defaults that nest deeper")
            }
        };
        Violation::new(path, expected, found)
    }
}

pub(super) struct Meter {
    steps: u64,
    frames: usize,
}

impl Meter {
    pub(super) fn new() -> Self {
        Meter { steps: limits::STEPS, frames: limits::FRAMES }
    }

    /// The same steps for another walk: one that was cut short has left its frames behind.
    pub(super) fn resumed(self) -> Self {
        Meter { frames: limits::FRAMES, ..self }
    }

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(steps).ok_or(Exhausted::Steps)?;
        Ok(())
    }

    /// Each successful call is undone by `leave`.
    pub(super) fn enter(&mut self) -> Result<(), Exhausted> {
        self.spend(1)?;
        self.frames = self.frames.checked_sub(1).ok_or(Exhausted::Stack)?;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.frames += 1;
    }
}
