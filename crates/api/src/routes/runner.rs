//! `/api/v1/runner`, for enrolled runners alone: what `link::Link` asks, over HTTP. Secrets, states and plans go this way
//! and no other.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use link::message::{Claim, Claimed, Enrolment, Finish, Log, Logged, Offer, Renew, Renewed, State as NewState};
use link::{Handing, Link, LinkError};
use model::JobId;
use model::job::RUNNER_CONTRACT;
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::error;
use utoipa::IntoParams;

use crate::app::App;
use crate::body::{Body, Discreet};
use crate::enrolled::Enrolled;
use crate::params::Params;
use crate::problem::Problem;

/// The largest state or report that is taken.
pub const MAX_BODY: usize = 64 * 1024 * 1024;
/// At most so many jobs at once, however much room a runner has.
const MOST: usize = 64;
/// A question for work is answered by then, whether or not there is any.
const PATIENCE: Duration = Duration::from_secs(20);
/// After a bell, so that one look serves many.
const MOMENT: Duration = Duration::from_millis(10);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OffersParams {
    /// The newest job that the runner has heard of
    #[serde(default)]
    #[param(minimum = 0)]
    after: i64,
}

/// Who the runner is
///
/// Its name, and what was fixed when it was enrolled.
#[utoipa::path(get, path = "/api/v1/runner", tag = "Runner", operation_id = "runner_enrolment",
    responses((status = 200, description = "The runner that asks", body = Enrolment)))]
pub async fn enrolment(State(app): State<Arc<App>>, runner: Enrolled) -> Result<Json<Enrolment>, Problem> {
    let known = app.store.runner(&runner.name).await?;
    let (name, tenants, labels) = (known.name, known.tenants, known.labels);
    Ok(Json(Enrolment { contract: RUNNER_CONTRACT.into(), name, tenants, labels }))
}

/// Wait for work
///
/// Answered when there is a job that the runner may do and that is newer than `after`, or after a while without one.
#[utoipa::path(get, path = "/api/v1/runner/offers", tag = "Runner", operation_id = "runner_offers", params(OffersParams),
    responses((status = 200, description = "The newest job there is", body = Offer)))]
pub async fn offers(
    State(app): State<Arc<App>>,
    runner: Enrolled,
    Params(params): Params<OffersParams>,
) -> Result<Json<Offer>, Problem> {
    let after = JobId(params.after);
    let (mut bell, mut draining) = (runner.seat.offers(), app.draining());
    let waiting = async {
        loop {
            bell.mark_unchanged();
            if let Some(newest) = runner.seat.newest_offer(after).await.map_err(refusal)? {
                return Ok(Json(Offer { newest }));
            }
            tokio::select! {
                _ = bell.changed() => tokio::time::sleep(MOMENT).await,
                _ = draining.changed() => return Ok(Json(Offer { newest: after })),
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or(Ok(Json(Offer { newest: after })))
}

/// Claim jobs
///
/// The fair next ones that the runner may do, each with its state, its secrets, a lease and a fencing token.
#[utoipa::path(post, path = "/api/v1/runner/claim", tag = "Runner", operation_id = "runner_claim", request_body = Claim,
    responses((status = 200, description = "The jobs that are the runner's now", body = Claimed)))]
pub async fn claim(runner: Enrolled, body: Body<Claim>) -> Result<Json<Claimed>, Problem> {
    let jobs = runner.seat.claim(body.value.free.min(MOST)).await.map_err(refusal)?;
    Ok(Json(Claimed { jobs }))
}

/// Keep jobs
///
/// What is missing in the answer is lost.
#[utoipa::path(post, path = "/api/v1/runner/renew", tag = "Runner", operation_id = "runner_renew", request_body = Renew,
    responses((status = 200, description = "The jobs that are still the runner's", body = Renewed)))]
pub async fn renew(runner: Enrolled, body: Body<Renew>) -> Result<Json<Renewed>, Problem> {
    let kept = runner.seat.renew(&body.value.jobs).await.map_err(refusal)?;
    Ok(Json(Renewed { kept }))
}

/// Hand in log
///
/// What is there already is not written again, and nothing is left out: the answer says from where to go on.
#[utoipa::path(post, path = "/api/v1/runner/log", tag = "Runner", operation_id = "runner_log", request_body = Log,
    responses(
        (status = 200, description = "How long the log is now", body = Logged),
        (status = 409, description = "The job is not the runner's any more"),
    ))]
pub async fn log(runner: Enrolled, body: Body<Log>) -> Result<Json<Logged>, Problem> {
    let Log { of, start, base64 } = body.value;
    let bytes = BASE64_STANDARD.decode(base64).map_err(|_| Problem::unprocessable("base64: not base64"))?;
    let passed = runner.seat.log(of, start, bytes, Handing::Sure).await.map_err(refusal)?;
    Ok(Json(Logged { log_bytes: passed.until }))
}

/// Hand in a state
#[utoipa::path(post, path = "/api/v1/runner/state", tag = "Runner", operation_id = "runner_state", request_body = NewState,
    responses(
        (status = 200, description = "It is kept, sealed", body = Object),
        (status = 409, description = "The job is not the runner's any more"),
    ))]
pub async fn state(runner: Enrolled, Discreet(body): Discreet<NewState>) -> Result<Json<Value>, Problem> {
    runner.seat.state(body.of, &body.state).await.map_err(refusal)?;
    Ok(Json(json!({})))
}

/// A job is over
#[utoipa::path(post, path = "/api/v1/runner/finish", tag = "Runner", operation_id = "runner_finish", request_body = Finish,
    responses(
        (status = 200, description = "Its report is kept, and its operation goes on", body = Object),
        (status = 409, description = "The job is not the runner's any more"),
    ))]
pub async fn finish(runner: Enrolled, Discreet(body): Discreet<Finish>) -> Result<Json<Value>, Problem> {
    runner.seat.finish(body.of, body.report).await.map_err(refusal)?;
    Ok(Json(json!({})))
}

fn refusal(why: LinkError) -> Problem {
    match why {
        LinkError::Lost => Problem::conflict("the job is not this runner's any more; nothing was changed"),
        LinkError::Refused(why) => Problem::unprocessable(why),
        LinkError::Away(why) => {
            error!(why, "a runner cannot be answered");
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "nothing was changed; try again shortly")
        }
    }
}
