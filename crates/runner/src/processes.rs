//! The processes of this machine, as `/proc` tells: who descends from whom, and what they take.

use std::collections::BTreeMap;
use std::fs;

#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// In ticks since boot.
    pub start: u64,
    pub resident_bytes: u64,
    state: char,
}

impl Process {
    pub fn read(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may contain some itself.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Process {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            start: number(19)?,
            resident_bytes: number(21)? * 4096,
            state: fields.first()?.chars().next()?,
        })
    }

    pub fn ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::read).collect()
}

/// A process and all that descend from it.
pub fn tree(root: i32) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    let mut tree = vec![];
    for process in all() {
        if process.pid == root {
            tree.push(process);
        } else {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut next = 0;
    while next < tree.len() {
        tree.extend(children.remove(&tree[next].pid).unwrap_or_default());
        next += 1;
    }
    tree
}

/// The processes that were started with this variable in their environment.
pub fn marked(variable: &str) -> Vec<i32> {
    let carries = |process: &Process| {
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    all().iter().filter(|process| carries(process)).map(|process| process.pid).collect()
}
