//! The HTTP clients behind the door: one whose resolver checks every address, one for the hosts that the operator named.
//! They share no connections, so that what was opened by the one is never used by the other.

use std::error::Error;
use std::sync::{Arc, OnceLock};

use reqwest::{Client, redirect, retry};

use super::error::DoorError;
use super::exchange::Incoming;
use super::hop::Hop;
use super::lookup::{Checked, Refused};
use super::policy::{DoorPolicy, Exceptions};

pub struct Clients {
    policy: DoorPolicy,
    exceptions: Arc<Exceptions>,
    checked: OnceLock<Result<Client, String>>,
    named: OnceLock<Result<Client, String>>,
}

impl Clients {
    pub fn new(policy: &DoorPolicy, exceptions: &Arc<Exceptions>) -> Clients {
        let (policy, exceptions) = (policy.clone(), Arc::clone(exceptions));
        Clients { policy, exceptions, checked: OnceLock::new(), named: OnceLock::new() }
    }

    fn client(&self, named: bool) -> &Result<Client, String> {
        if named {
            self.named.get_or_init(|| self.build(None))
        } else {
            self.checked.get_or_init(|| self.build(Some(Arc::clone(&self.exceptions))))
        }
    }

    fn build(&self, exceptions: Option<Arc<Exceptions>>) -> Result<Client, String> {
        let lookup = Arc::clone(&self.policy.lookup);
        Client::builder()
            .user_agent(concat!("terrane/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(Checked { lookup, exceptions }))
            .connect_timeout(self.policy.connect_timeout)
            // A proxy would resolve names itself, unchecked.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            // A small answer that unpacks into a large one is not unpacked.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .build()
            .map_err(|error| reason(&error))
    }

    /// One request and its answer.
    pub async fn exchange(&self, hop: &Hop, answer_bytes: usize) -> Result<Incoming, DoorError> {
        let host = || hop.target.host.clone();
        let client = self.client(hop.target.named).as_ref();
        let client = client.map_err(|why| DoorError::Unreachable { host: host(), why: why.clone() })?;
        let request = client.request(hop.method.clone(), hop.target.url.clone()).headers(hop.headers.clone());
        let request = if hop.body.is_empty() { request } else { request.body(hop.body.clone()) };
        let mut response = request.send().await.map_err(|error| failed(&error, hop))?;
        let too_large = || DoorError::TooLarge { host: host(), bytes: answer_bytes };
        if response.content_length().is_some_and(|length| length > answer_bytes as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        let broken = |error: reqwest::Error| DoorError::BrokenAnswer { host: host(), why: reason(&error) };
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > answer_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Incoming { status: response.status().as_u16(), headers: response.headers().clone(), body })
    }
}

fn failed(error: &reqwest::Error, hop: &Hop) -> DoorError {
    let host = hop.target.host.clone();
    let refused = causes(error).find_map(|cause| cause.downcast_ref::<Refused>());
    match refused {
        Some(refused) => DoorError::Forbidden { host, port: hop.target.port, why: refused.to_string() },
        None if error.is_connect() => DoorError::Unreachable { host, why: reason(error) },
        None if error.is_timeout() => DoorError::TimedOut { host },
        None => DoorError::BrokenAnswer { host, why: reason(error) },
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// The innermost cause says what happened; the outer ones repeat the URL, which may hold a secret.
fn reason(error: &reqwest::Error) -> String {
    causes(error).skip(1).last().map_or_else(|| "it failed".to_owned(), ToString::to_string)
}
