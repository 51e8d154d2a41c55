//! A cloud account: with whose credentials Terraform works, and where. Credentials are named here, never held.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;

words!(
    /// Whose account it is. Decides which environment variables its credentials go by.
    Provider {
        Aws = "aws",
        Gcp = "gcp",
        Azure = "azure",
        DigitalOcean = "digitalocean",
        Linode = "linode",
        /// Any other: its variables are what its Terraform provider reads.
        Other = "other",
    }
);

/// The tenant's secret that a credential is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretReference {
    #[schema(example = "prod-aws-key")]
    pub secret: String,
}

/// Environment variables, and the secrets that they get.
pub type Credentials = BTreeMap<String, SecretReference>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Account {
    pub id: i64,
    #[schema(example = "prod-aws")]
    pub name: String,
    pub provider: Provider,
    pub credentials: Credentials,
    /// Where things are made unless something else is said.
    #[schema(example = "eu-west-1")]
    pub region: Option<String>,
    pub resource_version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Provider {
    /// The variables that its credentials go by: those that must be there, and those that may be.
    fn variables(self) -> Option<(&'static [&'static str], &'static [&'static str])> {
        Some(match self {
            Provider::Aws => (&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], &["AWS_SESSION_TOKEN"]),
            Provider::Gcp => (&["GOOGLE_CREDENTIALS"], &["GOOGLE_PROJECT"]),
            Provider::Azure => (
                &["ARM_SUBSCRIPTION_ID"],
                &["ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "ARM_CLIENT_CERTIFICATE", "ARM_TENANT_ID", "ARM_ACCESS_KEY"],
            ),
            Provider::DigitalOcean => (&["DIGITALOCEAN_TOKEN"], &["SPACES_ACCESS_KEY_ID", "SPACES_SECRET_ACCESS_KEY"]),
            Provider::Linode => (&["LINODE_TOKEN"], &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]),
            Provider::Other => return None,
        })
    }

    /// What is wrong with these credentials, if anything is.
    pub fn check(self, credentials: &Credentials) -> Result<(), String> {
        let Some((needed, possible)) = self.variables() else {
            return match credentials.keys().find(|name| !is_variable(name)) {
                Some(name) => Err(format!(
                    "{name:?} is no name for a credential: letters, digits and _, and none of the runner's own"
                )),
                None => Ok(()),
            };
        };
        if let Some(missing) = needed.iter().find(|name| !credentials.contains_key(**name)) {
            return Err(format!("{} needs {missing}", self.as_str()));
        }
        let known = |name: &str| needed.contains(&name) || possible.contains(&name);
        match credentials.keys().find(|name| !known(name)) {
            Some(name) => {
                let all: Vec<_> = needed.iter().chain(possible).copied().collect();
                Err(format!("{} has no credential {name:?}; it has {}", self.as_str(), all.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// The variables by which its Terraform provider learns of the region.
    pub fn region_variables(self) -> &'static [&'static str] {
        match self {
            Provider::Aws => &["AWS_REGION", "AWS_DEFAULT_REGION"],
            Provider::Gcp => &["GOOGLE_REGION"],
            Provider::Azure | Provider::DigitalOcean | Provider::Linode | Provider::Other => &[],
        }
    }
}

/// What a job may be told by its environment; not what decides how it is run.
pub fn is_variable(name: &str) -> bool {
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let reserved = ["PATH", "HOME", "TMPDIR", "IFS", "ENV", "BASH_ENV", "SHELL"].contains(&name)
        || ["LD_", "TF_CLI_", "TF_DATA_DIR", "TF_PLUGIN", "TF_LOG", "TF_REATTACH", "GIT_", "TERRANE_"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    plain && !reserved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(names: &[&str]) -> Credentials {
        names.iter().map(|name| (name.to_string(), SecretReference { secret: "s".into() })).collect()
    }

    #[test]
    fn each_provider_has_credentials_of_its_own() {
        assert_eq!(Provider::Aws.check(&credentials(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])), Ok(()));
        assert_eq!(Provider::Other.check(&credentials(&["HCLOUD_TOKEN"])), Ok(()));
        for (provider, names, says) in [
            (Provider::Aws, &["AWS_ACCESS_KEY_ID"][..], "needs AWS_SECRET_ACCESS_KEY"),
            (Provider::Gcp, &["GOOGLE_CREDENTIALS", "LINODE_TOKEN"], "has no credential \"LINODE_TOKEN\""),
            (Provider::Other, &["LD_PRELOAD"], "is no name for a credential"),
            (Provider::Other, &["a b"], "is no name for a credential"),
        ] {
            let wrong = provider.check(&credentials(names)).expect_err("it is wrong");
            assert!(wrong.contains(says), "{wrong}");
        }
    }
}
