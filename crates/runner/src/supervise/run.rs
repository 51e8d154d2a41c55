//! The steps of a Terraform run, in order. A plan that changes nothing is not applied; one that needs consent ends the run; one
//! that was approved is applied byte for byte.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::job::{Goal, JobEnd, PlanFile};
use model::plugin::DriftedAttribute;
use model::stream::ApplyEvent;
use model::{Class, PlanSummary, UnreadablePlan, creates_of, drift_of};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::cage::{Ended, Output};
use super::events::Events;
use super::explained;
use super::fetch::fetch;
use super::installed::{Installed, LaidDown};
use super::job::{Job, Ran, Trouble};
use super::report::redacted;
use super::terraform::{self, PLAN};
use crate::progress::Stage;
use crate::replace::replace;
use crate::state_copy::StateCopy;

/// What is known of a run so far; kept however it ends.
#[derive(Default)]
pub struct Found {
    pub stage: Option<Stage>,
    pub commit: Option<String>,
    pub terraform: Option<String>,
    pub plan: Option<PlanSummary>,
    pub plan_file: Option<PlanFile>,
    pub drift: Vec<DriftedAttribute>,
    pub happened: Vec<ApplyEvent>,
    /// An apply was begun and did not end by itself.
    pub cut_short: bool,
}

/// What `plan -detailed-exitcode` ends with.
const NOTHING_CHANGES: Ended = Ended::Code(0);
const SOMETHING_CHANGES: Ended = Ended::Code(2);

pub fn run(job: &Job<'_>, found: &mut Found) -> Result<JobEnd, Trouble> {
    let goal = job.terraform().goal;
    found.stage = Some(Stage::Fetch);
    found.commit = job.stage(Stage::Fetch, || fetch(job))?;
    // Given back when the apply has begun, or at the end.
    job.turn.take(|| job.watch.why().is_some());
    found.stage = Some(Stage::Init);
    let installed = Installed::of(job);
    let laid_down = job.stage(Stage::Init, || install(job, installed.as_ref()))?;
    let approved = job.terraform().plan.as_ref();
    if let Some(approved) = approved {
        lay_plan(job, approved)?;
    } else {
        found.stage = Some(Stage::Plan);
        let planned = match (job.stage(Stage::Plan, || plan(job)), laid_down) {
            (Err(Trouble::Failed(_)), Some(laid_down)) => {
                // Perhaps because what was laid down does not fit any more.
                installed.iter().for_each(Installed::forget);
                laid_down.take_away(job);
                job.stage(Stage::Init, || init(job, None))?;
                job.stage(Stage::Plan, || plan(job))?
            }
            (planned, _) => planned?,
        };
        if !planned {
            found.plan = Some(PlanSummary::default());
            return Ok(JobEnd::Succeeded);
        }
    }
    found.stage = Some(Stage::Show);
    let shown = job.stage(Stage::Show, || show(job))?;
    found.terraform = shown["terraform_version"].as_str().map(str::to_owned);
    let unreadable = |problem: UnreadablePlan| job.failure(Class::Crash, Stage::Show, format!("{problem}."));
    if goal == Goal::Observe {
        found.drift = drift_of(&shown).map_err(unreadable)?;
    }
    let summary = PlanSummary::of(&shown).map_err(unreadable)?;
    let changes = summary.changes();
    job.log.planned(u64::try_from(changes.created + changes.updated + changes.deleted).unwrap_or(0));
    let asks = approved.is_none() && goal == Goal::Apply && summary.needs_approval(job.terraform().approval);
    keep_summary(job, &summary);
    found.plan = Some(summary);
    if asks {
        found.plan_file = Some(keep_plan(job)?);
        job.log.say("The plan waits for approval.");
        return Ok(JobEnd::AwaitsApproval);
    }
    if matches!(goal, Goal::Plan | Goal::Observe) {
        return Ok(JobEnd::Succeeded);
    }
    // On disk before anything is made: should nobody hear what became of it, this is what may exist.
    let written = job.workspace.write_creates(&creates_of(&shown));
    written.map_err(|problem| job.failure(Class::Disk, Stage::Show, format!("{problem}.")))?;
    found.stage = Some(Stage::Apply);
    job.stage(Stage::Apply, || apply(job, found))?;
    Ok(JobEnd::Succeeded)
}

/// What was laid down, where `init` was not needed.
fn install(job: &Job<'_>, installed: Option<&Installed>) -> Result<Option<LaidDown>, Trouble> {
    // An approved plan is bound to what it was planned with; it is not planned again should that not fit.
    let may_be_laid_down = job.terraform().plan.is_none() && job.work.folder(&job.root).is_ok();
    let laid_down = installed.filter(|_| may_be_laid_down).and_then(|installed| installed.lay_down(job));
    if laid_down.is_none() {
        return init(job, installed).map(|()| None);
    }
    terraform::lay_into_module(job).map_err(|problem| disk(job, Stage::Init, &problem))?;
    job.log.say("Providers and modules are those of an earlier run.");
    Ok(laid_down)
}

