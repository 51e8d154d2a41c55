//! Why a run did not succeed, for the person who has to mend it.

use model::plugin::Step;
use model::{Class, Failure};
use serde_json::Value;

use crate::actions::forge::Run;

/// As many jobs and steps as fit into a sentence.
const MOST_NAMES: usize = 5;

pub(super) fn explain(step: Step, run: &Run, end: &str, jobs: &[Value]) -> Failure {
    let url = &run.url;
    let (class, message, hint) = match end {
        "failure" => (
            Class::Rejected,
            format!("The run {url} failed{}", culprits(jobs)),
            "Its log says why; mend that".to_owned(),
        ),
        // Whoever cancelled it meant it. A class that is tried again by itself would start the run anew within a minute, and
        // fight the person; this one waits for somebody to decide.
        "cancelled" => (
            Class::Uncertain,
            format!("The run {url} was cancelled at GitHub, by a person or by its concurrency group"),
            "It may have done a part of its work. `terrane reconcile` starts another".to_owned(),
        ),
        "timed_out" => (
            Class::Timeout,
            format!("The run {url} was ended by GitHub because it took too long"),
            "See `timeout-minutes` in the workflow".to_owned(),
        ),
        "startup_failure" => (
            Class::InvalidConfig,
            format!("GitHub could not start the run {url}"),
            "The workflow file is wrong, or may not be used there; the run's page says why".to_owned(),
        ),
        "skipped" => (
            Class::InvalidConfig,
            format!("Every job of the run {url} was skipped, so nothing was done"),
            "See the `if:` conditions of its jobs".to_owned(),
        ),
        "stale" => {
            (Class::Timeout, format!("GitHub gave up the run {url}"), "`terrane reconcile` starts another".to_owned())
        }
        other => (Class::Rejected, format!("The run {url} ended as `{other}`"), "The run's page says why".to_owned()),
    };
    Failure::new(class, step, message).with_hint(hint)
}

/// `: job `deploy` at step `apply``.
fn culprits(jobs: &[Value]) -> String {
    let text = |from: &Value, key: &str| from.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let failed = |from: &&Value| matches!(text(from, "conclusion").as_str(), "failure" | "timed_out");
    let names: Vec<_> = jobs
        .iter()
        .filter(failed)
        .map(|job| {
            let steps = job.get("steps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let steps: Vec<_> = steps.iter().filter(failed).map(|step| format!("`{}`", text(step, "name"))).collect();
            match steps.is_empty() {
                true => format!("job `{}`", text(job, "name")),
                false => format!("job `{}` at step {}", text(job, "name"), steps.join(", ")),
            }
        })
        .collect();
    match names.len() {
        0 => String::new(),
        few if few <= MOST_NAMES => format!(": {}", names.join("; ")),
        many => format!(": {}; and {} jobs more", names[..MOST_NAMES].join("; "), many - MOST_NAMES),
    }
}
