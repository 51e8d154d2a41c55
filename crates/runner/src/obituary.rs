//! What is said of a job whose supervisor died without a word: killed, or out of memory. Nothing is made up: the log's length, the
//! last good state and the suspects are what is found in the workspace.

use std::fs;
use std::io;
use std::path::Path;

use model::job::{Goal, JobEnd, JobReport, Made, Suspect, Versions, Work};
use model::plugin::Step;
use model::stream::ApplyEvent;
use model::{Class, Failure, suspects};

use crate::beneath::Beneath;
use crate::error::Error;
use crate::identity::Identity;
use crate::processes;
use crate::progress::{Kind, Progress, Stage};
use crate::replace::replace;
use crate::settled;
use crate::state_copy::StateCopy;
use crate::supervise::{ISOLATED, memory, uncertain_with_suspects};
use crate::workspace::{Workspace, module_root};

/// Seconds to wait for a process to end: by itself, since its namespace is gone, or when it is killed.
const PATIENCE: i64 = 10;
/// Rounds of killing what is not in a box and may start another process meanwhile.
const ROUNDS: usize = 20;

/// The report that the supervisor wrote.
pub fn written(workspace: &Workspace) -> Result<Option<JobReport>, Error> {
    let path = workspace.report();
    let content = match fs::read(&path) {
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
        content => content.map_err(Error::file("read", &path))?,
    };
    serde_json::from_slice(&content).map(Some).map_err(Error::content(&path))
}

/// Makes sure that nothing of the job is alive, supervisor included.
pub fn bury(workspace: &Workspace) -> Result<(), Error> {
    let mut undead = vec![];
    for file in [workspace.supervisor(), workspace.inside()] {
        if let Some(identity) = Identity::read(&file) {
            // The first process of a box ends with its supervisor, and with it all others.
            let gone = file == workspace.inside() && identity.await_end(PATIENCE) || identity.kill(PATIENCE);
            undead.extend((!gone).then_some(identity.pid));
        }
    }
    // Out of a namespace nothing escapes; where there was none, or nobody knows, the whole machine is looked through.
    let boxed = written(workspace)?.is_some_and(|report| report.isolation == ISOLATED);
    if !boxed {
        undead.extend(kill_marked(workspace));
    }
    memory::release(workspace.folder());
    if undead.is_empty() { Ok(()) } else { Err(Error::Undead { folder: workspace.folder().to_owned(), pids: undead }) }
}

/// Kills what carries the workspace's mark, and tells what does not die of it.
fn kill_marked(workspace: &Workspace) -> Vec<i32> {
    let (name, value) = workspace.mark();
    let mark = format!("{name}={value}");
    for _ in 0..ROUNDS {
        let left = processes::marked(&mark);
        if left.is_empty() {
            return left;
        }
        for left in left.into_iter().filter_map(Identity::of) {
            left.kill(PATIENCE);
        }
    }
    processes::marked(&mark)
}

/// Buries what is left, and writes the report that the supervisor could not.
pub fn write(workspace: &Workspace) -> Result<JobReport, Error> {
    bury(workspace)?;
    // It may have written its last word while it was looked for.
    if let Some(report) = written(workspace)? {
        return Ok(report);
    }
    let report = compose(workspace)?;
    let content = serde_json::to_vec(&report).map_err(Error::content(&workspace.report()))?;
    replace(&workspace.report(), &content).map_err(Error::file("write", &workspace.report()))?;
    Ok(report)
}

