//! The one door out. Every request that is made on a user's behalf leaves through here: the address it goes to is
//! resolved, checked and then used, on redirects too; secrets go only to the hosts they name; size and time are capped.

mod address;
mod clients;
mod error;
mod exchange;
mod hop;
mod lookup;
mod policy;
mod target;

use std::sync::Arc;
use std::time::Instant;

use reqwest::{Method, StatusCode, Url, header};

pub use error::DoorError;
pub use exchange::{Incoming, Outgoing};
pub use lookup::{Lookup, SystemLookup};
pub use policy::DoorPolicy;

use crate::secrets::Secrets;
use clients::Clients;
use hop::Hop;
use policy::Exceptions;
use target::Target;

/// Cheap to clone.
#[derive(Clone)]
pub struct Door(Arc<Inner>);

struct Inner {
    policy: DoorPolicy,
    exceptions: Arc<Exceptions>,
    clients: Clients,
}

impl Door {
    pub fn new(policy: DoorPolicy) -> Door {
        let exceptions = Arc::new(Exceptions::read(&policy.allowed));
        let clients = Clients::new(&policy, &exceptions);
        Door(Arc::new(Inner { policy, exceptions, clients }))
    }

    /// Sends a request and reads its answer, following the redirects of GET and HEAD. Nothing is sent after `until`.
    pub async fn send(
        &self,
        request: Outgoing,
        secrets: &Secrets,
        until: Option<Instant>,
    ) -> Result<Incoming, DoorError> {
        let target = self.target(&request.url)?;
        let policy = &self.0.policy;
        let deadline = Instant::now() + request.timeout.map_or(policy.timeout, |wanted| wanted.min(policy.timeout));
        let mut hop = Hop::first(request, target)?;
        for _ in 0..=policy.redirects {
            let host = hop.target.host.clone();
            hop.check_secrets(secrets)?;
            if until.is_some_and(|until| until <= Instant::now()) {
                return Err(DoorError::Late { host });
            }
            let exchange = self.0.clients.exchange(&hop, policy.answer_bytes);
            let incoming = tokio::time::timeout_at(deadline.into(), exchange)
                .await
                .map_err(|_| DoorError::TimedOut { host: host.clone() })??;
            match self.redirected(&hop, &incoming)? {
                None => return Ok(incoming),
                Some(target) => hop = hop.towards(target),
            }
        }
        Err(DoorError::TooManyRedirects { host: hop.target.host, times: policy.redirects + 1 })
    }

    fn target(&self, url: &str) -> Result<Target, DoorError> {
        let url = Url::parse(url).map_err(|error| DoorError::BadUrl { host: String::new(), why: error.to_string() })?;
        Target::of(url, &self.0.exceptions)
    }

    /// Where the answer sends us, if it is a redirect that may be followed: only what changes nothing is asked again
    /// elsewhere.
    fn redirected(&self, hop: &Hop, incoming: &Incoming) -> Result<Option<Target>, DoorError> {
        let redirects = [
            StatusCode::MOVED_PERMANENTLY,
            StatusCode::FOUND,
            StatusCode::SEE_OTHER,
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ];
        let follows = redirects.iter().any(|status| status.as_u16() == incoming.status)
            && (hop.method == Method::GET || hop.method == Method::HEAD);
        let Some(location) = incoming.header(header::LOCATION.as_str()).filter(|_| follows) else {
            return Ok(None);
        };
        let host = hop.target.host.clone();
        let url = hop.target.url.join(location).map_err(|error| DoorError::BadUrl { host, why: error.to_string() })?;
        let target = Target::of(url, &self.0.exceptions)?;
        if hop.target.url.scheme() == "https" && target.url.scheme() != "https" {
            let why = "the redirect to it leaves https".to_owned();
            return Err(DoorError::Forbidden { host: target.host, port: target.port, why });
        }
        Ok(Some(target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit test, because a front door with TLS would need an authority that the door trusts.
    #[test]
    fn a_redirect_does_not_lead_from_https_to_http() {
        let door = Door::new(DoorPolicy::default());
        let outcome = |from: &str, to: &str| {
            let hop = Hop::first(Outgoing::get(from), door.target(from).unwrap()).unwrap();
            let headers = [(header::LOCATION, to.parse().unwrap())].into_iter().collect();
            door.redirected(&hop, &Incoming { status: 302, headers, body: Vec::new() }).map(|target| target.is_some())
        };
        assert!(matches!(outcome("https://a.example/", "http://a.example/"), Err(DoorError::Forbidden { .. })));
        assert_eq!(outcome("https://a.example/", "https://b.example/"), Ok(true));
        assert_eq!(outcome("http://a.example/", "https://a.example/"), Ok(true));
        assert_eq!(outcome("https://a.example/", "//b.example/x"), Ok(true));
    }
}
