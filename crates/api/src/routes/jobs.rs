//! `/api/v1/resources/{id}/jobs` and `/api/v1/jobs/{id}`: what runners do for resources, and what they print.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::job::{JobInfo, JobState};
use model::{JobId, ResourceId, Role};
use serde::Deserialize;
use store::Job;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::Caller;
use crate::log::{self, Reading};
use crate::params::{At, Params, page_size};
use crate::problem::Problem;

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
///
/// With `Accept: text/event-stream` it comes as server-sent events, each a JSON string with the offset after it as its id; the
/// last is `end`. As a WebSocket it comes in binary frames between two text frames: `{"offset": N}`, and at the end of the
/// job `{"state": "finished", "log_bytes": N}`. Both follow until the job is over.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/log", tag = "Jobs", operation_id = "get_job_log",
    params(("id" = i64, Path, description = "The job's id"), LogParams),
    responses(
        (status = 200, description = "The log from that byte on", body = String, content_type = "text/plain"),
        (status = 101, description = "The same as a WebSocket"),
    ))]
pub async fn get_log(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<JobId>,
    Params(params): Params<LogParams>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    caller.require(Role::Viewer)?;
    let job = app.store.job(&caller.scope, id).await?;
    let form = Form::asked_for(&headers);
    let from = form.last_offset(&headers)?.unwrap_or(params.from);
    i64::try_from(from).map_err(|_| Problem::unprocessable("from: no log is that long"))?;
    let is_followed = params.follow || form != Form::Plain;
    let until = (!is_followed).then_some(u64::try_from(job.log_bytes).unwrap_or(0));
    let reading = Reading::new(&app, id, caller.token, from, until);
    Ok(match form {
        Form::Plain => log::plain(reading),
        Form::ServerSent => log::server_sent(reading),
        Form::Socket => {
            let upgrade = upgrade.map_err(|refused| Problem::bad_request(format!("no WebSocket: {refused}")))?;
            log::socket(upgrade, reading)
        }
    })
}

/// How a log is to be sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    ServerSent,
    Socket,
}

impl Form {
    fn asked_for(headers: &HeaderMap) -> Form {
        let says = |name, word| {
            headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
                .is_some_and(|value| value.split([',', ';']).any(|part| part.trim().eq_ignore_ascii_case(word)))
        };
        if says(header::UPGRADE, "websocket") {
            Form::Socket
        } else if says(header::ACCEPT, "text/event-stream") {
            Form::ServerSent
        } else {
            Form::Plain
        }
    }

    /// Where a browser that reconnects left off.
    fn last_offset(self, headers: &HeaderMap) -> Result<Option<u64>, Problem> {
        let Some(value) = headers.get("last-event-id").filter(|_| self == Form::ServerSent) else { return Ok(None) };
        let offset = value.to_str().ok().and_then(|text| text.parse().ok());
        offset.map(Some).ok_or_else(|| Problem::bad_request("Last-Event-ID: expected an offset"))
    }
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
