//! The action plugin `terraform`: a root module is planned and applied by a runner, and followed to its end. Here is decided
//! what a runner is asked to do and what its report means; nothing here starts a process or waits.

mod config;
mod report;
mod schema;
mod stage;

use futures::FutureExt;
use futures::future::BoxFuture;
use model::job::{Goal, JobEnd, JobProgress, JobReport, JobRequest, JobState};
use model::plugin::{Answer, Call, Changes, Descriptor, Done, ON_CHANGE, Outcome, Step, Wait, Wake};
use model::{Class, Failure};
use serde_json::json;

use self::config::Config;
use self::stage::Stage;
use crate::action::{Action, World};

/// Looked at this often at the latest; the end of a job wakes the operation at once.
const LOOK_AGAIN: u64 = 60;

pub struct Terraform {
    descriptor: Descriptor,
}

impl Default for Terraform {
    fn default() -> Terraform {
        Terraform { descriptor: schema::descriptor() }
    }
}

impl Action for Terraform {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn call<'a>(&'a self, call: &'a Call, _world: &'a World) -> BoxFuture<'a, Answer> {
        async move { answer(call).unwrap_or_else(Answer::from) }.boxed()
    }
}

fn answer(call: &Call) -> Result<Answer, Failure> {
    match call.step {
        Step::Validate => {
            Config::read(call)?.request(call, Goal::Apply)?;
            Ok(Answer::nothing())
        }
        Step::Apply => follow(call, Goal::Apply),
        Step::Observe => follow(call, Goal::Observe),
        Step::Destroy if call.memory["began"] != json!(true) => {
            Ok(Answer::done(Done { changes: Some(Changes::default()), ..Done::default() }))
        }
        Step::Destroy => follow(call, Goal::Destroy),
        Step::Plan | Step::Outputs => Ok(Answer::nothing()),
    }
}

/// Queue the job, or see how far it is.
fn follow(call: &Call, goal: Goal) -> Result<Answer, Failure> {
    let config = Config::read(call)?;
    let Some(stage) = Stage::of(call).filter(|stage| stage.attempt == call.operation.attempt) else {
        let stage = Stage { goal, attempt: call.operation.attempt, cleans_up_after: None };
        return begin(call, &config, config.request(call, goal)?, &stage);
    };
    let Some(job) = &call.job else {
        return begin(call, &config, config.request(call, stage.goal)?, &stage);
    };
    match (job.state, &job.report) {
        (JobState::Queued, _) => Ok(stage.wait(&config.awaited())),
        (JobState::Running, _) => Ok(stage.wait(stage.doing())),
        (JobState::Finished, Some(report)) if report.end == JobEnd::AwaitsApproval => {
            await_approval(call, &config, &stage, job, report)
        }
        (JobState::Finished, Some(report)) => report::read(call, &config, stage, report),
        (JobState::Finished | JobState::Cancelled, _) => {
            let failure = Failure::new(Class::Cancelled, call.step, "a person stopped it before it was begun");
            Err(failure.with_hint("Nothing was changed. To go on: terrane reconcile"))
        }
    }
}

/// The very plan that a person consented to is applied; what is not wanted any more is not applied at all.
fn await_approval(
    call: &Call,
    config: &Config,
    stage: &Stage,
    job: &JobProgress,
    report: &JobReport,
) -> Result<Answer, Failure> {
    if job.approved {
        let request = JobRequest { plan_of: Some(job.id), ..config.request(call, stage.goal)? };
        return begin(call, config, request, stage);
    }
    if call.superseded {
        return Err(Failure::new(Class::Conflict, call.step, "the spec changed before the plan was approved")
            .with_hint("A new plan is being made."));
    }
    let plan = report.plan.as_ref().map(|plan| format!(": {plan}")).unwrap_or_default();
    let message = format!("Waiting for approval{plan}. `terrane plan` shows it, `terrane approve` consents");
    let wake = Wake { after_seconds: LOOK_AGAIN, signal: Some(ON_CHANGE.into()) };
    Ok(Outcome::Wait(Wait { checkpoint: stage.checkpoint(), wake, message: Some(message) }).into())
}

/// What is asked of a runner is remembered as begun: from here on something may exist outside.
fn begin(call: &Call, config: &Config, request: JobRequest, stage: &Stage) -> Result<Answer, Failure> {
    let mut memory = if call.memory.is_object() { call.memory.clone() } else { json!({}) };
    if stage.goal == Goal::Apply {
        memory["began"] = json!(true);
    }
    Ok(stage.wait(&config.awaited()).remembering(memory).queueing(request))
}
