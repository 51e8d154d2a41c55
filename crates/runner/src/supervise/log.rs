//! The job's log: redacted, then appended to the spool, with the progress lines beside it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use model::PlanSummary;
use model::redact::{Redaction, Redactor};
use model::stream::{ApplyEvent, ApplyStage};

use crate::progress::{Kind, Phase, Progress, ProgressFile, Stage};
use crate::workspace::Workspace;

/// How much of the end of an output is kept for explaining a failure.
const TAIL: usize = 64 << 10;

pub struct Log {
    pub redactor: Redactor,
    spool: Mutex<Spool>,
    progress: Mutex<ProgressFile>,
    /// The disk did not take it: told at the end, since nothing can be written down now.
    full: AtomicBool,
}

struct Spool {
    file: File,
    length: u64,
}

/// One stream of output on its way into the log.
pub struct Stream<'a> {
    log: &'a Log,
    redaction: Redaction,
    tail: Vec<u8>,
}

impl Log {
    pub fn create(workspace: &Workspace, redactor: Redactor) -> io::Result<Log> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(workspace.spool())?;
        let length = file.metadata()?.len();
        let progress = ProgressFile::create(&workspace.progress(), redactor.clone())?;
        let spool = Mutex::new(Spool { file, length });
        Ok(Log { redactor, spool, progress: Mutex::new(progress), full: AtomicBool::new(false) })
    }

    pub fn stream(&self) -> Stream<'_> {
        Stream { log: self, redaction: self.redactor.stream(), tail: vec![] }
    }

    /// A line of the supervisor's own.
    pub fn say(&self, text: &str) {
        self.append(self.redactor.text(&format!("{text}\n")).as_bytes());
    }

    pub fn step(&self, step: Stage, kind: Kind) {
        self.note(&Progress::new(self.length(), step, kind));
    }

    /// There is a plan: of so many changes, and these.
    pub fn planned(&self, plan: &PlanSummary) {
        let changes = plan.changes();
        let total = u64::try_from(changes.created + changes.updated + changes.deleted).ok();
        let planned = Progress::new(self.length(), Stage::Show, Kind::Planned);
        self.note(&Progress { total, ..planned.clone() });
        for change in &plan.changes {
            let (address, action) = (Some(change.address.clone()), Some(change.action.as_str().to_owned()));
            self.note(&Progress { address, action, ..planned.clone() });
        }
    }

    pub fn resource(&self, event: &ApplyEvent) {
        let phase = match event.stage {
            ApplyStage::Started => Phase::Started,
            ApplyStage::Completed => Phase::Completed,
            ApplyStage::Errored => Phase::Failed,
            ApplyStage::Progressed => return,
        };
        self.note(&Progress {
            phase: Some(phase),
            address: Some(event.address.clone()),
            action: Some(event.action.clone()),
            id: event.id.clone(),
            ..Progress::new(self.length(), Stage::Apply, Kind::Resource)
        });
    }

    pub fn length(&self) -> u64 {
        self.spool().length
    }

    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// On disk, up to the last byte.
    pub fn sync(&self) -> io::Result<u64> {
        let spool = self.spool();
        spool.file.sync_data()?;
        Ok(spool.length)
    }

    fn append(&self, clean: &[u8]) {
        let mut spool = self.spool();
        match spool.file.write_all(clean) {
            Ok(()) => spool.length += clean.len() as u64,
            Err(_) => {
                self.full.store(true, Ordering::Relaxed);
                // What did arrive counts: offsets must stay true.
                spool.length = spool.file.metadata().map_or(spool.length, |found| found.len());
            }
        }
    }

    fn note(&self, progress: &Progress) {
        let mut file = self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if file.write(progress).is_err() {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Stream<'_> {
    pub fn push(&mut self, bytes: &[u8]) {
        let clean = self.redaction.push(bytes);
        self.take(&clean);
    }

    /// The end of what was written, redacted.
    pub fn finish(mut self) -> String {
        let rest = self.redaction.finish();
        self.take(&rest);
        String::from_utf8_lossy(&self.tail).into_owned()
    }

    fn take(&mut self, clean: &[u8]) {
        if clean.is_empty() {
            return;
        }
        self.log.append(clean);
        self.tail.extend_from_slice(clean);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }
}
