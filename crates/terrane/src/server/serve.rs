//! Starting, serving and stopping. A stop lets requests under way finish, ends streams, writes what was taken, and closes.

use std::fs::{DirBuilder, File};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use api::{Access, App};
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use store::{Location, Store};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use super::{access, engine, keyring, runner, say, telemetry};
use crate::config::Config;

/// How long a stop may take before it stops waiting.
const DRAIN: Duration = Duration::from_secs(10);

/// How long a request's headers may take; an idle connection is closed after it too.
const HEADERS: Duration = Duration::from_secs(30);
/// How long the last notes may take.
const LAST_NOTES: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// All roles in one process, for one machine.
    Up { controller: bool },
    /// The API alone.
    Server { migrate: bool },
    /// The reconcile loop alone; it answers probes and Prometheus.
    Controller,
}

/// Make the file of the embedded database and its folder, closed to others.
pub fn prepare(config: &Config) -> anyhow::Result<()> {
    let Location::Sqlite(path) = &config.database.value else { return Ok(()) };
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty() && !dir.exists()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .with_context(|| format!("cannot make the data folder {}", dir.display()))?;
    }
    // SQLite gives its other files the mode of this one.
    if !path.exists() {
        let made = File::options().create_new(true).write(true).mode(0o600).open(path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
    }
    Ok(())
}

pub async fn migrate(config: Config) -> anyhow::Result<()> {
    prepare(&config)?;
    let migrated = Store::migrate(&config.database.value).await?;
    if migrated.from == migrated.to {
        say(&format!("{} is at version {} already", config.database.value, migrated.to));
    } else {
        say(&format!("{} brought from version {} to {}", config.database.value, migrated.from, migrated.to));
    }
    Ok(())
}

pub async fn serve(config: Config, role: Role) -> anyhow::Result<()> {
    let telemetry = telemetry::start(&config.logs)?;
    let served = run(&config, role).await;
    telemetry.end();
    served
}

async fn run(config: &Config, role: Role) -> anyhow::Result<()> {
    prepare(config)?;
    let _lock = access::lock(config)?;
    if role != (Role::Server { migrate: false }) {
        Store::migrate(&config.database.value).await.with_context(|| config.database.value.to_string())?;
    }
    let store = Store::open(&config.database.value).await.with_context(|| config.database.value.to_string())?;
    let access = if role == Role::Controller { Access::Tokens } else { access::decide(config, &store).await? };
    let keyring = keyring::open(config, &store).await?;
    let engine = engine::build(config, &store, keyring.clone())?;
    // Between machines runners are processes of their own.
    let runs = role == (Role::Up { controller: true });
    let runner = if runs { runner::embedded(config, &store, keyring.clone(), engine.face.live.clone())? } else { None };
    let app = App::new(store.clone(), access, engine.face);
    let tls = tls(config).await?;
    let listener = std::net::TcpListener::bind(config.listen.value).with_context(|| {
        format!("cannot listen on {}: is another server there? choose another --listen", config.listen.value)
    })?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let handle = Handle::new();
    let token_use = tokio::spawn(app.clone().keep_token_use());
    let reconciles = matches!(role, Role::Controller | Role::Up { controller: true });
    let reconciling = reconciles.then(|| tokio::spawn(engine.controller.run(app.draining())));
    let broker = config.broker.value.clone().filter(|_| reconciles).map(|broker| {
        let dispatcher = app.dispatcher.clone();
        tokio::spawn(dispatcher.serve_broker(broker, app.draining()))
    });
    let running = runner.as_ref().map(|ready| tokio::spawn(ready.runner.clone().run(app.draining())));
    tokio::spawn(stop_on_signal(app.clone(), handle.clone()));
    info!(%address, database = %store.database().await?, tokens = access == Access::Tokens, "terrane is up");
    if matches!(role, Role::Up { .. }) {
        greet(config, address, access);
    }
    let router = if role == Role::Controller { api::probes(app.clone()) } else { api::router(app.clone()) };
    listen(tls, listener, handle, router).await?;
    // Streams and requests are done, or were given up on; what they had been promised is written before the end.
    app.drain();
    if tokio::time::timeout(LAST_NOTES, token_use).await.is_err() {
        warn!("the last use of tokens was not noted: the database does not answer");
    }
    for loops in [reconciling, running, broker].into_iter().flatten() {
        let _ = loops.await;
    }
    store.close().await;
    info!("terrane has stopped");
    Ok(())
}

/// The certificate, read before anybody is told that the server is up.
async fn tls(config: &Config) -> anyhow::Result<Option<RustlsConfig>> {
    let (Some(cert), Some(key)) = (&config.tls_cert.value, &config.tls_key.value) else { return Ok(None) };
    let tls = RustlsConfig::from_pem_file(cert, key).await;
    tls.map(Some).with_context(|| format!("cannot use {} and {}", cert.display(), key.display()))
}

async fn listen(
    tls: Option<RustlsConfig>,
    listener: std::net::TcpListener,
    handle: Handle<SocketAddr>,
    router: axum::Router,
) -> anyhow::Result<()> {
    let service = router.into_make_service();
    match tls {
        Some(tls) => {
            let mut server = axum_server::from_tcp_rustls(listener, tls)?.handle(handle);
            hurry(server.http_builder());
            server.serve(service).await?;
        }
        None => {
            let mut server = axum_server::from_tcp(listener)?.handle(handle);
            hurry(server.http_builder());
            server.serve(service).await?;
        }
    }
    Ok(())
}

/// A client that does not finish its headers does not keep its connection.
fn hurry(http: &mut Builder<TokioExecutor>) {
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
    http.http2().timer(TokioTimer::new()).keep_alive_interval(HEADERS);
}

async fn stop_on_signal(app: Arc<App>, handle: Handle<SocketAddr>) {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        warn!("cannot listen for signals; a stop will not drain");
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    info!("stopping: no new requests; those under way may finish");
    app.drain();
    handle.graceful_shutdown(Some(DRAIN));
}

/// Where to look, and what to do next: the one thing `up` prints to standard output.
fn greet(config: &Config, address: SocketAddr, access: Access) {
    let scheme = if config.tls_cert.value.is_some() { "https" } else { "http" };
    let host = if address.ip().is_loopback() { format!("localhost:{}", address.port()) } else { address.to_string() };
    let server = if address.port() == 8000 { String::new() } else { format!(" --server {scheme}://{host}") };
    say(&format!("Terrane is up at {scheme}://{host}  (API: /docs, data: {})", config.database.value));
    if access == Access::Tokens {
        say("It asks for tokens; `terrane bootstrap` makes an operator's.");
    }
    // As it was called here, it can be called there.
    let terrane = std::env::args().next().unwrap_or("terrane".into());
    say("Next, in another terminal:");
    say(&format!("  {terrane} apply -f examples/database.yaml{server}"));
    say(&format!("  {terrane} get{server}"));
    say(&format!("  {terrane} describe databasecluster/production-pg{server}"));
}
