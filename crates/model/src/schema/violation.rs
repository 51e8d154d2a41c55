//! What is wrong with a document, where, in words that its author can act on.

use std::{fmt, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits;

const QUOTED_CHARS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    pub path: String,
    pub expected: String,
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path, self.expected, self.found)
    }
}

impl Violation {
    pub(super) fn new(path: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Violation { path: path.into(), expected: expected.into(), found: found.into() }
    }
}

/// Violations of one document: the first ones kept, the rest counted, so that a document with a million mistakes costs no
/// more memory than one with a hundred.
pub(super) struct Report {
    keep: usize,
    kept: Vec<Violation>,
    total: usize,
}

impl Report {
    /// Keeps nothing: for a caller that asks only whether there is any.
    pub(super) fn verdict() -> Self {
        Report::keeping(0)
    }

    pub(super) fn keeping(keep: usize) -> Self {
        Report { keep, kept: Vec::new(), total: 0 }
    }

    /// Whether the first violation settles the matter.
    pub(super) fn is_verdict(&self) -> bool {
        self.keep == 0
    }

    pub(super) fn add(&mut self, violation: impl FnOnce() -> Violation) {
        self.total += 1;
        if self.kept.len() < self.keep {
            self.kept.push(violation());
        }
    }

    /// Whether a further violation would be kept and not only counted.
    pub(super) fn has_room(&self) -> bool {
        self.kept.len() < self.keep
    }

    pub(super) fn kept(&self) -> &[Violation] {
        &self.kept
    }

    pub(super) fn into_violations(mut self, root: &str) -> Vec<Violation> {
        let more = self.total - self.kept.len();
        if more > 0 {
            let expected = format!("{more} more violations to be mended too");
            let found = format!("{} in all", self.total);
            self.kept.push(Violation::new(root, expected, found));
        }
        self.kept
    }
}

/// Keeps the first violations of a schema, as `Report` does of a document.
pub(super) fn capped(violations: Vec<Violation>) -> Vec<Violation> {
    let mut report = Report::keeping(limits::VIOLATIONS);
    for violation in violations {
        report.add(|| violation);
    }
    report.into_violations("schema")
}

/// The value as compact JSON, cut short: a quotation has to fit a line, and must not cost what the value weighs.
pub(super) fn quote(value: &Value) -> String {
    let mut text = Cut(Vec::new());
    let whole = serde_json::to_writer(&mut text, value).is_ok();
    shorten(&String::from_utf8_lossy(&text.0), whole)
}

pub(super) fn quote_str(text: &str) -> String {
    let start: String = text.chars().take(QUOTED_CHARS + 1).collect();
    quote(&Value::String(start))
}

fn shorten(text: &str, whole: bool) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if whole => text.to_owned(),
        None => format!("{}…", text.trim_end_matches('\u{fffd}')),
    }
}

struct Cut(Vec<u8>);

impl io::Write for Cut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (QUOTED_CHARS * 4 + 8).saturating_sub(self.0.len());
        if room == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
