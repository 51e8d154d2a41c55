//! What a runner's report means for the resource.

use model::job::{Goal, JobEnd, JobReport, Suspect};
use model::plugin::{Answer, Call, Done, Observation};
use model::{Class, Failure, Reason};
use serde_json::{Map, Value};

use super::config::{Config, OnFailure};
use super::memory::Memory;
use super::stage::Stage;
use super::{choices, tries};

/// Lines of `holds` that are kept.
const MAX_HOLDS: usize = 200;

pub(super) fn read(call: &Call, config: &Config, stage: &Stage, report: &JobReport) -> Result<Answer, Failure> {
    if stage.goal == Goal::Observe {
        return Ok(observed(call, stage, report));
    }
    let mut memory = Memory::of(call);
    memory.take_suspects(report);
    let holds = holds(report, &memory);
    let answer = match (&report.end, &stage.cleans_up_after) {
        (JobEnd::Succeeded, Some(first)) => {
            let remains = memory.may_hold_more();
            memory = Memory { began: remains, suspects: memory.suspects, ..Memory::default() };
            choices::cleaned_up(first, remains).into()
        }
        (JobEnd::Succeeded, None) if stage.goal == Goal::Destroy && memory.may_hold_more() => {
            choices::perhaps_more(call, &memory.suspects).into()
        }
        (JobEnd::Succeeded, None) => succeeded(call, stage, report, &mut memory),
        // Seen to before; a clean-up needs nobody's consent.
        (JobEnd::AwaitsApproval, _) => stage.wait("Waiting for approval"),
        (JobEnd::Cancelled, _) => choices::stopped(call, stage, report, &memory).into(),
        (JobEnd::Failed { failure }, _) => failed(call, config, stage, report, &memory, failure)?,
    };
    Ok(answer.remembering(memory.value()).holding(holds))
}

fn observed(call: &Call, stage: &Stage, report: &JobReport) -> Answer {
    let observation = match &report.end {
        JobEnd::Succeeded if report.drift.is_empty() => Observation::Unchanged,
        JobEnd::Succeeded => Observation::Drifted { attributes: report.drift.clone() },
        JobEnd::Failed { failure } => {
            return match tries::pause(stage, failure) {
                Some(pause) => stage.again(pause, failure),
                None => tries::spent(Failure { step: call.step, ..failure.clone() }).into(),
            };
        }
        JobEnd::AwaitsApproval | JobEnd::Cancelled => Observation::CannotTell { why: "a person stopped it".into() },
    };
    Answer::done(Done { observation: Some(observation), ..Done::default() })
}

fn succeeded(call: &Call, stage: &Stage, report: &JobReport, memory: &mut Memory) -> Answer {
    let changes = Some(report.changes);
    if stage.goal == Goal::Destroy {
        *memory = Memory::default();
        return Answer::done(Done { changes, ..Done::default() });
    }
    memory.went_well(call, report);
    // Sensitive ones are kept apart, sealed, and shown to whoever asks for them and may see them.
    let open = report.outputs.iter().filter(|(_, output)| !output.sensitive);
    let outputs: Map<String, Value> = open.map(|(name, output)| (name.clone(), output.value.clone())).collect();
    let message = report
        .plan
        .as_ref()
        .map(|plan| if plan.changes().is_none() { "No changes".into() } else { format!("Applied: {plan}") });
    Answer::done(Done { changes, outputs: Some(outputs.into()), message, ..Done::default() })
}

/// Tried again while that may help. A first provision that failed for good is taken back, unless its owner wants to keep what
/// there is or to be asked.
fn failed(
    call: &Call,
    config: &Config,
    stage: &Stage,
    report: &JobReport,
    memory: &Memory,
    failure: &Failure,
) -> Result<Answer, Failure> {
    // Where an apply failed is told as the runner tells it; of a destroy it is enough that it was one.
    let step = if stage.goal == Goal::Apply { failure.step } else { call.step };
    let failure = Failure { step, ..failure.clone() };
    if let Some(pause) = tries::pause(stage, &failure) {
        return Ok(stage.again(pause, &failure));
    }
    let failure = tries::spent(failure);
    if let Some(first) = &stage.cleans_up_after {
        return Ok(choices::not_cleaned_up(first, &failure).into());
    }
    let first = stage.goal == Goal::Apply && memory.applied.is_none() && !report.objects.is_empty();
    // After a crash all is kept for whoever looks into it; who asked to go on wants to keep what there is.
    let kept = matches!(failure.class, Class::Crash | Class::Uncertain)
        || matches!(call.operation.reason, Reason::Continued | Reason::Imported);
    if first && !kept && config.on_failure == OnFailure::Cleanup {
        let request = config.request(call, Goal::Destroy)?;
        return Ok(Stage::cleanup(failure).wait("Failed; removing what was begun").queueing(request));
    }
    let ask = first && config.on_failure == OnFailure::Ask;
    Ok(choices::of(call, stage, report, memory, failure, ask).into())
}

/// What exists, and what may exist although no state has it.
fn holds(report: &JobReport, memory: &Memory) -> Vec<String> {
    let known = report.objects.iter().map(|object| format!("{} ({})", object.address, object.id));
    let mut lines: Vec<_> = memory.suspects.iter().map(suspect).chain(known).collect();
    if lines.len() > MAX_HOLDS {
        let more = lines.len() - MAX_HOLDS;
        lines.truncate(MAX_HOLDS);
        lines.push(format!("and {more} more"));
    }
    lines
}

pub(super) fn suspect(suspect: &Suspect) -> String {
    let known = suspect.id.iter().cloned().chain(suspect.name.iter().map(|name| format!("name {name}")));
    let tags = suspect.tags.iter().map(|(name, value)| format!("tag {name}={value}"));
    let known: Vec<_> = known.chain(tags).collect();
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    format!("{}{known}: perhaps; its {} was begun and is not in the state", suspect.address, suspect.action)
}
