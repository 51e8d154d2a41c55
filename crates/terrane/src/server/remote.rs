//! `terrane runner`: a runner whose control plane is elsewhere.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use ::runner::Runner;
use anyhow::{Context, bail};
use link::message::Enrolment;
use link::{Remote, Unwelcome};
use reqwest::{Certificate, Client};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{info, warn};

use super::{read_remote, runner, telemetry};
use crate::config::{RemoteConfig, RemoteFlags};

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Between tries to find the control plane at the start: twice as long each time, up to the last.
const REST: Duration = Duration::from_millis(250);
const LONGEST_REST: Duration = Duration::from_secs(10);

pub fn run(flags: RemoteFlags) -> anyhow::Result<()> {
    let config = read_remote(flags)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let telemetry = telemetry::start(&config.logs)?;
        let served = serve(&config).await;
        telemetry.end();
        served
    })
}

async fn serve(config: &RemoteConfig) -> anyhow::Result<()> {
    let stop = watch::Sender::new(false);
    tokio::spawn(stop_on_signal(stop.clone()));
    let remote = Remote::new(client(config)?, config.server.clone(), config.token.clone());
    let Some(enrolment) = introduce(&remote, stop.subscribe()).await? else { return Ok(()) };
    let ready = runner::build(&config.runner, Arc::new(remote.clone()), true)?;
    check(&enrolment, config, &ready.runner)?;
    if let Some(broker) = config.broker.clone() {
        tokio::spawn(remote.clone().attend(broker, enrolment.clone()));
    }
    tokio::spawn(remote.listen());
    info!(
        runner = enrolment.name,
        tenants = enrolment.tenants.join(","),
        labels = ?enrolment.labels,
        capacity = config.runner.capacity.value,
        "the runner is up"
    );
    ready.runner.clone().run(stop.subscribe()).await;
    let left = ready.runner.jobs();
    info!(left, "the runner has stopped; jobs under way go on, and a runner over the same workspaces finds them again");
    drop(ready.lock);
    Ok(())
}

/// A control plane that is away is waited for; one that does not know the runner is not.
async fn introduce(remote: &Remote, mut stop: watch::Receiver<bool>) -> anyhow::Result<Option<Enrolment>> {
    let mut rest = REST;
    loop {
        match remote.enrolment().await {
            Ok(enrolment) => return Ok(Some(enrolment)),
            Err(error @ Unwelcome::Token) => return Err(error).context("enrol it: terrane runners enrol"),
            Err(error) => warn!(%error, "trying again"),
        }
        tokio::select! {
            () = tokio::time::sleep(rest) => rest = (rest * 2).min(LONGEST_REST),
            _ = stop.wait_for(|stop| *stop) => return Ok(None),
        }
    }
}

/// Jobs of several tenants run side by side only where each is in a box.
fn check(enrolment: &Enrolment, config: &RemoteConfig, runner: &Runner) -> anyhow::Result<()> {
    if config.runner.capacity.value == 0 {
        bail!("--runner-capacity 0: a runner that takes no jobs is of no use");
    }
    if enrolment.tenants.len() < 2 {
        return Ok(());
    }
    if !config.runner.require_isolation.value {
        bail!(
            "runner {} serves {} tenants, and their jobs have to be kept apart: leave --require-isolation on, or enrol a runner for each",
            enrolment.name,
            enrolment.tenants.len()
        );
    }
    runner.can_isolate().map_err(|why| {
        anyhow::anyhow!(
            "runner {} serves {} tenants, and their jobs cannot be kept apart here: {why}; run it as root, allow user namespaces, or enrol a runner for each tenant",
            enrolment.name,
            enrolment.tenants.len()
        )
    })
}

fn client(config: &RemoteConfig) -> anyhow::Result<Client> {
    let mut builder = Client::builder()
        .user_agent(concat!("terrane-runner/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_WITHIN)
        .redirect(reqwest::redirect::Policy::none());
    if let Some(path) = &config.ca_cert {
        let pem = fs::read(path).with_context(|| format!("--ca-cert {}", path.display()))?;
        let authorities =
            Certificate::from_pem_bundle(&pem).with_context(|| format!("--ca-cert {}", path.display()))?;
        builder = builder.tls_certs_merge(authorities);
    }
    builder.build().context("cannot make a client")
}

async fn stop_on_signal(stop: watch::Sender<bool>) {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return warn!("cannot listen for signals; a stop will be abrupt");
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    info!("stopping: no new job is taken");
    stop.send_replace(true);
}
