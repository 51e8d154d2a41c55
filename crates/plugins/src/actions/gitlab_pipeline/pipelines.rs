//! A pipeline, its jobs and their artifacts, as GitLab tells them.

use serde_json::{Value, json};

use super::api::Api;
use crate::actions::forge::{End, Progress, Run, Trouble};
use crate::door::Outgoing;

const PER_PAGE: usize = 100;
/// A thousand jobs are more than anybody reads.
const MOST_PAGES: usize = 10;

pub(super) fn progress(pipeline: &Value) -> Progress {
    match pipeline.get("status").and_then(Value::as_str).unwrap_or_default() {
        "success" => Progress::Ended(End::Succeeded),
        end @ ("failed" | "canceled" | "skipped") => Progress::Ended(End::Otherwise(end.to_owned())),
        "running" | "canceling" => Progress::Running,
        "manual" => Progress::Blocked("is blocked by a manual job; it goes on when somebody starts that job".into()),
        "scheduled" => {
            Progress::Blocked("is blocked by a delayed job; it goes on when that job's time has come".into())
        }
        "waiting_for_callback" => Progress::Blocked("waits for a callback".into()),
        _ => Progress::Queued,
    }
}

/// One page of a list, and whether it is the last. GitLab counts no totals in large lists, but a page that is not full is
/// the last one.
pub(super) async fn page(api: &Api<'_>, list: &str, page: usize) -> Result<(Vec<Value>, bool), Trouble> {
    let glue = if list.contains('?') { '&' } else { '?' };
    let answer = api.send(Outgoing::get(format!("{list}{glue}per_page={PER_PAGE}&page={page}")), &[200]).await?;
    let items = match api.json(&answer)? {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let is_last = items.len() < PER_PAGE;
    Ok((items, is_last))
}

pub(super) async fn jobs(api: &Api<'_>, run: &Run) -> Result<Vec<Value>, Trouble> {
    let list = format!("{}/pipelines/{}/jobs", run.place, run.id);
    let mut jobs = Vec::new();
    for number in 1..=MOST_PAGES {
        let (items, is_last) = page(api, &list, number).await?;
        jobs.extend(items);
        if is_last {
            break;
        }
    }
    // The newest come first.
    jobs.reverse();
    Ok(jobs)
}

/// As `github_actions` puts them, so that what reads the one can read the other.
pub(super) fn outputs(jobs: &[Value]) -> Value {
    let of = |from: &Value, key: &str| from.get(key).cloned().unwrap_or_default();
    let told = |job: &Value| {
        json!({
            "name": of(job, "name"),
            "stage": of(job, "stage"),
            "status": of(job, "status"),
            "started_at": of(job, "started_at"),
            "completed_at": of(job, "finished_at"),
        })
    };
    let artifacts = jobs.iter().flat_map(|job| {
        let files = job.get("artifacts").and_then(Value::as_array).into_iter().flatten();
        // Every job has a log and, with an archive, a table of its contents; neither was asked for.
        let wanted = files.filter(|file| !matches!(file["file_type"].as_str(), Some("trace" | "metadata")));
        wanted.map(
            |file| json!({ "name": of(file, "filename"), "size_in_bytes": of(file, "size"), "job": of(job, "name") }),
        )
    });
    let artifacts: Vec<_> = artifacts.collect();
    json!({ "jobs": jobs.iter().map(told).collect::<Vec<_>>(), "artifacts": artifacts })
}
