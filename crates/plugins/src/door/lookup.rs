//! From names to addresses. The connection is made to what is checked here and to nothing else: the check sits in the
//! resolver that the HTTP client itself uses, so that a name cannot change its mind between the two.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::policy::Exceptions;

/// Asks for a host's addresses.
pub trait Lookup: Send + Sync {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// As the system does it.
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|socket| socket.ip()).collect()) })
    }
}

/// A name that resolves to an address which may not be called.
#[derive(Debug, Clone, thiserror::Error)]
#[error("it resolves to {why}")]
pub struct Refused {
    pub why: &'static str,
}

/// The resolver of the HTTP client.
pub struct Checked {
    pub lookup: Arc<dyn Lookup>,
    /// None where the operator named the host.
    pub exceptions: Option<Arc<Exceptions>>,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let answer = self.lookup.lookup(name.as_str());
        let exceptions = self.exceptions.clone();
        Box::pin(async move {
            let addresses = answer.await?;
            // One bad address among good ones is an attempt too.
            let refusal = exceptions.and_then(|exceptions| addresses.iter().find_map(|ip| exceptions.refusal(*ip)));
            match refusal {
                Some(why) => Err(Refused { why }.into()),
                None => Ok(Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs),
            }
        })
    }
}
