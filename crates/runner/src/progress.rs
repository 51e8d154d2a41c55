//! What a job is doing, told as it happens: one line of JSON each, with the place in the log that it belongs to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jiff::Timestamp;
use model::redact::Redactor;
use model::stream::{ApplyEvent, ApplyStage};
use serde::{Deserialize, Serialize};

/// What a run consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The module's source is brought.
    Fetch,
    /// Providers and modules are installed.
    Init,
    Plan,
    /// The plan becomes a summary.
    Show,
    Apply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Started,
    Finished,
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
        Progress { offset, at: Timestamp::now(), step, kind, phase: None, address: None, action: None, id: None }
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
