//! A supervised job as the runner sees it: started here, or found again after the runner was killed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use model::JobId;
use model::job::{Assignment, JobReport};

use crate::error::Error;
use crate::identity::Identity;
use crate::lease::Lease;
use crate::obituary;
use crate::progress::{Kind, Progress, Stage};
use crate::settings::Settings;
use crate::stop::Stop;
use crate::supervise::Handed;
use crate::workspace::Workspace;

#[derive(Debug)]
pub struct Supervised {
    workspace: Workspace,
    /// Where this very process started it: noticed when it ends, so that it does not stay a zombie.
    child: Option<Child>,
    /// How far its progress was read, and whether it was applying there.
    applying: (u64, bool),
}

impl Supervised {
    /// Starts the supervisor of a prepared workspace. The secrets go to it by its standard input alone.
    pub fn start(workspace: Workspace, secrets: &BTreeMap<String, String>) -> Result<Supervised, Error> {
        let settings = workspace.read_settings()?;
        let mut child = spawn(&workspace, &settings)
            .map_err(|source| Error::Start { program: settings.program.clone(), source })?;
        let handed = hand_over(&workspace, &mut child, secrets);
        let supervised = Supervised { workspace, child: Some(child), applying: (0, false) };
        // A supervisor that was not handed everything ends without having begun.
        handed.map_err(Error::file("hand the secrets over to the supervisor of", supervised.workspace.folder()))?;
        Ok(supervised)
    }

    /// All jobs below a root, those that run and those that ended while nobody looked. For a runner that begins: it must not
    /// be preparing another meanwhile.
    pub fn find_all(root: &Path) -> Result<Vec<Supervised>, Error> {
        let found = Workspace::all(root)?;
        Ok(found.into_iter().map(|workspace| Supervised { workspace, child: None, applying: (0, false) }).collect())
    }

    /// The job of this folder.
    pub fn at(folder: &Path) -> Supervised {
        Supervised { workspace: Workspace::at(folder), child: None, applying: (0, false) }
    }

    pub fn job(&self) -> Option<JobId> {
        self.workspace.job()
    }

    pub fn assignment(&self) -> Result<Assignment, Error> {
        self.workspace.read_assignment()
    }

    pub fn folder(&self) -> &Path {
        self.workspace.folder()
    }

    pub fn alive(&mut self) -> bool {
        if let Some(child) = &mut self.child {
            // Only so that it is noticed; whether it lives is told by its identity.
            let _ = child.try_wait();
        }
        Identity::read(&self.workspace.supervisor()).is_some_and(|supervisor| supervisor.alive())
    }

    pub fn renew(&self, lease: Lease) -> Result<(), Error> {
        lease.write(&self.workspace.lease())
    }

    pub fn stop(&self, how: Stop) -> Result<(), Error> {
        how.write(&self.workspace.stop())
    }

    /// So much of the log from this byte on, as far as it is written.
    pub fn log(&self, from: u64, most: usize) -> Result<Vec<u8>, Error> {
        let path = self.workspace.spool();
        let mut bytes = vec![];
        let read = File::open(&path).and_then(|mut spool| {
            spool.seek(SeekFrom::Start(from))?;
            spool.take(most as u64).read_to_end(&mut bytes)
        });
        match read {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(vec![]),
            Err(problem) => Err(Error::file("read", &path)(problem)),
            Ok(_) => Ok(bytes),
        }
    }

    pub fn log_length(&self) -> u64 {
        fs::metadata(self.workspace.spool()).map_or(0, |spool| spool.len())
    }

    /// The progress from this byte of its file on, and where to go on the next time.
    pub fn progress(&self, from: u64) -> Result<(Vec<Progress>, u64), Error> {
        let path = self.workspace.progress();
        Progress::read(&path, from).map_err(Error::file("read", &path))
    }

    /// Which good state is the last: another one after each that is written.
    pub fn good_state_mark(&self) -> Option<(u64, i64, i64)> {
        let found = fs::metadata(self.workspace.state()).ok()?;
        Some((found.ino(), found.ctime(), found.ctime_nsec()))
    }

    /// Whether Terraform is changing things just now.
    pub fn is_applying(&mut self) -> bool {
        let (from, mut applying) = self.applying;
        if let Ok((news, until)) = self.progress(from) {
            for progress in news.iter().filter(|progress| progress.step == Stage::Apply) {
                match progress.kind {
                    Kind::Started => applying = true,
                    Kind::Finished => applying = false,
                    Kind::Planned | Kind::Resource => {}
                }
            }
            self.applying = (until, applying);
        }
        applying
    }

    /// The last good state, if there is one beyond what the job was given.
    pub fn good_state(&self) -> Result<Option<String>, Error> {
        let path = self.workspace.state();
        match fs::read_to_string(&path) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
            state => state.map(Some).map_err(Error::file("read", &path)),
        }
    }

    /// How the job ended; none while it runs. A supervisor that died without a word leaves what can honestly be said, and
    /// nothing of its job is alive when this is told.
    pub fn report(&mut self) -> Result<Option<JobReport>, Error> {
        let alive = self.alive();
        match obituary::written(&self.workspace)? {
            // The report is the last thing it writes, but it is told only when it is gone.
            Some(_) if alive => Ok(None),
            Some(report) => Ok(Some(report)),
            None if alive => Ok(None),
            None => obituary::write(&self.workspace).map(Some),
        }
    }

    /// Whether its report is written: then it is gone soon.
    pub fn is_ending(&self) -> bool {
        self.workspace.report().exists()
    }

    /// Removes the workspace of a job that has ended, and whatever may be left of its processes.
    pub fn remove(&mut self) -> Result<(), Error> {
        obituary::bury(&self.workspace)?;
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
        let folder = self.workspace.folder();
        fs::remove_dir_all(folder).map_err(Error::file("remove", folder))
    }
}

#[expect(clippy::disallowed_methods, reason = "only the runner starts processes, and this is where")]
fn spawn(workspace: &Workspace, settings: &Settings) -> io::Result<Child> {
    let complaints = File::options().append(true).create(true).mode(0o600).open(workspace.supervisor_log())?;
    Command::new(&settings.program)
        .args(&settings.arguments)
        .arg(workspace.folder())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(complaints)
        .spawn()
}

/// Its identity is on disk before it gets what it waits for: whatever has begun can be found again.
fn hand_over(workspace: &Workspace, child: &mut Child, secrets: &BTreeMap<String, String>) -> io::Result<()> {
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let identity = Identity::of(pid).ok_or(io::ErrorKind::NotFound)?;
    identity.write(&workspace.supervisor())?;
    let handed = serde_json::to_vec(&Handed { secrets: secrets.clone() })?;
    child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?.write_all(&handed)
}
