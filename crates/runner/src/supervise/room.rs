//! Where the job runs: in a box of its own if that can be had, else beside everything else, if the operator lets it.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use model::job::{Assignment, Source, Work};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use super::cage::Cage;
use super::fetch;
use super::memory::Memory;
use super::terraform;
use crate::beneath::Beneath;
use crate::identity::Identity;
use crate::settings::Settings;
use crate::wire::{Enter, HOME, Layout};
use crate::workspace::Workspace;

/// What the report says of a job that ran in a box.
pub const ISOLATED: &str = "namespaces";

pub struct Room {
    pub cage: Cage,
    pub memory: Memory,
    /// `namespaces`, or `none` and why.
    pub isolation: String,
}

impl Room {
    pub fn open(
        workspace: &Workspace,
        assignment: &Assignment,
        settings: &Settings,
        work: &Beneath,
    ) -> Result<Room, String> {
        let Work::Terraform(job) = &assignment.work;
        let uid = geteuid().is_root().then(|| settings.uids.of_job(assignment.job.0));
        // Before anything else is a thread: a process with two can have no user namespace of its own.
        let possible = if uid.is_some() { Ok(()) } else { become_root_of_own() };
        if let Some(uid) = uid {
            chown(workspace.work(), Some(uid), Some(uid))
                .map_err(|problem| format!("The workspace cannot be given to the job's user: {problem}."))?;
        }
        terraform::lay_out(work, uid, job, settings)
            .map_err(|problem| format!("The workspace cannot be written: {problem}."))?;
        let memory = Memory::limited(workspace.folder(), assignment.limits.memory_bytes);
        let enter = |layout| Enter { layout, niceness: settings.niceness, most_processes: settings.most_processes };
        let settle = |first: &Identity| {
            first.write(&workspace.inside())?;
            memory.take_in(first.pid)
        };
        let boxed = possible.and_then(|()| {
            let layout = Layout {
                mount_point: workspace.mount_point(),
                work: workspace.work(),
                read_only: read_only(settings, &job.source),
                shared: settings.shared.iter().filter(|folder| folder.is_dir()).cloned().collect(),
                uid,
            };
            Cage::open(&settings.arguments, &enter(Some(layout)), settle, PathBuf::from(HOME))
        });
        let opened = match boxed {
            Ok(cage) => Ok((cage, ISOLATED.into())),
            Err(why) if settings.require_isolation => {
                Err(format!("This runner runs jobs only in isolation, which cannot be had here: {why}."))
            }
            Err(why) => match Cage::open(&settings.arguments, &enter(None), settle, workspace.work()) {
                Ok(cage) => Ok((cage, format!("none: {why}"))),
                Err(why) => Err(format!("The job's processes cannot be started: {why}.")),
            },
        };
        match opened {
            Ok((cage, isolation)) => Ok(Room { cage, memory, isolation }),
            Err(why) => {
                memory.release();
                Err(why)
            }
        }
    }

    /// When all its processes are gone.
    pub fn clear(&self) {
        self.cage.kill();
        self.memory.release();
    }
}

/// What the job sees besides the system: providers, Terraform itself, and a repository on this machine.
fn read_only(settings: &Settings, source: &Source) -> Vec<PathBuf> {
    let mut seen: Vec<PathBuf> = settings.mirrors.iter().filter(|mirror| mirror.is_dir()).cloned().collect();
    // By the name it was given, and where that leads to.
    let terraform = [Some(settings.terraform.clone()), settings.terraform.canonicalize().ok()];
    seen.extend(terraform.into_iter().flatten().filter(|path| !path.starts_with("/usr")));
    seen.dedup();
    if let Source::Git { git, .. } = source {
        let here = fetch::on_this_machine(git).filter(|path| fetch::allowed(settings, path).is_some());
        seen.extend(here);
    }
    seen
}

/// A namespace of users in which an ordinary user may do what root does outside: mount, and have namespaces of other kinds.
fn become_root_of_own() -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|problem| format!("a user namespace: {}", problem.desc()))?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("0 {user} 1")),
        ("/proc/self/gid_map", format!("0 {group} 1")),
    ];
    maps.into_iter().try_for_each(|(file, map)| fs::write(file, map).map_err(|problem| format!("{file}: {problem}")))
}

/// Whether jobs can be kept apart on this machine; why not, where they cannot. For a runner that begins: jobs find out for themselves.
pub fn can_isolate(root: &Path, settings: &Settings) -> Result<(), String> {
    if !geteuid().is_root() {
        return match fs::read_to_string("/proc/sys/user/max_user_namespaces") {
            Ok(most) if most.trim() != "0" => Ok(()),
            _ => Err("there is neither root nor a user namespace to be had".into()),
        };
    }
    let trial = root.join("trial");
    let (mount_point, work) = (trial.join("box"), trial.join("work"));
    let uid = settings.uids.first;
    let made = [&mount_point, &work].into_iter().try_for_each(fs::create_dir_all);
    made.and_then(|()| chown(&work, Some(uid), Some(uid)))
        .map_err(|problem| format!("{}: {problem}", trial.display()))?;
    let layout = Layout { mount_point, work, read_only: vec![], shared: vec![], uid: Some(uid) };
    let enter = Enter { layout: Some(layout), niceness: settings.niceness, most_processes: settings.most_processes };
    let opened = Cage::open(&settings.arguments, &enter, |_| Ok(()), PathBuf::from(HOME)).map(|cage| cage.kill());
    let _ = fs::remove_dir_all(&trial);
    opened.map(drop)
}
