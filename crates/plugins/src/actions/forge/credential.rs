//! Whose token goes where. The operator's own token is a convenience for the default tenant at the operator's own forge. A
//! configuration that names another address, or another tenant's, must bring its own: else anybody who may write a
//! configuration could have the operator's token sent to a server of theirs, or use it on repositories of others.

use model::plugin::Call;
use model::{Class, Failure};
use secrecy::SecretString;
use serde_json::Value;

use crate::secrets::{Secrets, reference};

const OPERATORS_TENANT: &str = "default";

/// What the operator set for the whole installation.
pub(crate) struct Operator<'a> {
    pub token: Option<&'a SecretString>,
    pub api_url: &'a str,
    /// `GITHUB_TOKEN`.
    pub token_setting: &'static str,
}

#[derive(Debug)]
pub(crate) struct Credential(pub SecretString);

/// The token to send to `api_url`: the configuration's, or else the operator's if it may go there.
pub(crate) fn credential(
    call: &Call,
    configured: Option<&Value>,
    api_url: &str,
    operator: &Operator<'_>,
    secrets: &Secrets,
) -> Result<Credential, Failure> {
    let fail = |message: String| Failure::new(Class::Credentials, call.step, message);
    if let Some(configured) = configured {
        let Some(name) = reference(configured) else {
            return Err(Failure::new(Class::InvalidConfig, call.step, "`token` is not a reference to a secret")
                .with_hint("Put the token into a secret and write `\"token\": {\"secret\": \"its name\"}`"));
        };
        return match secrets.0.get(name) {
            Some(secret) => Ok(Credential(secret.value.clone())),
            None => Err(fail(format!("There is no secret `{name}`"))),
        };
    }
    let own = "Set `\"token\": {\"secret\": \"its name\"}` in `plugin_config`";
    if !same_address(api_url, operator.api_url) {
        return Err(fail(format!("There is no token for {api_url}: the operator's is only for {}", operator.api_url))
            .with_hint(own));
    }
    if call.resource.tenant != OPERATORS_TENANT {
        return Err(fail(format!("There is no token: the operator's is only for the tenant `{OPERATORS_TENANT}`"))
            .with_hint(own));
    }
    match operator.token {
        Some(token) => Ok(Credential(token.clone())),
        None => Err(fail("There is no token".into())
            .with_hint(format!("{own}, or have the operator set {}", operator.token_setting))),
    }
}

/// The same scheme, host, port and path, however the end is written.
fn same_address(one: &str, other: &str) -> bool {
    match (reqwest::Url::parse(one.trim_end_matches('/')), reqwest::Url::parse(other.trim_end_matches('/'))) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
