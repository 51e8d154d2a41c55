//! The folder of one job, `ROOT/job-ID/`, mode 0700. Runner and supervisor speak through it and in no other way.
//!
//! | file | written by | what |
//! |---|---|---|
//! | `assignment.json` | runner | the work; no secrets. Written last: a folder without it was never finished |
//! | `settings.json` | runner | what the runner lays down for all jobs |
//! | `lease` | runner | from when until when, on the clock since boot; replaced by rename |
//! | `stop` | runner | absent, `interrupt` or `kill` |
//! | `supervisor` | runner | which process it is. Written before the secrets are handed over, and nothing begins before that |
//! | `supervisor.log` | supervisor | its standard error: empty unless the supervisor itself misbehaves |
//! | `inside` | supervisor | the first process of the box: when it is gone, so is everything that the job started |
//! | `spool` | supervisor | the log, redacted, only appended to: an offset in it is an offset in the log |
//! | `progress.jsonl` | supervisor | one line per `Progress` |
//! | `creates.json` | supervisor | the addresses of what the plan would make; written before it is applied |
//! | `plan.json` | supervisor | the plan's summary, redacted |
//! | `state` | supervisor | the last good state; replaced by rename |
//! | `report.json` | supervisor | the `JobReport`; the last thing written, after the spool is on disk |
//! | `box/` | nobody | where the box's root is mounted; always empty as seen from outside |
//! | `work/` | job | the only thing that the job itself can write: `source/` with the module, `home/`, `tmp/`, the plan |
//!
//! Beside them are `ROOT/slots/`, the jobs' turns at the processors, and `ROOT/installed/`, notes of what `init` has done.
//!
//! Secrets are in none of them, but where a module itself puts one into its state, its plan or a sensitive output.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use model::JobId;
use model::job::{Assignment, Source, Work};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::beneath::downward;
use crate::error::Error;
use crate::lease::Lease;
use crate::replace::replace;
use crate::settings::Settings;

#[derive(Debug, Clone)]
pub struct Workspace {
    folder: PathBuf,
}

impl Workspace {
    /// Makes the folder of a job, ready for `Supervised::start`.
    pub fn prepare(
        root: &Path,
        assignment: &Assignment,
        settings: &Settings,
        lease: Lease,
    ) -> Result<Workspace, Error> {
        let workspace = Workspace { folder: root.join(format!("job-{}", assignment.job)) };
        let folder = workspace.folder();
        DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(Error::file("make", root))?;
        make(folder).map_err(|problem| match problem.kind() {
            io::ErrorKind::AlreadyExists => Error::Occupied(folder.to_owned()),
            _ => Error::file("make", folder)(problem),
        })?;
        for folder in [workspace.work(), workspace.mount_point()] {
            make(&folder).map_err(Error::file("make", &folder))?;
        }
        lease.write(&workspace.lease())?;
        workspace.write(&workspace.settings(), settings)?;
        workspace.write(&workspace.assignment(), assignment)?;
        Ok(workspace)
    }

    /// The workspace that is there.
    pub fn at(folder: &Path) -> Workspace {
        Workspace { folder: folder.to_owned() }
    }

    /// All workspaces below a root. What a runner was killed over while it prepared it is removed: nothing has begun there.
    pub(crate) fn all(root: &Path) -> Result<Vec<Workspace>, Error> {
        let entries = match fs::read_dir(root) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(Error::file("list", root))?,
        };
        let folders = entries.flatten().map(|entry| Workspace::at(&entry.path()));
        let mut found = vec![];
        for workspace in folders.filter(|workspace| workspace.job().is_some()) {
            if workspace.assignment().exists() {
                found.push(workspace);
            } else {
                let folder = workspace.folder();
                fs::remove_dir_all(folder).map_err(Error::file("remove", folder))?;
            }
        }
        Ok(found)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn job(&self) -> Option<JobId> {
        self.folder.file_name()?.to_str()?.strip_prefix("job-")?.parse().ok().map(JobId)
    }

    pub fn read_assignment(&self) -> Result<Assignment, Error> {
        read(&self.assignment())
    }

    pub(crate) fn read_settings(&self) -> Result<Settings, Error> {
        read(&self.settings())
    }

    pub(crate) fn write_creates(&self, creates: &[String]) -> Result<(), Error> {
        self.write(&self.creates(), &creates)
    }

    /// None where nothing was about to be applied.
    pub(crate) fn read_creates(&self) -> Result<Vec<String>, Error> {
        let path = self.creates();
        if path.exists() { read(&path) } else { Ok(vec![]) }
    }

    fn write(&self, path: &Path, value: &impl Serialize) -> Result<(), Error> {
        let content = serde_json::to_vec(value).map_err(Error::content(path))?;
        replace(path, &content).map_err(Error::file("write", path))
    }

    fn assignment(&self) -> PathBuf {
        self.folder.join("assignment.json")
    }

    fn settings(&self) -> PathBuf {
        self.folder.join("settings.json")
    }

    pub(crate) fn lease(&self) -> PathBuf {
        self.folder.join("lease")
    }

    pub(crate) fn stop(&self) -> PathBuf {
        self.folder.join("stop")
    }

    pub(crate) fn supervisor(&self) -> PathBuf {
        self.folder.join("supervisor")
    }

    pub(crate) fn supervisor_log(&self) -> PathBuf {
        self.folder.join("supervisor.log")
    }

    pub(crate) fn inside(&self) -> PathBuf {
        self.folder.join("inside")
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.folder.join("spool")
    }

    pub(crate) fn progress(&self) -> PathBuf {
        self.folder.join("progress.jsonl")
    }

    pub(crate) fn creates(&self) -> PathBuf {
        self.folder.join("creates.json")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.folder.join("plan.json")
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.folder.join("report.json")
    }

    /// What all jobs of a runner share: their turns at the processors.
    pub(crate) fn slots(&self) -> PathBuf {
        self.folder.with_file_name("slots")
    }

    pub(crate) fn mount_point(&self) -> PathBuf {
        self.folder.join("box")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// In the environment of every process of the job that is not in a box: how they are found again.
    pub(crate) fn mark(&self) -> (String, String) {
        ("TERRANE_WORKSPACE".into(), self.folder.display().to_string())
    }
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let content = fs::read(path).map_err(Error::file("read", path))?;
    serde_json::from_slice(&content).map_err(Error::content(path))
}

/// Where in `work/` the root module is; none if its path leads elsewhere.
pub(crate) fn module_root(work: &Work) -> Option<PathBuf> {
    let Work::Terraform(terraform) = work;
    let path = match &terraform.source {
        Source::Git { path, .. } => downward(path)?,
        Source::Folder { .. } => PathBuf::new(),
    };
    Some(Path::new("source").join(path))
}
