//! One request of a chain of redirects: what is sent along, and whether it may be.

use reqwest::Method;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::error::DoorError;
use super::exchange::Outgoing;
use super::target::Target;
use crate::disguise::Disguises;
use crate::secrets::{Secret, Secrets};

/// They are the client's business: with them a request could say it is for somebody else, or hide another in its body.
const OURS: [HeaderName; 8] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::EXPECT,
];

/// What is sent along to another host than the one that was asked; the rest may hold credentials.
const CARRIED_ON: [HeaderName; 3] = [header::ACCEPT, header::ACCEPT_LANGUAGE, header::USER_AGENT];

#[derive(Clone)]
pub struct Hop {
    pub method: Method,
    pub target: Target,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Hop {
    pub fn first(request: Outgoing, target: Target) -> Result<Hop, DoorError> {
        let mut headers = HeaderMap::new();
        for (name, value) in request.headers {
            let bad =
                |why: &str| DoorError::BadHeader { name: name.clone(), host: target.host.clone(), why: why.into() };
            let parsed =
                HeaderName::try_from(&name).map_err(|_| bad("its name has characters that headers cannot have"))?;
            if OURS.contains(&parsed) {
                return Err(bad("it is set by Terrane"));
            }
            let value =
                HeaderValue::try_from(value).map_err(|_| bad("its value has characters that headers cannot have"))?;
            headers.append(parsed, value);
        }
        Ok(Hop { method: request.method, target, headers, body: request.body })
    }

    /// The next one, after a redirect.
    pub fn towards(mut self, target: Target) -> Hop {
        if !self.target.same_origin(&target) {
            let mut kept = HeaderMap::new();
            for name in CARRIED_ON {
                kept.extend(self.headers.get(&name).map(|value| (name, value.clone())));
            }
            self.headers = kept;
        }
        Hop { target, ..self }
    }

    /// Refuses it if it holds a secret that names its hosts, and this is none of them.
    pub fn check_secrets(&self, secrets: &Secrets) -> Result<(), DoorError> {
        for (name, secret) in secrets.0.iter().filter(|(_, secret)| !self.may_get(secret)) {
            if self.holds(&Disguises::of(&secret.value)) {
                let host = self.target.host.clone();
                return Err(DoorError::SecretMayNotGoThere { secret: name.clone(), host });
            }
        }
        Ok(())
    }

    fn may_get(&self, secret: &Secret) -> bool {
        let Target { host, port, .. } = &self.target;
        let with_port = format!("{host}:{port}");
        let names = |named: &String| named.eq_ignore_ascii_case(host) || named.eq_ignore_ascii_case(&with_port);
        secret.hosts.is_empty() || secret.hosts.iter().any(names)
    }

    fn holds(&self, disguises: &Disguises) -> bool {
        let url = self.target.url.as_str();
        let decoded = percent_encoding::percent_decode_str(url).decode_utf8_lossy();
        let in_headers = || {
            let texts = self
                .headers
                .iter()
                .flat_map(|(name, value)| [name.as_str().into(), String::from_utf8_lossy(value.as_bytes())]);
            texts.into_iter().any(|text| disguises.occur_in(&text))
        };
        disguises.occur_in(url)
            || disguises.occur_in(&decoded)
            || in_headers()
            || disguises.occur_in(&String::from_utf8_lossy(&self.body))
    }
}
