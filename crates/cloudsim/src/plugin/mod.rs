//! How Terraform and a provider find and trust each other: a line on standard output, a unix socket, mutual TLS, gRPC.
//! One connection is served. When it ends, however it ends, the calls under way are finished before the process leaves:
//! a cloud does not stop working on what it was asked because the asker died.

mod service;
mod tls;

use std::{
    convert::Infallible,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use hyper::{server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, pem};
use tokio::{
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::provider::Provider;
use service::Service;
use tls::Identity;

/// How long to wait for whoever started us; a Terraform that was killed meanwhile never comes.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("PLUGIN_CLIENT_CERT is not set: this Terraform does not offer mutual TLS")]
    NoClientCertificate,
    #[error("PLUGIN_CLIENT_CERT is not a certificate")]
    ClientCertificate(#[source] pem::Error),
    #[error("no certificate could be made")]
    OwnCertificate(#[from] rcgen::Error),
    #[error("TLS cannot be configured")]
    Tls(#[from] rustls::Error),
    #[error("Terraform did not connect within {} seconds", PATIENCE.as_secs())]
    NobodyCame,
    #[error("the socket failed")]
    Socket(#[from] io::Error),
}

pub async fn serve(provider: Provider, client_certificate: Option<&str>) -> Result<(), PluginError> {
    // Ctrl-C reaches the whole process group; what it means is for Terraform to decide. Listening is enough to stay alive.
    let _interrupts = signal(SignalKind::interrupt())?;
    let identity = tls::identity(client_certificate.ok_or(PluginError::NoClientCertificate)?)?;
    let stream = meet(identity).await?;

    let (underway, mut finished) = mpsc::channel(1);
    converse(stream, Service::new(provider, underway)).await;
    // Nothing is ever sent: the channel closes when the last call under way has let go of its end.
    let _: Option<Infallible> = finished.recv().await;
    Ok(())
}

/// Tells Terraform where to connect, and waits for it.
async fn meet(identity: Identity) -> Result<TlsStream<UnixStream>, PluginError> {
    // The folder is readable by its owner alone. It is removed once the socket has served its purpose, so that a
    // provider that is killed leaves nothing behind.
    let folder = tempfile::Builder::new().prefix("cloudsim-").tempdir()?;
    let socket = folder.path().join("plugin.sock");
    let listener = UnixListener::bind(&socket)?;
    announce(&socket, &identity.certificate)?;
    let (stream, _) = timeout(PATIENCE, listener.accept()).await.map_err(|_| PluginError::NobodyCame)??;
    folder.close()?;
    Ok(TlsAcceptor::from(identity.config).accept(stream).await?)
}

fn announce(socket: &Path, certificate: &CertificateDer<'_>) -> io::Result<()> {
    // Version of the handshake, version of the provider protocol, where, how, and by which certificate.
    let line = format!("1|6|unix|{}|grpc|{}\n", socket.display(), BASE64_STANDARD_NO_PAD.encode(certificate));
    let mut stdout = io::stdout();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Serves the connection until Terraform closes it, dies, or asks for shutdown (which is answered first).
async fn converse(stream: TlsStream<UnixStream>, service: Service) {
    let shutdown = service.shutdown();
    let service = service_fn(move |request| service.clone().answer(request));
    let connection = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // An error is how the death of Terraform looks from here; there is nobody left to tell.
    let _ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.notified() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}