fn init(job: &Job<'_>, installed: Option<&Installed>) -> Result<(), Trouble> {
    if job.work.folder(&job.root).is_err() {
        let path = job.root.strip_prefix("source").unwrap_or(&job.root).display();
        let message = format!("The module's source has no folder {path}.");
        return Err(job.failure(Class::InvalidConfig, Stage::Init, message).into());
    }
    terraform::lay_into_module(job).map_err(|problem| disk(job, Stage::Init, &problem))?;
    let ran = job.run_shown(Stage::Init, terraform::run(job, &["init", "-input=false", "-no-color"]))?;
    if ran.ended != Ended::Code(0) {
        return Err(explained::of_command(job, Stage::Init, &ran, &[]).into());
    }
    if !terraform::backend_is_ours(job) {
        let message = "The module keeps its state elsewhere, by an override that cannot be overridden.";
        return Err(job
            .failure(Class::InvalidConfig, Stage::Init, message)
            .with_hint("Remove the backend from the module's override files.")
            .into());
    }
    if let Some(installed) = installed {
        installed.note(job);
    }
    Ok(())
}

/// True when something would change.
fn plan(job: &Job<'_>) -> Result<bool, Trouble> {
    let out = format!("-out={}", terraform::plan_path(job));
    let variables = format!("-var-file={}", terraform::variables_path(job));
    let mut arguments = vec!["plan", "-input=false", "-no-color", "-detailed-exitcode", &out, &variables];
    match job.terraform().goal {
        Goal::Plan | Goal::Apply => {}
        Goal::Observe => arguments.push("-refresh-only"),
        Goal::Destroy => arguments.push("-destroy"),
    }
    let ran = job.run_shown(Stage::Plan, terraform::run(job, &arguments))?;
    match ran.ended {
        NOTHING_CHANGES => Ok(false),
        SOMETHING_CHANGES => Ok(true),
        _ => Err(explained::of_command(job, Stage::Plan, &ran, &[]).into()),
    }
}

fn show(job: &Job<'_>) -> Result<Value, Trouble> {
    let run = terraform::run(job, &["show", "-no-color", "-json", &terraform::plan_path(job)]);
    let (ran, shown) = job.run_captured(Stage::Show, run)?;
    match serde_json::from_slice(&shown) {
        Ok(shown) if ran.ended == Ended::Code(0) => Ok(shown),
        _ => Err(explained::of_command(job, Stage::Show, &ran, &[]).into()),
    }
}

/// For whoever has to tell of the job if this process is killed.
fn keep_summary(job: &Job<'_>, summary: &PlanSummary) {
    let summary = redacted(&job.log.redactor, summary.clone());
    // Without it there is less to tell, and nothing else is lost.
    let _ = serde_json::to_vec(&summary).map(|content| replace(&job.workspace.plan(), &content));
}

fn keep_plan(job: &Job<'_>) -> Result<PlanFile, Trouble> {
    let plan = job.work.read(Path::new(PLAN)).map_err(|problem| disk(job, Stage::Show, &problem))?;
    Ok(PlanFile { sha256: digest(&plan), base64: STANDARD.encode(&plan) })
}

/// The approved plan, and nothing that only looks like it.
fn lay_plan(job: &Job<'_>, approved: &PlanFile) -> Result<(), Trouble> {
    let plan = STANDARD.decode(&approved.base64).ok().filter(|plan| digest(plan) == approved.sha256);
    let Some(plan) = plan else {
        let message = "The plan is not the one that was approved: its bytes have changed.";
        return Err(job
            .failure(Class::Conflict, Stage::Apply, message)
            .with_hint("Plan again, and approve the new plan.")
            .into());
    };
    job.work.write(Path::new(PLAN), &plan, job.cage.owner).map_err(|problem| disk(job, Stage::Apply, &problem).into())
}

fn apply(job: &Job<'_>, found: &mut Found) -> Result<(), Trouble> {
    let folder = job.work.folder(&job.root).map_err(|problem| disk(job, Stage::Apply, &problem))?;
    let given = job.terraform().state.as_deref();
    job.watch.copy_states(StateCopy::new(&job.workspace.state(), given), folder);
    found.cut_short = true;
    let run = terraform::run(job, &["apply", "-input=false", "-no-color", "-json", &terraform::plan_path(job)]);
    let mut events = Events::new(job.log, found.plan.is_some());
    let mut errors = job.log.stream();
    let mut out = |bytes: &[u8]| {
        events.push(bytes);
        if events.has_begun() {
            // From here on it is the cloud that works.
            job.turn.give_back();
        }
    };
    let output = Output::Apart { out: &mut out, err: &mut |bytes| errors.push(bytes) };
    let ended = job.cage.run(run, output);
    let (finished, errors) = (events.finish(), errors.finish());
    found.cut_short = !matches!(ended, Ok(Ended::Code(_)));
    found.happened = finished.happened;
    let ended = job.ended(Stage::Apply, ended)?;
    if ended == Ended::Code(0) {
        return Ok(());
    }
    let ran = Ran { ended, tail: finished.stray + &errors };
    Err(explained::of_command(job, Stage::Apply, &ran, &finished.diagnostics).into())
}

fn disk(job: &Job<'_>, stage: Stage, problem: &std::io::Error) -> model::Failure {
    let class = if problem.kind() == std::io::ErrorKind::StorageFull { Class::Disk } else { Class::Crash };
    job.failure(class, stage, format!("The workspace cannot be written or read: {problem}."))
}

pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
