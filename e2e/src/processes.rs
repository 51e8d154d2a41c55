//! The processes of jobs, as the machine sees them: the supervisors of one folder of workspaces, and all that is below them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    parent: u32,
    pub name: String,
    arguments: Vec<String>,
}

/// The job and what is alive of it: its supervisors, and every `terraform` below one.
#[derive(Debug, Default, Clone)]
pub struct JobProcesses {
    pub supervisors: Vec<u32>,
    pub terraforms: Vec<u32>,
}

impl JobProcesses {
    /// What is in both.
    pub fn and(&self, other: &JobProcesses) -> JobProcesses {
        let both = |these: &[u32], those: &[u32]| these.iter().copied().filter(|pid| those.contains(pid)).collect();
        JobProcesses {
            supervisors: both(&self.supervisors, &other.supervisors),
            terraforms: both(&self.terraforms, &other.terraforms),
        }
    }
}

/// By the number of the job, those whose workspaces are in this folder.
pub fn jobs_of(workspaces: &Path) -> BTreeMap<i64, JobProcesses> {
    let all: BTreeMap<u32, Process> = processes().into_iter().map(|process| (process.pid, process)).collect();
    let mut jobs = BTreeMap::<i64, JobProcesses>::new();
    for process in all.values() {
        if let Some(job) = supervised(process, workspaces) {
            jobs.entry(job).or_default().supervisors.push(process.pid);
        } else if process.name == "terraform" && !is_child_of_terraform(process, &all) {
            let mut above = process;
            // A process whose parent is gone belongs to nobody here.
            while let Some(parent) = all.get(&above.parent) {
                if let Some(job) = supervised(parent, workspaces) {
                    jobs.entry(job).or_default().terraforms.push(process.pid);
                    break;
                }
                above = parent;
            }
        }
    }
    jobs
}

/// A provider that is about to be started still has its parent's name.
fn is_child_of_terraform(process: &Process, all: &BTreeMap<u32, Process>) -> bool {
    all.get(&process.parent).is_some_and(|parent| parent.name == "terraform")
}

/// kill -9.
pub fn kill(pid: u32) {
    let mut command = Command::new("/bin/sh");
    // It may have ended by itself.
    let _ = command.args(["-c", &format!("kill -9 {pid}")]).stderr(Stdio::null()).status();
}

fn supervised(process: &Process, workspaces: &Path) -> Option<i64> {
    let [.., verb, folder] = &process.arguments[..] else { return None };
    let name = Path::new(folder).strip_prefix(workspaces).ok().filter(|_| verb == "supervise")?;
    name.to_str()?.strip_prefix("job-")?.parse().ok()
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("Linux lists its processes").flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// None where it has ended meanwhile.
fn read(pid: u32) -> Option<Process> {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let arguments = arguments.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let arguments = arguments.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets, and may hold anything.
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    (!is_dead).then(|| Process { pid, parent, name: name.to_owned(), arguments })
}
