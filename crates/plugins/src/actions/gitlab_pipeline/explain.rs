//! Why a pipeline did not succeed, for the person who has to mend it.

use model::plugin::Step;
use model::{Class, Failure};
use serde_json::Value;

use crate::actions::forge::Run;

/// As many jobs as fit into a sentence.
const MOST_NAMES: usize = 5;

pub(super) fn explain(step: Step, run: &Run, end: &str, jobs: &[Value]) -> Failure {
    let url = &run.url;
    let (class, message, hint) = match end {
        // Whoever cancelled it meant it. A class that is tried again by itself would start the pipeline anew within a
        // minute, and fight the person; this one waits for somebody to decide.
        "canceled" => (
            Class::Uncertain,
            format!("The pipeline {url} was cancelled at GitLab"),
            "It may have done a part of its work. `terrane reconcile` starts another",
        ),
        "skipped" => (
            Class::InvalidConfig,
            format!("The pipeline {url} was skipped, so nothing was done"),
            "See the rules of its jobs, and whether the commit's message says `[skip ci]`",
        ),
        _ => (
            Class::Rejected,
            format!("The pipeline {url} failed{}", culprits(jobs)),
            "The jobs' logs say why; mend that. Jobs that are retried at GitLab do not count here: `terrane reconcile` starts \
             another pipeline",
        ),
    };
    Failure::new(class, step, message).with_hint(hint)
}

/// `: job `deploy` (script_failure)`.
fn culprits(jobs: &[Value]) -> String {
    let text = |from: &Value, key: &str| from.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let counts = |job: &&Value| text(job, "status") == "failed" && job.get("allow_failure") != Some(&Value::Bool(true));
    let names: Vec<_> = jobs
        .iter()
        .filter(counts)
        .map(|job| match text(job, "failure_reason") {
            reason if reason.is_empty() => format!("job `{}`", text(job, "name")),
            reason => format!("job `{}` ({reason})", text(job, "name")),
        })
        .collect();
    match names.len() {
        0 => String::new(),
        few if few <= MOST_NAMES => format!(": {}", names.join("; ")),
        many => format!(": {}; and {} jobs more", names[..MOST_NAMES].join("; "), many - MOST_NAMES),
    }
}
