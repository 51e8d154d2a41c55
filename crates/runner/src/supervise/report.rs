//! The report of a job, put together when all its processes are gone.

use std::collections::BTreeMap;
use std::fs;

use model::job::{Goal, JobEnd, JobReport, Output, Suspect, Versions};
use model::plugin::DriftedAttribute;
use model::redact::Redactor;
use model::{Class, Failure, PlanSummary, name_suspects, suspects};

use super::job::Job;
use super::run::Found;
use crate::settled::{self, Told};

pub fn report(job: &Job<'_>, end: JobEnd, found: Found, isolation: &str, log_bytes: u64) -> JobReport {
    let kept = fs::read_to_string(job.workspace.state()).ok();
    let state = kept.as_deref().or(job.terraform().state.as_deref());
    let redactor = &job.log.redactor;
    let mut suspects = suspects(found.happened.clone(), state, !found.cut_short);
    let plan = found.plan.map(|plan| redacted(redactor, plan));
    if let Some(plan) = &plan {
        name_suspects(&mut suspects, plan);
    }
    let applied = matches!(job.terraform().goal, Goal::Apply | Goal::Destroy) && end != JobEnd::AwaitsApproval;
    let changes = match &plan {
        Some(plan) if !applied => plan.changes(),
        _ => settled::changes(&found.happened),
    };
    let told = Told::by(state);
    let versions = Versions {
        terraform: found
            .terraform
            .or(kept.is_some().then(|| told.terraform_version.clone()))
            .unwrap_or_else(|| job.settings.terraform_version.clone()),
        providers: locked_providers(job),
        module_commit: found.commit,
    };
    JobReport {
        end: if found.cut_short { uncertain_with_suspects(end, &suspects) } else { end },
        changes,
        plan,
        plan_file: found.plan_file,
        drift: found.drift.into_iter().map(|drifted| redacted_drift(redactor, drifted)).collect(),
        outputs: outputs(redactor, told),
        suspects,
        objects: settled::objects(state),
        made: settled::made(&found.happened),
        versions,
        isolation: isolation.to_owned(),
        log_bytes,
    }
}

/// A crash that may have made something which no state has is for a person to judge: trying again would make it twice. What was
/// being changed or deleted is still in the state, and the next plan looks at it.
pub fn uncertain_with_suspects(end: JobEnd, suspects: &[Suspect]) -> JobEnd {
    let made = suspects.iter().any(Suspect::may_be_new);
    match end {
        JobEnd::Failed { failure } if made && failure.class == Class::Crash => {
            let hint = format!("{} Something may exist that no state has: look at the suspects first.", failure.hint);
            JobEnd::Failed { failure: Failure { class: Class::Uncertain, ..failure }.with_hint(hint.trim()) }
        }
        end => end,
    }
}

pub(super) fn redacted(redactor: &Redactor, plan: PlanSummary) -> PlanSummary {
    let mut value = serde_json::to_value(&plan).unwrap_or_default();
    redactor.value(&mut value);
    serde_json::from_value(value).unwrap_or(PlanSummary { changes: vec![], ..plan })
}

fn redacted_drift(redactor: &Redactor, mut drifted: DriftedAttribute) -> DriftedAttribute {
    redactor.value(&mut drifted.expected);
    redactor.value(&mut drifted.found);
    drifted
}

/// A sensitive output is kept as it is, for whoever may see it; in the others a secret has no place.
fn outputs(redactor: &Redactor, told: Told) -> BTreeMap<String, Output> {
    let mut outputs = told.outputs();
    for output in outputs.values_mut().filter(|output| !output.sensitive) {
        redactor.value(&mut output.value);
    }
    outputs
}

/// Provider to version, as `init` has locked them.
fn locked_providers(job: &Job<'_>) -> BTreeMap<String, String> {
    let locked = job.work.read(&job.root.join(".terraform.lock.hcl")).unwrap_or_default();
    let locked = String::from_utf8_lossy(&locked);
    let mut providers = BTreeMap::new();
    let mut current = None;
    for line in locked.lines().map(str::trim) {
        let quoted = || line.split('"').nth(1).map(str::to_owned);
        if line.starts_with("provider ") {
            current = quoted();
        } else if line.starts_with("version") {
            providers.extend(current.take().zip(quoted()));
        }
    }
    providers
}
