//! What came of it.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub url: String,
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub passed: bool,
    /// What was seen, and where it did not pass, what should have been.
    pub explanation: String,
}

impl Report {
    pub(super) fn new(url: &str) -> Report {
        Report { url: url.to_owned(), checks: Vec::new() }
    }

    /// Enters the result of one check.
    pub(super) fn enter(&mut self, name: &'static str, result: Result<String, String>) {
        let passed = result.is_ok();
        let explanation = match result {
            Ok(explanation) | Err(explanation) => explanation,
        };
        self.checks.push(Check { name, passed, explanation });
    }

    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }

    /// The names of the checks that did not pass.
    pub fn failed(&self) -> Vec<&'static str> {
        self.checks.iter().filter(|check| !check.passed).map(|check| check.name).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            let mark = if check.passed { "ok  " } else { "FAIL" };
            writeln!(f, "{mark}  {}: {}", check.name, check.explanation)?;
        }
        let failed = self.failed().len();
        write!(f, "{} of {} checks passed", self.checks.len() - failed, self.checks.len())
    }
}
