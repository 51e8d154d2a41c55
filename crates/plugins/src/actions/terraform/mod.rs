//! The action plugin `terraform`: a root module is planned and applied by a runner, and followed to its end. Here is decided
//! what a runner is asked to do and what its report means; nothing here starts a process or waits.

mod choices;
mod config;
mod memory;
mod report;
mod schema;
mod stage;
mod tries;

use futures::FutureExt;
use futures::future::BoxFuture;
use model::job::{Goal, JobEnd, JobProgress, JobReport, JobRequest, JobState};
use model::plugin::{Answer, Call, Changes, Descriptor, Done, ON_CHANGE, Outcome, Step, Wait, Wake};
use model::{Class, Failure, Reason};

use self::config::Config;
use self::memory::Memory;
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
        async move {
            if call.operation.reason != Reason::RolledBack {
                return answer(call).unwrap_or_else(Answer::from);
            }
            as_it_went_well(call).and_then(|call| answer(&call)).unwrap_or_else(Answer::from)
        }
        .boxed()
    }
}

fn answer(call: &Call) -> Result<Answer, Failure> {
    match call.step {
        Step::Validate => {
            Config::read(call)?.request(call, Goal::Apply)?;
            Ok(Answer::nothing())
        }
        Step::Apply if call.operation.reason == Reason::CleanedUp => follow(call, Stage::cleanup(choices::given_up())),
        Step::Apply => follow(call, Stage::first(Goal::Apply)),
        Step::Observe => follow(call, Stage::first(Goal::Observe)),
        Step::Destroy if !Memory::of(call).began => {
            Ok(Answer::done(Done { changes: Some(Changes::default()), ..Done::default() }))
        }
        Step::Destroy => follow(call, Stage::first(Goal::Destroy)),
        Step::Plan | Step::Outputs => Ok(Answer::nothing()),
    }
}

/// The same question about the inputs that last went well.
fn as_it_went_well(call: &Call) -> Result<Call, Failure> {
    let good = Memory::of(call).good.ok_or_else(|| {
        Failure::new(Class::InvalidConfig, call.step, "there is nothing to roll back to")
            .with_hint("Change the spec to what is wanted.")
    })?;
    Ok(Call { spec: good.spec, config: good.config, ..call.clone() })
}

/// Queue the job, or see how far it is.
fn follow(call: &Call, first: Stage) -> Result<Answer, Failure> {
    let config = Config::read(call)?;
    let Some(stage) = Stage::of(call) else {
        return begin(call, &config, config.request(call, first.goal)?, &first);
    };
    if stage.pauses && call.superseded && stage.goal == Goal::Apply {
        return Err(Failure::new(Class::Conflict, call.step, "the spec changed before it was tried again")
            .with_hint("It is done anew."));
    }
    if stage.pauses {
        let stage = Stage { pauses: false, ..stage };
        return begin(call, &config, config.request(call, stage.goal)?, &stage);
    }
    let Some(job) = &call.job else {
        return begin(call, &config, config.request(call, stage.goal)?, &stage);
    };
    match (job.state, &job.report) {
        (JobState::Queued, _) => Ok(stage.wait(&config.awaited())),
        (JobState::Running, _) => Ok(stage.wait(stage.doing())),
        (JobState::Finished, Some(report)) if report.end == JobEnd::AwaitsApproval => {
            await_approval(call, &config, &stage, job, report)
        }
        (JobState::Finished, Some(report)) => report::read(call, &config, &stage, report),
        (JobState::Finished | JobState::Cancelled, _) => Err(choices::unbegun(call, &Memory::of(call))),
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
    let mut memory = Memory::of(call);
    memory.began |= stage.goal == Goal::Apply;
    Ok(stage.wait(&config.awaited()).remembering(memory.value()).queueing(request))
}
