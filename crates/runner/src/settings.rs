//! What a runner lays down for all its jobs. A supervisor reads them from its workspace: it asks nobody.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The supervisor's program, with the arguments before the folder: `terrane supervise`.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Terraform or OpenTofu, by its full path.
    pub terraform: PathBuf,
    /// Its version, as the runner found it; a run that hears another from Terraform itself reports that.
    pub terraform_version: String,
    /// Read-only folders with unpacked providers, in the layout of Terraform's filesystem mirrors.
    pub mirrors: Vec<PathBuf>,
    /// Whether what no mirror has may be downloaded, into the job's own workspace.
    pub download_providers: bool,
    /// Folders below which a module's source may be on this machine; `/` allows any.
    pub source_roots: Vec<PathBuf>,
    /// Git addresses that modules may come from, each with all below it; `*` is any.
    pub git_sources: Vec<String>,
    /// Folders of this machine that every job may see and write: for a simulated cloud, say.
    pub shared: Vec<PathBuf>,
    /// For every job, before its own: proxies, for instance.
    pub environment: BTreeMap<String, String>,
    /// Refuse a job rather than run it without isolation.
    pub require_isolation: bool,
    pub uids: UidRange,
    /// How far jobs stand back behind the control plane on the same machine.
    pub niceness: i32,
    /// Of one job.
    pub most_processes: u64,
    /// How many jobs may be busy with what a processor does at the same time; 0 is any number. Those that wait for a cloud
    /// do not count.
    pub slots: usize,
}

/// The user ids that jobs run under, one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UidRange {
    pub first: u32,
    pub count: u32,
}

impl UidRange {
    pub fn of_job(self, job: i64) -> u32 {
        let slot = job.unsigned_abs() % u64::from(self.count.max(1));
        self.first + u32::try_from(slot).unwrap_or(0)
    }

    pub fn last(self) -> u32 {
        self.first + self.count.max(1) - 1
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec!["supervise".into()],
            terraform: PathBuf::from("/usr/local/bin/terraform"),
            terraform_version: String::new(),
            mirrors: vec![],
            download_providers: true,
            source_roots: vec![],
            git_sources: vec!["*".into()],
            shared: vec![],
            environment: BTreeMap::new(),
            require_isolation: false,
            uids: UidRange { first: 200_000, count: 65_536 },
            niceness: 5,
            most_processes: 4096,
            slots: 0,
        }
    }
}
