//! What a job is doing, told as it happens: one line of JSON each, with the place in the log that it belongs to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jiff::Timestamp;
use model::job::RunProgress;
pub use model::job::Stage;
use model::redact::Redactor;
use model::stream::{ApplyEvent, ApplyStage};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Started,
    Finished,
    /// There is a plan: `total` tells of how many changes, each further line of one of them.
    Planned,
    /// Of one resource: `phase` tells what.
    Resource,
}

/// How far a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Started,
    Completed,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Where the log was then.
    pub offset: u64,
    pub at: Timestamp,
    pub step: Stage,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl Progress {
    pub(crate) fn happened(self) -> Option<ApplyEvent> {
        let stage = match self.phase? {
            Phase::Started => ApplyStage::Started,
            Phase::Completed => ApplyStage::Completed,
            Phase::Failed => ApplyStage::Errored,
        };
        Some(ApplyEvent { stage, address: self.address?, action: self.action?, id: self.id })
    }

    pub(crate) fn new(offset: u64, step: Stage, kind: Kind) -> Progress {
        let at = Timestamp::now();
        Progress { offset, at, step, kind, phase: None, address: None, action: None, id: None, total: None }
    }

    /// How far the run is after this, in a log that begins there.
    pub(crate) fn after(self, before: Option<RunProgress>, log_from: u64) -> RunProgress {
        let (done, failed, total) = before.map_or((0, 0, None), |before| (before.done, before.failed, before.total));
        let is_begun = self.kind == Kind::Resource;
        RunProgress {
            step: self.step,
            done: done + u64::from(self.phase == Some(Phase::Completed)),
            total: self.total.or(total),
            failed: failed + u64::from(self.phase == Some(Phase::Failed)),
            address: self.address.filter(|_| is_begun),
            action: self.action.filter(|_| is_begun),
            log_offset: log_from + self.offset,
            at: self.at,
        }
    }

    /// The lines from this byte on, and where to go on the next time. An unfinished line is left for then.
    pub(crate) fn read(path: &Path, from: u64) -> io::Result<(Vec<Progress>, u64)> {
        let mut file = match File::open(path) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok((vec![], from)),
            file => BufReader::new(file?),
        };
        file.seek(SeekFrom::Start(from))?;
        let (mut found, mut place, mut line) = (vec![], from, vec![]);
        while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            place += line.len() as u64;
            found.extend(serde_json::from_slice::<Progress>(&line).ok());
            line.clear();
        }
        Ok((found, place))
    }
}

/// Writes the lines, redacted.
pub(crate) struct ProgressFile {
    file: File,
    redactor: Redactor,
}

impl ProgressFile {
    pub fn create(path: &Path, redactor: Redactor) -> io::Result<ProgressFile> {
        Ok(ProgressFile { file: OpenOptions::new().append(true).create(true).mode(0o600).open(path)?, redactor })
    }

    pub fn write(&mut self, progress: &Progress) -> io::Result<()> {
        let clean = |text: &Option<String>| text.as_ref().map(|text| self.redactor.text(text));
        let progress = Progress { address: clean(&progress.address), id: clean(&progress.id), ..progress.clone() };
        let mut line = serde_json::to_vec(&progress)?;
        line.push(b'\n');
        // In one piece, so that no reader sees half of it.
        self.file.write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_as_they_are_made() {
        let line = |kind, phase, address: Option<&str>| Progress {
            phase,
            address: address.map(str::to_owned),
            ..Progress::new(10, Stage::Apply, kind)
        };
        let planned = Progress { total: Some(2), ..Progress::new(5, Stage::Show, Kind::Planned) };
        let lines = [
            planned,
            line(Kind::Started, None, None),
            line(Kind::Resource, Some(Phase::Started), Some("a")),
            line(Kind::Resource, Some(Phase::Completed), Some("a")),
            line(Kind::Resource, Some(Phase::Failed), Some("b")),
        ];
        let told = lines.into_iter().fold(None, |before, line| Some(line.after(before, 100))).unwrap();
        assert_eq!((told.step, told.done, told.total, told.failed), (Stage::Apply, 1, Some(2), 1));
        assert_eq!((told.address.as_deref(), told.log_offset), (Some("b"), 110));
    }
}
