//! The supervisor of one job: a process of its own, in a session of its own, that needs nobody. It gets the secrets on its standard
//! input, runs the steps (`run.rs`) in a box (`cage.rs`) beside a watch (`watch.rs`), and leaves a report. If it dies, the box dies
//! with it.

mod cage;
mod copy;
mod diagnostic;
mod events;
mod explained;
mod fetch;
mod guard;
mod installed;
mod job;
mod log;
pub(crate) mod memory;
mod report;
mod room;
mod run;
mod terraform;
mod turn;
mod watch;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use model::job::{JobEnd, JobReport};
use model::plugin::Step;
use model::redact::Redactor;
use model::{Class, Failure};
use nix::unistd::{close, setsid};
use serde::{Deserialize, Serialize};

use self::job::{Job, Trouble};
use self::log::Log;
use self::room::Room;
use self::run::Found;
use self::turn::Turn;
use self::watch::Watch;
use crate::beneath::Beneath;
use crate::error::Error;
use crate::lease::Lease;
use crate::progress::Stage;
use crate::replace::replace;
use crate::workspace::{Workspace, module_root};

pub(crate) use self::report::uncertain_with_suspects;
pub(crate) use self::room::ISOLATED;
pub(crate) use self::room::can_isolate;

/// What the runner hands over on the standard input, and nowhere else.
#[derive(Serialize, Deserialize)]
pub(crate) struct Handed {
    pub secrets: BTreeMap<String, String>,
}

/// `supervise FOLDER`: carries out the job of a workspace, and returns when its report is written.
pub fn supervise(folder: &Path) -> ExitCode {
    match begin(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("the supervisor of {}: {problem}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn begin(folder: &Path) -> Result<(), Error> {
    close_strays();
    // Neither a terminal's interrupt nor the end of the runner's session reaches it. It fails where it is so already.
    let _ = setsid();
    let workspace = Workspace::at(folder);
    let Some(handed) = take_handed().map_err(Error::file("be handed the secrets of", folder))? else {
        // The runner died before it had handed over everything: nothing has begun.
        return Ok(());
    };
    let assignment = workspace.read_assignment()?;
    let settings = workspace.read_settings()?;
    let lease = Lease::read(&workspace.lease())
        .ok_or_else(|| Error::file("read", &workspace.lease())(io::ErrorKind::InvalidData.into()))?;
    let redactor = Redactor::new(handed.secrets.values().map(String::as_str));
    let log = Log::create(&workspace, redactor).map_err(Error::file("write to", &workspace.spool()))?;
    if assignment.log_from > 0 {
        log.say("\nThe runner that had this job is not heard of any more; another begins it anew.\n");
    }
    let watch = Watch::new(&workspace, assignment.limits, lease).map_err(Error::file("watch", folder))?;
    let work = Beneath::open(&workspace.work()).map_err(Error::file("open", &workspace.work()))?;
    let report = match (Room::open(&workspace, &assignment, &settings, &work), module_root(&assignment.work)) {
        (Err(why), _) => refused(&log, Failure::new(Class::Installation, Step::Validate, why)),
        (Ok(room), None) => {
            room.clear();
            let message = "The module's path leads out of its repository.";
            refused(&log, Failure::new(Class::InvalidConfig, Step::Validate, message))
        }
        (Ok(room), Some(root)) => {
            let turn = Turn::among(&workspace.slots(), settings.slots);
            let job = Job {
                workspace: &workspace,
                settings: &settings,
                assignment: &assignment,
                secrets: &handed.secrets,
                log: &log,
                cage: &room.cage,
                watch: &watch,
                memory: &room.memory,
                work: &work,
                turn: &turn,
                root,
            };
            carry_out(&job, &room)
        }
    };
    let content = serde_json::to_vec(&report).map_err(Error::content(&workspace.report()))?;
    replace(&workspace.report(), &content).map_err(Error::file("write", &workspace.report()))
}

fn carry_out(job: &Job<'_>, room: &Room) -> JobReport {
    let mut found = Found::default();
    job.watch.look(job.cage, job.memory);
    let ran = thread::scope(|scope| {
        scope.spawn(|| job.watch.keep(job.cage, job.memory, job.turn));
        let ran = run::run(job, &mut found);
        let too_much = job.memory.exceeded(job.cage.first());
        job.cage.kill();
        job.watch.copy_last_state();
        job.watch.end();
        (ran, too_much)
    });
    room.clear();
    let stage = found.stage.unwrap_or(Stage::Fetch);
    let end = match ran {
        (Ok(end), None) => end,
        (Ok(end), Some(_)) => {
            job.log.say("A process of the job was killed because its memory limit was reached.");
            end
        }
        (Err(Trouble::Failed(_)), Some(used)) => explained::of_halt(job, stage, guard::Why::Memory { used }, true),
        (Err(Trouble::Failed(failure)), None) => JobEnd::Failed { failure },
        (Err(Trouble::Halted), _) => {
            let why = job.watch.why().unwrap_or(guard::Why::Stopped);
            explained::of_halt(job, stage, why, job.watch.was_killed())
        }
    };
    match &end {
        JobEnd::Cancelled => job.log.say("The job was stopped."),
        JobEnd::Failed { failure } => job.log.say(&format!("Failed: {}", failure.message)),
        JobEnd::Succeeded | JobEnd::AwaitsApproval => {}
    }
    let end = if job.log.is_full() { out_of_disk(job, stage, end) } else { end };
    // The log is on disk before there is a report that says how long it is.
    let log_bytes = job.log.sync().unwrap_or_else(|_| job.log.length());
    report::report(job, end, found, &room.isolation, log_bytes)
}

fn out_of_disk(job: &Job<'_>, stage: Stage, end: JobEnd) -> JobEnd {
    match end {
        JobEnd::Failed { .. } => {
            let message = "The runner's disk is full: part of the log could not be written.";
            JobEnd::Failed { failure: job.failure(Class::Disk, stage, message) }
        }
        end => end,
    }
}

/// The report of a job that never began.
fn refused(log: &Log, failure: Failure) -> JobReport {
    log.say(&format!("Failed: {}", failure.message));
    let log_bytes = log.sync().unwrap_or_else(|_| log.length());
    JobReport {
        end: JobEnd::Failed { failure },
        changes: Default::default(),
        plan: None,
        plan_file: None,
        drift: vec![],
        outputs: BTreeMap::new(),
        suspects: vec![],
        objects: vec![],
        made: vec![],
        versions: Default::default(),
        isolation: String::new(),
        log_bytes,
    }
}

fn take_handed() -> io::Result<Option<Handed>> {
    let mut handed = vec![];
    io::stdin().read_to_end(&mut handed)?;
    Ok(serde_json::from_slice(&handed).ok())
}

/// Files that the runner had open and did not mean for us: a job would inherit them.
fn close_strays() {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for stray in numbers.into_iter().filter(|number| *number > 2) {
        // The one by which the folder was read is closed already.
        let _ = close(stray);
    }
}