fn compose(workspace: &Workspace) -> Result<JobReport, Error> {
    let assignment = workspace.read_assignment()?;
    let Work::Terraform(terraform) = &assignment.work;
    if let Some(root) = module_root(&assignment.work) {
        copy_last_state(workspace, &root, terraform.state.as_deref());
    }
    let path = workspace.progress();
    let (progress, _) = Progress::read(&path, 0).map_err(Error::file("read", &path))?;
    let stage = progress.iter().rev().find(|line| line.kind == Kind::Started).map(|line| line.step);
    let planned: Vec<Progress> = progress.iter().filter(|line| line.kind == Kind::Planned).cloned().collect();
    let happened: Vec<ApplyEvent> = progress.into_iter().filter_map(Progress::happened).collect();
    let kept = fs::read_to_string(workspace.state()).ok();
    let suspects = suspects(happened.clone(), kept.as_deref().or(terraform.state.as_deref()), false);
    let objects = settled::objects(kept.as_deref().or(terraform.state.as_deref()));
    let spool = workspace.spool();
    let log_bytes = match fs::metadata(&spool) {
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => 0,
        found => found.map_err(Error::file("read", &spool))?.len(),
    };
    let failure = Failure::new(Class::Crash, step(stage, terraform.goal), message(stage)).with_hint(
        "Nothing of the job runs any more, and the state is kept as of the last write; it can be tried again.",
    );
    Ok(JobReport {
        end: uncertain_with_suspects(JobEnd::Failed { failure }, &suspects),
        changes: settled::changes(&happened),
        plan: None,
        plan_file: None,
        drift: vec![],
        outputs: Default::default(),
        suspects: if stage == Some(Stage::Apply) { with_unheard_of(suspects, planned, &objects) } else { suspects },
        objects,
        made: settled::made(&happened),
        versions: Versions::default(),
        isolation: String::new(),
        log_bytes,
    })
}

/// What Terraform said last, its supervisor may not have heard: whatever it was about to make may have been begun too.
fn with_unheard_of(mut suspects: Vec<Suspect>, planned: Vec<Progress>, objects: &[Made]) -> Vec<Suspect> {
    for (address, action) in planned.into_iter().filter_map(|line| line.address.zip(line.action)) {
        let is_known = objects.iter().any(|object| object.address == address)
            || suspects.iter().any(|suspect| suspect.address == address);
        if !is_known && ["create", "replace"].contains(&action.as_str()) {
            suspects.push(Suspect { address, action, id: None });
        }
    }
    suspects
}

/// Terraform may have written once more after the last copy.
fn copy_last_state(workspace: &Workspace, root: &Path, given: Option<&str>) {
    let folder = Beneath::open(&workspace.work()).and_then(|work| work.folder(root));
    if let Ok(folder) = folder {
        // Torn: then the copy is what counts.
        let _ = StateCopy::new(&workspace.state(), given).look_last(&folder);
    }
}

fn message(stage: Option<Stage>) -> String {
    match stage {
        None => "The job's supervisor ended before the job had begun.".into(),
        Some(stage) => {
            let doing = match stage {
                Stage::Fetch => "while the module's source was fetched",
                Stage::Init => "while providers and modules were installed",
                Stage::Plan | Stage::Show => "while it planned",
                Stage::Apply => "while it applied",
            };
            format!("The job's supervisor was killed {doing}, and Terraform with it.")
        }
    }
}

fn step(stage: Option<Stage>, goal: Goal) -> Step {
    match (stage, goal) {
        (None | Some(Stage::Fetch | Stage::Init), _) => Step::Validate,
        (_, Goal::Observe) => Step::Observe,
        (Some(Stage::Plan | Stage::Show), _) => Step::Plan,
        (Some(Stage::Apply), Goal::Destroy) => Step::Destroy,
        (Some(Stage::Apply), _) => Step::Apply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_planned_to_be_made_and_is_nowhere_is_suspected_too() {
        let planned = |address: &str, action: &str| Progress {
            address: Some(address.into()),
            action: Some(action.into()),
            ..Progress::new(0, Stage::Show, Kind::Planned)
        };
        let suspect = |address: &str, id: Option<&str>| Suspect {
            address: address.into(),
            action: "create".into(),
            id: id.map(str::to_owned),
        };
        let counted = Progress { total: Some(4), ..Progress::new(0, Stage::Show, Kind::Planned) };
        let plan = vec![
            counted,
            planned("heard", "create"),
            planned("settled", "create"),
            planned("unheard", "create"),
            planned("gone", "delete"),
        ];
        let objects = [Made { address: "settled".into(), id: "1".into() }];
        let found = with_unheard_of(vec![suspect("heard", Some("2"))], plan, &objects);
        assert_eq!(found, [suspect("heard", Some("2")), suspect("unheard", None)]);
    }
}
