//! A job's memory: a control group where one can be made, else the sum over its processes, looked at every second.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::processes;

const MOMENT: Duration = Duration::from_millis(10);

pub struct Memory {
    limit: u64,
    group: Option<Group>,
}

/// A control group of this job alone.
struct Group {
    folder: PathBuf,
    /// Where the kernel counts what it killed for want of memory.
    events: &'static str,
    peak: &'static str,
}

impl Memory {
    pub fn limited(workspace: &Path, limit: u64) -> Memory {
        let name = group_name(workspace);
        let group = parents().into_iter().find_map(|parent| Group::make(&parent, &name, limit).ok());
        Memory { limit, group }
    }

    pub fn take_in(&self, pid: i32) -> io::Result<()> {
        match &self.group {
            Some(group) => fs::write(group.folder.join("cgroup.procs"), pid.to_string()),
            None => Ok(()),
        }
    }

    /// How much was taken, if that was more than may be.
    pub fn exceeded(&self, first: i32) -> Option<u64> {
        match &self.group {
            Some(group) => group.killed().then(|| group.peak().max(self.limit)),
            None => {
                let used = processes::tree(first).iter().map(|process| process.resident_bytes).sum();
                (used > self.limit).then_some(used)
            }
        }
    }

    /// When all its processes are gone.
    pub fn release(&self) {
        if let Some(group) = &self.group {
            remove(&group.folder);
        }
    }
}

/// A process that has just ended still counts for a moment.
fn remove(folder: &Path) {
    for _ in 0..50 {
        match fs::remove_dir(folder) {
            Err(problem) if problem.kind() == io::ErrorKind::ResourceBusy => thread::park_timeout(MOMENT),
            // Gone, or not ours to remove: an empty group costs nothing and is found again by its name.
            _ => return,
        }
    }
}

/// Removes what a supervisor that was killed could not.
pub fn release(workspace: &Path) {
    let name = group_name(workspace);
    for parent in parents() {
        remove(&parent.folder.join(&name));
    }
}

struct Parent {
    folder: PathBuf,
    unified: bool,
}

impl Group {
    fn make(parent: &Parent, name: &str, limit: u64) -> io::Result<Group> {
        let folder = parent.folder.join(name);
        if parent.unified {
            // Already so where groups are delegated; elsewhere it may be forbidden.
            let _ = fs::write(parent.folder.join("cgroup.subtree_control"), "+memory");
        }
        match fs::create_dir(&folder) {
            Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => return Err(problem),
            _ => {}
        }
        let (file, events, peak) = match parent.unified {
            true => ("memory.max", "memory.events", "memory.peak"),
            false => ("memory.limit_in_bytes", "memory.oom_control", "memory.max_usage_in_bytes"),
        };
        let set = fs::metadata(folder.join(file)).and_then(|_| fs::write(folder.join(file), limit.to_string()));
        if let Err(problem) = set {
            let _ = fs::remove_dir(&folder);
            return Err(problem);
        }
        if parent.unified {
            // Swapping would only draw it out.
            let _ = fs::write(folder.join("memory.swap.max"), "0");
            // All of it or nothing: a module should not go on without one of its processes.
            let _ = fs::write(folder.join("memory.oom.group"), "1");
        }
        Ok(Group { folder, events, peak })
    }

    fn killed(&self) -> bool {
        let events = fs::read_to_string(self.folder.join(self.events)).unwrap_or_default();
        let count = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.is_some_and(|count| count.trim() != "0")
    }

    fn peak(&self) -> u64 {
        let peak = fs::read_to_string(self.folder.join(self.peak)).unwrap_or_default();
        peak.trim().parse().unwrap_or(0)
    }
}

/// The groups that this process is in, where memory can be limited below.
fn parents() -> Vec<Parent> {
    let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted = |kind: &str, option: &str| {
        let found = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|fields| {
            fields.get(2) == Some(&kind)
                && (option.is_empty() || fields.get(3).is_some_and(|options| options.split(',').any(|o| o == option)))
        });
        found.and_then(|fields| fields.get(1).map(PathBuf::from))
    };
    let mut parents = vec![];
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            parents.extend(mounted("cgroup2", "").map(|mount| Parent { folder: mount.join(path), unified: true }));
        } else if controllers.split(',').any(|controller| controller == "memory") {
            parents
                .extend(mounted("cgroup", "memory").map(|mount| Parent { folder: mount.join(path), unified: false }));
        }
    }
    parents
}

/// Found again by whoever cleans up, and another's nowhere.
fn group_name(workspace: &Path) -> String {
    let digest = Sha256::digest(workspace.as_os_str().as_encoded_bytes());
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let job = workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!("terrane-{short}-{job}")
}
