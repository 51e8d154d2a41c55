//! What a runner's report means for the resource.

use model::job::{Goal, JobEnd, JobReport, Suspect};
use model::plugin::{Answer, Call, Done, Observation};
use model::{Class, Failure, Retry, quick_retry};
use serde_json::{Map, Value, json};

use super::config::{Config, OnFailure};
use super::stage::Stage;

/// Lines of `holds` that are kept.
const MAX_HOLDS: usize = 200;

pub(super) fn read(call: &Call, config: &Config, stage: Stage, report: &JobReport) -> Result<Answer, Failure> {
    let answer = match (&report.end, stage.cleans_up_after.clone()) {
        (JobEnd::Succeeded, Some(failure)) => Err(cleaned_up(failure)),
        (JobEnd::Failed { failure }, Some(first)) => Err(not_cleaned_up(first, failure)),
        (JobEnd::Succeeded, None) => Ok(succeeded(call, &stage, report)),
        // Seen to before; a clean-up needs nobody's consent.
        (JobEnd::AwaitsApproval, _) => Ok(stage.wait("Waiting for approval")),
        (JobEnd::Cancelled, _) => Err(Failure::new(Class::Cancelled, call.step, "a person stopped it").with_hint(
            "What was made until then is in the state. To go on: terrane reconcile; to undo: terrane delete",
        )),
        (JobEnd::Failed { failure }, None) => failed(call, config, &stage, failure),
    };
    let answer = answer.unwrap_or_else(Answer::from);
    Ok(if stage.goal == Goal::Observe { answer } else { answer.holding(holds(report)) })
}

fn succeeded(call: &Call, stage: &Stage, report: &JobReport) -> Answer {
    let changes = Some(report.changes);
    match stage.goal {
        Goal::Observe => {
            let observation = if report.drift.is_empty() {
                Observation::Unchanged
            } else {
                Observation::Drifted { attributes: report.drift.clone() }
            };
            Answer::done(Done { observation: Some(observation), ..Done::default() })
        }
        Goal::Destroy => Answer::done(Done { changes, ..Done::default() }).remembering(json!({})),
        Goal::Plan | Goal::Apply => {
            // Sensitive ones are in the state, which is sealed; they are shown to whoever asks for them there.
            let open = report.outputs.iter().filter(|(_, output)| !output.sensitive);
            let outputs: Map<String, Value> = open.map(|(name, output)| (name.clone(), output.value.clone())).collect();
            let message = report
                .plan
                .as_ref()
                .map(|plan| if plan.changes().is_none() { "No changes".into() } else { format!("Applied: {plan}") });
            let done = Done { changes, outputs: Some(outputs.into()), message, ..Done::default() };
            let mut memory = json!({ "began": true, "applied": call.resource.generation });
            if let Some(commit) = &report.versions.module_commit {
                memory["commit"] = json!(commit);
            }
            Answer::done(done).remembering(memory)
        }
    }
}

/// A first provision that failed for good is taken back, unless its owner wants to keep what there is.
fn failed(call: &Call, config: &Config, stage: &Stage, failure: &Failure) -> Result<Answer, Failure> {
    let failure = Failure { step: call.step, ..failure.clone() };
    let first = stage.goal == Goal::Apply && call.memory.get("applied").is_none();
    let spent = quick_retry(&failure, call.operation.attempt).is_none();
    // Nothing was begun where the configuration is wrong or somebody else has the state.
    let unbegun = matches!(failure.class, Class::InvalidConfig | Class::StateLock);
    if !first || !spent || config.on_failure != OnFailure::Cleanup || unbegun {
        return Err(failure);
    }
    let request = config.request(call, Goal::Destroy)?;
    let stage = Stage { goal: Goal::Destroy, cleans_up_after: Some(failure), ..stage.clone() };
    Ok(stage.wait("Failed; removing what was begun").queueing(request))
}

fn cleaned_up(failure: Failure) -> Failure {
    let message = format!("{}; what had been made was removed again", failure.message);
    Failure { message, retry: Some(Retry::OnChange), ..failure }
}

fn not_cleaned_up(first: Failure, then: &Failure) -> Failure {
    let message = format!("{}; and removing what had been made failed: {}", first.message, then.message);
    let hint = format!("{} What remains is listed under `holds`. To try again: terrane delete.", sentence(&first.hint));
    Failure { message, hint: hint.trim_start().into(), retry: Some(Retry::OnChange), ..first }
}

fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.into() } else { format!("{text}.") }
}

/// What exists, and what may exist although no state has it.
fn holds(report: &JobReport) -> Vec<String> {
    let known = report.objects.iter().map(|object| format!("{} ({})", object.address, object.id));
    let suspects = report.suspects.iter().map(suspect);
    let mut lines: Vec<_> = suspects.chain(known).collect();
    if lines.len() > MAX_HOLDS {
        let more = lines.len() - MAX_HOLDS;
        lines.truncate(MAX_HOLDS);
        lines.push(format!("and {more} more"));
    }
    lines
}

fn suspect(suspect: &Suspect) -> String {
    let id = suspect.id.as_deref().map(|id| format!(" ({id})")).unwrap_or_default();
    format!("{}{id}: perhaps; its {} was begun and is not in the state", suspect.address, suspect.action)
}
