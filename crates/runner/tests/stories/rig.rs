//! A runner's root in a temporary folder, and what the stories do with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::job::{Approval, Assignment, Goal, JobEnd, JobReport, Limits, RUNNER_CONTRACT, Source, Terraform, Work};
use model::{Failure, JobId, OperationId, ResourceId};
use runner::{BootTime, Lease, Settings, Supervised, Workspace};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

pub const NOBODY: [i32; 0] = [];

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Rig {
    pub folder: TempDir,
    pub settings: Settings,
}

/// Each job has a user of its own, so that stories told at once do not meet.
static NEXT_JOB: AtomicI64 = AtomicI64::new(1);

impl Rig {
    pub fn new() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            program: env!("CARGO_BIN_EXE_supervise").into(),
            arguments: vec![],
            terraform: which("terraform"),
            source_roots: vec![folder.path().to_owned()],
            download_providers: false,
            require_isolation: true,
            ..Settings::default()
        };
        Rig { folder, settings }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("jobs")
    }

    pub fn module(&self, name: &str, main: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("main.tf"), main).unwrap();
        folder
    }

    pub fn assignment(&self, goal: Goal, module: &Path) -> Assignment {
        let job = NEXT_JOB.fetch_add(1, Ordering::SeqCst);
        Assignment {
            contract: RUNNER_CONTRACT.into(),
            job: JobId(job),
            fencing_token: 1,
            tenant: "default".into(),
            resource: ResourceId(1),
            resource_name: "db".into(),
            type_name: "database".into(),
            operation: OperationId(1),
            trace_id: String::new(),
            log_from: 0,
            work: Work::Terraform(Terraform {
                goal,
                source: Source::Folder { path: module.display().to_string() },
                variables: Map::new(),
                environment: BTreeMap::new(),
                state: None,
                plan: None,
                import: None,
                approval: Approval::Auto,
            }),
            limits: Limits { timeout_seconds: 300, grace_seconds: 60, memory_bytes: 1 << 30 },
        }
    }

    pub fn start(&self, assignment: &Assignment) -> Supervised {
        self.start_with(assignment, &[], Duration::from_secs(600))
    }

    pub fn start_with(&self, assignment: &Assignment, secrets: &[(&str, &str)], lease: Duration) -> Supervised {
        let lease = Lease::granted(BootTime::now(), lease);
        let workspace = Workspace::prepare(&self.root(), assignment, &self.settings, lease).unwrap();
        let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Supervised::start(workspace, &secrets).unwrap()
    }

    /// A stop is asked for before the supervisor is there.
    pub fn start_stopped(&self, assignment: &Assignment) -> Supervised {
        let lease = Lease::granted(BootTime::now(), Duration::from_secs(600));
        let workspace = Workspace::prepare(&self.root(), assignment, &self.settings, lease).unwrap();
        fs::write(workspace.folder().join("stop"), "interrupt").unwrap();
        Supervised::start(workspace, &BTreeMap::new()).unwrap()
    }

    /// From start to report.
    pub fn run(&self, assignment: &Assignment) -> Ended {
        finish(self.start(assignment))
    }
}

/// A story that failed leaves no job behind: by design they would outlive it.
impl Drop for Rig {
    fn drop(&mut self) {
        for mut job in Supervised::find_all(&self.root()).into_iter().flatten() {
            let _ = job.remove();
        }
    }
}

/// A job that has ended, its workspace still there.
pub struct Ended {
    pub report: JobReport,
    pub log: String,
    pub state: Option<String>,
    pub job: Supervised,
}

pub fn finish(mut job: Supervised) -> Ended {
    let report = until("the report", || job.report().unwrap());
    let log = log_of(&job);
    assert_eq!(report.log_bytes, log.len() as u64, "{log}");
    let state = job.good_state().unwrap();
    Ended { report, log, state, job }
}

impl Ended {
    pub fn succeeded(self) -> Ended {
        assert_eq!(self.report.end, JobEnd::Succeeded, "{}", self.log);
        self
    }

    pub fn failure(&self) -> &Failure {
        match &self.report.end {
            JobEnd::Failed { failure } => failure,
            other => panic!("{other:?}\n{}", self.log),
        }
    }

    pub fn state(&self) -> Value {
        serde_json::from_str(self.state.as_deref().expect("a state")).unwrap()
    }
}

pub fn log_of(job: &Supervised) -> String {
    String::from_utf8(job.log(0, usize::MAX >> 1).unwrap()).unwrap()
}

/// Waits until the log has this text.
pub fn until_logged(job: &Supervised, text: &str) {
    until(text, || log_of(job).contains(text).then_some(()));
}

pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::park_timeout(Duration::from_millis(10));
    }
}

pub fn terraform_of(assignment: &mut Assignment) -> &mut Terraform {
    let Work::Terraform(terraform) = &mut assignment.work;
    terraform
}

pub fn variable(assignment: &mut Assignment, name: &str, value: impl Into<Value>) {
    terraform_of(assignment).variables.insert(name.into(), value.into());
}

/// The number of the process that a file of the workspace names.
pub fn pid_in(job: &Supervised, file: &str) -> i32 {
    let content = until(file, || fs::read(job.folder().join(file)).ok());
    let identity: Value = serde_json::from_slice(&content).unwrap();
    i32::try_from(identity["pid"].as_i64().unwrap()).unwrap()
}

/// All processes of the machine whose command line has this text.
pub fn processes_with(text: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let says = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    pids.filter(says).collect()
}

pub fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

pub fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// A module that does something while it is applied.
pub fn doing(command: &str) -> String {
    format!(
        "resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = {}\n  }}\n}}\n",
        json!(command)
    )
}

/// `terraform` on this machine.
#[expect(clippy::disallowed_methods, reason = "a test looks for the program as a shell would")]
fn which(program: &str) -> PathBuf {
    let searched = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&searched).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("no {program} here"))
}

/// The process of Terraform that applies.
pub fn applying(job: &Supervised) -> i32 {
    let of_job = |pid: &i32| descends(*pid, pid_in(job, "inside"));
    until("terraform", || processes_with("apply\0-input=false").into_iter().find(of_job))
}

/// It hears no interrupt any more.
pub fn freeze(job: &Supervised) {
    let pid = rustix::process::Pid::from_raw(applying(job)).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
}

fn descends(pid: i32, from: i32) -> bool {
    let mut at = pid;
    while at > 1 && at != from {
        let stat = fs::read_to_string(format!("/proc/{at}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        at = parent.unwrap_or(0);
    }
    at == from
}
