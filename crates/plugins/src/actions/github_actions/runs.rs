//! A run, its jobs and its artifacts, as GitHub tells them.

use serde_json::{Value, json};

use super::api::Api;
use crate::actions::forge::{End, Progress, Run, Trouble};

const PER_PAGE: usize = 100;
/// A thousand jobs are more than anybody reads.
const MOST_PAGES: usize = 10;

pub(super) fn progress(run: &Value) -> Progress {
    let text = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("status") {
        "completed" => Progress::Ended(match text("conclusion") {
            "success" | "neutral" => End::Succeeded,
            conclusion => End::Otherwise(conclusion.to_owned()),
        }),
        "in_progress" => Progress::Running,
        "waiting" | "action_required" => Progress::Blocked("waits for somebody to approve it".into()),
        _ => Progress::Queued,
    }
}

/// One page of a list, and whether it is the last.
pub(super) async fn page(api: &Api<'_>, list: &str, page: usize, key: &str) -> Result<(Vec<Value>, bool), Trouble> {
    let glue = if list.contains('?') { '&' } else { '?' };
    let mut answer = api.get_json(format!("{list}{glue}per_page={PER_PAGE}&page={page}")).await?;
    let total = answer.get("total_count").and_then(Value::as_u64).unwrap_or_default();
    let items = match answer.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let is_last = items.is_empty() || (page * PER_PAGE) as u64 >= total;
    Ok((items, is_last))
}

async fn all(api: &Api<'_>, list: &str, key: &str) -> Result<Vec<Value>, Trouble> {
    let mut all = Vec::new();
    for number in 1..=MOST_PAGES {
        let (items, is_last) = page(api, list, number, key).await?;
        all.extend(items);
        if is_last {
            break;
        }
    }
    Ok(all)
}

pub(super) async fn jobs(api: &Api<'_>, run: &Run) -> Result<Vec<Value>, Trouble> {
    all(api, &format!("{}/actions/runs/{}/jobs", run.place, run.id), "jobs").await
}

pub(super) async fn artifacts(api: &Api<'_>, run: &Run) -> Result<Vec<Value>, Trouble> {
    all(api, &format!("{}/actions/runs/{}/artifacts", run.place, run.id), "artifacts").await
}

pub(super) fn outputs(jobs: &[Value], artifacts: &[Value]) -> Value {
    let pick = |from: &Value, keys: &[&str]| -> Value {
        keys.iter().map(|key| ((*key).to_owned(), from.get(*key).cloned().unwrap_or_default())).collect()
    };
    let job = ["name", "status", "conclusion", "started_at", "completed_at"];
    json!({
        "jobs": jobs.iter().map(|from| pick(from, &job)).collect::<Vec<_>>(),
        "artifacts": artifacts.iter().map(|from| pick(from, &["name", "size_in_bytes"])).collect::<Vec<_>>(),
    })
}
