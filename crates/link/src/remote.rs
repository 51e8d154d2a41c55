//! The link between machines: the same questions, asked over the API with the runner's own token. Whatever is wrong with the way
//! there is `Away`: what could not be said stays with the runner and is said again. With a broker, log goes over that while it is
//! there, and offers come from it.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::FutureExt;
use futures::future::BoxFuture;
use model::job::{JobEnd, JobReport, RUNNER_CONTRACT};
use model::plugin::Step;
use model::{Class, Failure, JobId};
use reqwest::{Client, Method, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::broker::{Broker, BrokerError, Post};
use crate::message::{Claim, Enrolment, Finish, Log, Logged, Note, Offer, Renew, Renewed, Signed, State};
use crate::{Assigned, Handing, Holding, Keep, Kept, Link, LinkError, Passed};

/// How long an answer may take; a large state goes with a request.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// A renewal that takes longer is of no use to a job's lease.
const RENEW_WITHIN: Duration = Duration::from_secs(5);
/// Between tries to hear of work: twice as long each time, up to the last.
const REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(10);

/// How often a runner says over the broker that it is there.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The control plane, as an enrolled runner reaches it.
#[derive(Clone)]
pub struct Remote {
    http: Client,
    server: Url,
    token: SecretString,
    offers: watch::Sender<u64>,
    /// To the broker, while it is there.
    post: watch::Sender<Option<Post>>,
}

/// Why a runner is not let in.
#[derive(Debug, Error)]
pub enum Unwelcome {
    #[error("the server does not know this runner: its token was revoked, or belongs to another server")]
    Token,
    #[error("the server cannot be reached: {0}")]
    Away(String),
}

impl Remote {
    /// `http` brings what it trusts; `server` is the API's address.
    pub fn new(http: Client, server: Url, token: SecretString) -> Remote {
        Remote { http, server, token, offers: watch::Sender::new(0), post: watch::Sender::new(None) }
    }

    /// Who the control plane takes this runner for.
    pub async fn enrolment(&self) -> Result<Enrolment, Unwelcome> {
        match self.send(Method::GET, "", None::<&()>, ANSWER_WITHIN).await {
            Ok((StatusCode::OK, body)) => {
                serde_json::from_slice(&body).map_err(|_| Unwelcome::Away("it answers as no Terrane does".into()))
            }
            Ok((StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _)) => Err(Unwelcome::Token),
            Ok((status, body)) => Err(Unwelcome::Away(detail(status, &body))),
            Err(why) => Err(Unwelcome::Away(why)),
        }
    }

    /// Hear of work, for ever: from the API while there is no broker.
    pub async fn listen(self) {
        let (mut newest, mut rest) = (JobId(0), REST);
        let mut post = self.post.subscribe();
        loop {
            let _ = post.wait_for(Option::is_none).await;
            match self.ask::<Offer>(Method::GET, &format!("/offers?after={newest}"), None::<&()>, ANSWER_WITHIN).await {
                Ok(offer) => {
                    rest = REST;
                    if offer.newest != newest {
                        newest = offer.newest;
                        self.offers.send_modify(|count| *count += 1);
                    }
                }
                Err(error) => {
                    debug!(%error, "cannot hear of work; trying again");
                    tokio::time::sleep(rest).await;
                    rest = (rest * 2).min(LONGEST_REST);
                }
            }
        }
    }

    /// Keep a connection to the broker, for ever.
    pub async fn attend(self, broker: Broker, who: Enrolment) {
        let mut rest = REST;
        loop {
            match self.attend_once(&broker, &who).await {
                Ok(()) => rest = REST,
                Err(error) => warn!(%error, "cannot use the broker; the API serves alone meanwhile"),
            }
            self.post.send_replace(None);
            tokio::time::sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
    }

    /// Until it breaks off.
    async fn attend_once(&self, broker: &Broker, who: &Enrolment) -> Result<(), BrokerError> {
        let mut end = broker.runner(who).await?;
        info!("the broker is there");
        self.post.send_replace(Some(end.post.clone()));
        let mut post = self.post.subscribe();
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        loop {
            // Also once at the start: something may have happened meanwhile.
            self.offers.send_modify(|count| *count += 1);
            loop {
                tokio::select! {
                    offered = end.offered() => match offered {
                        Ok(()) => break,
                        Err(error) => {
                            warn!(%error, "the broker is gone; the API serves alone meanwhile");
                            return Ok(());
                        }
                    },
                    _ = heartbeat.tick() => drop(self.note(&Note::Heartbeat).await),
                    () = async { drop(post.wait_for(Option::is_none).await) } => return Ok(()),
                }
            }
        }
    }

    /// Over the broker. A note that is not taken means that the broker is not there.
    async fn note(&self, note: &Note) -> bool {
        let post = self.post.borrow().clone();
        let Some((post, signed)) = post.zip(self.sign(note)) else { return false };
        match post.note(&signed).await {
            Ok(()) => true,
            Err(error) => {
                debug!(%error, "a note is not taken");
                self.post.send_replace(None);
                false
            }
        }
    }

    fn sign(&self, note: &Note) -> Option<Signed> {
        let (_, token) = self.token.expose_secret().split_once('_')?;
        let (public, secret) = token.split_once('_')?;
        Signed::by(public, &Sha256::digest(secret), note)
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
        within: Duration,
    ) -> Result<T, LinkError> {
        let (status, body) = self.send(method, path, body, within).await.map_err(LinkError::Away)?;
        match status {
            status if status.is_success() => serde_json::from_slice(&body)
                .map_err(|error| LinkError::Away(format!("the answer to {path} cannot be read: {error}"))),
            StatusCode::CONFLICT => Err(LinkError::Lost),
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
                Err(LinkError::Refused(detail(status, &body)))
            }
            // Also where the token is refused: the jobs' leases decide, and an operator may enrol the runner again.
            status => Err(LinkError::Away(detail(status, &body))),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
        within: Duration,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let address = format!("{}/api/v1/runner{path}", self.server.as_str().trim_end_matches('/'));
        let mut request = self.http.request(method, address).bearer_auth(self.token.expose_secret()).timeout(within);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.map_err(|error| reason(&error))?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(|error| reason(&error))?;
        Ok((status, body.to_vec()))
    }

    /// What cannot be read was meant for a newer runner. Its job is ended, so that it does not come back for ever.
    async fn read(&self, job: Value) -> Option<Assigned> {
        let error = match Assigned::deserialize(&job) {
            Ok(assigned) => return Some(assigned),
            Err(error) => error,
        };
        let Ok(of) = serde_json::from_value::<Holding>(job["assignment"].clone()) else {
            warn!(%error, "a job cannot be read, not even whose it is; it goes to another runner when its lease lapses");
            return None;
        };
        warn!(%error, job = %of.job, "a job cannot be read: this runner is older than the control plane");
        let failure = Failure::new(Class::Crash, Step::Apply, "the runner is too old for this job")
            .with_hint("Nothing was changed. Upgrade the runner, then: terrane reconcile");
        if let Err(error) = self.finish(of, JobReport::ended(JobEnd::Failed { failure })).await {
            warn!(%error, job = %of.job, "cannot say so; the job goes to another runner when its lease lapses");
        }
        None
    }
}

impl Link for Remote {
    fn claim(&self, free: usize) -> BoxFuture<'_, Result<Vec<Assigned>, LinkError>> {
        async move {
            let claim = Claim { contract: RUNNER_CONTRACT.into(), free };
            let mut claimed: Value = self.ask(Method::POST, "/claim", Some(&claim), ANSWER_WITHIN).await?;
            let Value::Array(jobs) = claimed["jobs"].take() else { return Ok(Vec::new()) };
            let mut assigned = Vec::with_capacity(jobs.len());
            for job in jobs {
                assigned.extend(self.read(job).await);
            }
            Ok(assigned)
        }
        .boxed()
    }

    fn renew<'a>(&'a self, jobs: &'a [Keep]) -> BoxFuture<'a, Result<Vec<Kept>, LinkError>> {
        async move {
            let renew = Renew { jobs: jobs.to_vec() };
            let renewed: Renewed = self.ask(Method::POST, "/renew", Some(&renew), RENEW_WITHIN).await?;
            Ok(renewed.kept)
        }
        .boxed()
    }

    fn log<'a>(
        &'a self,
        of: Holding,
        start: u64,
        bytes: Vec<u8>,
        how: Handing,
    ) -> BoxFuture<'a, Result<Passed, LinkError>> {
        async move {
            let end = start + bytes.len() as u64;
            let log = Log { of, start, base64: BASE64_STANDARD.encode(bytes) };
            if how == Handing::Quick && self.note(&Note::Log(log.clone())).await {
                return Ok(Passed { until: end, arrived: false });
            }
            let logged: Logged = self.ask(Method::POST, "/log", Some(&log), ANSWER_WITHIN).await?;
            Ok(Passed { until: logged.log_bytes, arrived: true })
        }
        .boxed()
    }

    fn state<'a>(&'a self, of: Holding, state: &'a str) -> BoxFuture<'a, Result<(), LinkError>> {
        async move {
            let state = State { of, state: state.into() };
            self.ask::<Value>(Method::POST, "/state", Some(&state), ANSWER_WITHIN).await.map(drop)
        }
        .boxed()
    }

    fn finish<'a>(&'a self, of: Holding, report: JobReport) -> BoxFuture<'a, Result<(), LinkError>> {
        async move {
            let finish = Finish { of, report };
            self.ask::<Value>(Method::POST, "/finish", Some(&finish), ANSWER_WITHIN).await.map(drop)
        }
        .boxed()
    }

    fn offers(&self) -> watch::Receiver<u64> {
        self.offers.subscribe()
    }
}

/// What a refusal says of itself.
fn detail(status: StatusCode, body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    match problem["detail"].as_str() {
        Some(detail) => detail.chars().take(500).collect(),
        None => format!("it answers {status}"),
    }
}

/// Without the address, which the runner's operator knows, but with what lies beneath.
fn reason(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() { "no answer in time".to_owned() } else { "no connection".to_owned() };
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
