//! `/api/v1/resources/{id}/jobs` and `/api/v1/jobs/{id}`: what runners do for resources, and what they print.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use model::job::{JobInfo, JobState};
use model::{JobId, ResourceId, Role};
use serde::Deserialize;
use store::{Job, Store};
use tokio::sync::watch;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::Caller;
use crate::params::{At, Params, page_size};
use crate::problem::Problem;

/// Bytes of log in one piece of an answer.
const PIECE: usize = 256 * 1024;
/// A stream that has had nothing to say for so long ends; whoever still listens comes back with the offset.
const SILENCE: Duration = Duration::from_secs(25);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct JobsParams {
    /// At most so many; 100 if left out
    limit: Option<i64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LogParams {
    /// From this byte on
    #[serde(default)]
    #[param(minimum = 0)]
    from: u64,
    /// Stay, and send what is added until the job is over
    #[serde(default)]
    follow: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// At once, whatever it leaves behind
    #[serde(default)]
    force: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ApproveParams {
    /// The hash of the plan that is meant
    plan_sha256: String,
}

/// The jobs of a resource
///
/// What runners did for it and are doing, newest first: plans, applies, comparisons, destroys.
#[utoipa::path(get, path = "/api/v1/resources/{id}/jobs", tag = "Jobs", operation_id = "list_jobs",
    params(("id" = i64, Path, description = "The resource's id"), JobsParams),
    responses((status = 200, description = "The newest jobs", body = Vec<JobInfo>)))]
pub async fn list_jobs(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<ResourceId>,
    Params(params): Params<JobsParams>,
) -> Result<Json<Vec<JobInfo>>, Problem> {
    caller.require(Role::Viewer)?;
    let jobs = app.store.jobs_of(&caller.scope, id, page_size(params.limit)?).await?;
    Ok(Json(jobs.into_iter().map(Job::info).collect()))
}

/// A job
#[utoipa::path(get, path = "/api/v1/jobs/{id}", tag = "Jobs", operation_id = "get_job",
    params(("id" = i64, Path, description = "The job's id")),
    responses((status = 200, description = "The job", body = JobInfo)))]
pub async fn get_job(State(app): State<Arc<App>>, caller: Caller, At(id): At<JobId>) -> Result<Json<JobInfo>, Problem> {
    caller.require(Role::Viewer)?;
    Ok(Json(app.store.job(&caller.scope, id).await?.info()))
}

/// What a job has printed
///
/// Its log is one sequence of bytes: whoever was cut off comes back with the number of bytes that arrived, and misses nothing.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/log", tag = "Jobs", operation_id = "get_job_log",
    params(("id" = i64, Path, description = "The job's id"), LogParams),
    responses((status = 200, description = "The log from that byte on", body = String, content_type = "text/plain")))]
pub async fn get_log(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<JobId>,
    Params(params): Params<LogParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let job = app.store.job(&caller.scope, id).await?;
    let from = i64::try_from(params.from).map_err(|_| Problem::unprocessable("from: no log is that long"))?;
    let reading = Reading {
        bell: app.store.bell().listen(),
        draining: app.draining(),
        store: app.store.clone(),
        job: id,
        at: from,
        // What there is now, for whoever does not want to stay.
        end: (!params.follow || job.is_over()).then_some(job.log_bytes),
    };
    let pieces = stream::try_unfold(reading, Reading::next);
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(pieces)).into_response())
}

/// Stop a job
///
/// One that waits, for a runner or for consent to its plan, is over at once. One under way is interrupted and given time to end in good order; with
/// `force` it is killed.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/cancel", tag = "Jobs", operation_id = "cancel_job",
    params(("id" = i64, Path, description = "The job's id"), CancelParams),
    responses(
        (status = 202, description = "It is being stopped, or is", body = JobInfo),
        (status = 409, description = "It is over already"),
    ))]
pub async fn cancel_job(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<JobId>,
    Params(params): Params<CancelParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    app.store.job(&caller.scope, id).await?;
    let how = if params.force { "kill" } else { "interrupt" };
    match app.store.stop_job(id, how).await? {
        None => Err(Problem::new(StatusCode::CONFLICT, format!("job {id} is over already"))),
        Some(JobState::Queued | JobState::Running | JobState::Finished | JobState::Cancelled) => {
            let job = app.store.job(&caller.scope, id).await?.info();
            Ok((StatusCode::ACCEPTED, Json(job)).into_response())
        }
    }
}

/// Consent to a job's plan
///
/// The very plan of that hash is applied, and nothing else: not if the spec has changed since, nor if the state has.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/approve", tag = "Jobs", operation_id = "approve_job",
    params(("id" = i64, Path, description = "The job's id"), ApproveParams),
    responses(
        (status = 202, description = "It is going to be applied", body = JobInfo),
        (status = 409, description = "There is no such plan to consent to, or not any more"),
    ))]
pub async fn approve_job(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<JobId>,
    Params(params): Params<ApproveParams>,
) -> Result<Response, Problem> {
    caller.require(Role::Editor)?;
    let job = app.store.job(&caller.scope, id).await?;
    if job.plan_sha256.as_ref() != Some(&params.plan_sha256) {
        return Err(Problem::new(StatusCode::CONFLICT, format!("job {id} has no plan of this hash to consent to")));
    }
    if let Some(who) = job.approved_by {
        return Err(Problem::new(StatusCode::CONFLICT, format!("{who} has consented to this plan already")));
    }
    let by = caller.actor.name.clone();
    if !app.store.approve_job(caller.scope.clone(), id, params.plan_sha256, by).await? {
        let detail = "this plan is not wanted any more: the spec has changed since, or its operation is over; see the \
                      newest plan";
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    Ok((StatusCode::ACCEPTED, Json(app.store.job(&caller.scope, id).await?.info())).into_response())
}

/// A log on its way to a reader.
struct Reading {
    store: Store,
    bell: watch::Receiver<u64>,
    draining: watch::Receiver<bool>,
    job: JobId,
    at: i64,
    /// Where it ends, once that is known.
    end: Option<i64>,
}

impl Reading {
    async fn next(mut self) -> Result<Option<(Bytes, Reading)>, store::Error> {
        loop {
            self.bell.mark_unchanged();
            let left = self.end.map_or(PIECE, |end| usize::try_from(end - self.at).unwrap_or(0).min(PIECE));
            if left == 0 {
                return Ok(None);
            }
            let bytes = self.store.log(self.job, self.at, left).await?;
            if !bytes.is_empty() {
                self.at += bytes.len() as i64;
                return Ok(Some((bytes.into(), self)));
            }
            // The end and the last byte were written together: what is read after the end is known is complete.
            match self.store.any_job(self.job).await? {
                Some(job) if !job.is_over() => {}
                Some(job) if self.end.is_none() => {
                    self.end = Some(job.log_bytes);
                    continue;
                }
                _ => return Ok(None),
            }
            tokio::select! {
                _ = self.bell.changed() => {}
                _ = self.draining.changed() => return Ok(None),
                () = tokio::time::sleep(SILENCE) => return Ok(None),
            }
        }
    }
}
