//! Setting and deleting secrets. A value is sealed here, before anything else sees it, and shown to nobody again.

use std::sync::Arc;

use axum::http::StatusCode;
use controller::KeyringError;
use model::{SecretInfo, check_name};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use store::NewSecret;
use tracing::error;
use utoipa::ToSchema;

use super::Terms;
use crate::app::App;
use crate::problem::Problem;

const MAX_VALUE: usize = 64 * 1024;
const MAX_HOSTS: usize = 32;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretBody {
    /// 1 byte to 64 KiB. No answer, log line or event ever shows it.
    #[schema(value_type = String, min_length = 1, max_length = 65536, format = Password, write_only)]
    pub value: SecretString,
    /// The hosts it may be sent to: a host, `host:port` or `*.suffix`; any where absent.
    #[serde(default)]
    #[schema(max_items = 32, example = json!(["api.example.com"]))]
    pub hosts: Vec<String>,
}

/// A secret after it was set.
#[derive(Serialize)]
pub struct SetSecret {
    pub info: SecretInfo,
    pub is_new: bool,
}

impl App {
    pub async fn set_secret(&self, terms: &Terms, name: String, body: SecretBody) -> Result<SetSecret, Problem> {
        check_name("name", &name)?;
        check_value(&body.value)?;
        check_hosts(&body.hosts)?;
        let (sealed, key_id) =
            self.keyring()?.seal(terms.scope.id, &name, &body.value).map_err(|error| unsealed(&error))?;
        let new = Arc::new(NewSecret { name, sealed, key_id, hosts: body.hosts });
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, 0, 200, move |tx| {
            let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
            let new = new.clone();
            Box::pin(async move {
                let found = tx.find_secret(&scope, &new.name).await?;
                if_match.check(found.as_ref().map_or(0, |found| found.resource_version))?;
                let info = tx.put_secret(&scope, &actor, &new).await?;
                Ok(SetSecret { info, is_new: found.is_none() })
            })
        });
        let set = written.await?.once()?;
        // What was only tried has no id.
        let id = if terms.dry_run && set.is_new { 0 } else { set.info.id };
        Ok(SetSecret { info: SecretInfo { id, ..set.info }, ..set })
    }

    pub async fn delete_secret(&self, terms: &Terms, name: String) -> Result<(), Problem> {
        check_name("name", &name)?;
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, 0, 204, move |tx| {
            let (scope, actor, if_match, name) = (scope.clone(), actor.clone(), if_match.clone(), name.clone());
            Box::pin(async move {
                if let Some(found) = tx.find_secret(&scope, &name).await? {
                    if_match.check(found.resource_version)?;
                }
                tx.delete_secret(&scope, &actor, &name).await
            })
        });
        written.await?.once()
    }
}

fn check_value(value: &SecretString) -> Result<(), Problem> {
    let bytes = value.expose_secret().len();
    if (1..=MAX_VALUE).contains(&bytes) {
        return Ok(());
    }
    Err(Problem::bad_request(format!("value: expected 1 to {MAX_VALUE} bytes, found {bytes}")))
}

/// A host that is none is not repeated: it may be the value, at the wrong place.
fn check_hosts(hosts: &[String]) -> Result<(), Problem> {
    if hosts.len() > MAX_HOSTS {
        return Err(Problem::bad_request(format!("hosts: expected at most {MAX_HOSTS}, found {}", hosts.len())));
    }
    match hosts.iter().position(|host| !is_host(host)) {
        Some(at) => Err(Problem::bad_request(format!(
            "hosts[{at}]: expected a host such as api.example.com, api.example.com:8443, *.example.com or [::1]:8443"
        ))),
        None => Ok(()),
    }
}

fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse().is_ok_and(|port: u16| port > 0);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_name = |name: &str| name.len() <= 253 && name.split('.').all(is_label);
    let is_v6 = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inner.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok())
    };
    port.is_none_or(is_port) && (is_name(host.strip_prefix("*.").unwrap_or(host)) || is_v6(host))
}

fn unsealed(error: &KeyringError) -> Problem {
    error!(%error, "a secret could not be sealed");
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the secret could not be sealed; nothing was kept, see the server's log",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_have_a_port_or_a_star_in_front() {
        for good in
            ["api.example.com", "localhost:8443", "*.example.com", "*.example.com:443", "10.0.0.1", "[::1]", "[::1]:80"]
        {
            assert!(is_host(good), "{good}");
        }
        for bad in [
            "",
            "*",
            "*.",
            ".",
            "a..b",
            "https://api.example.com",
            "a/b",
            "a:b",
            "a:0",
            "a:99999",
            "a:",
            "::1",
            "-a",
            "a-",
            "a b",
            "*.*.com",
            "[::1",
            "user@host",
            "hunter2!",
        ] {
            assert!(!is_host(bad), "{bad}");
        }
    }
}
