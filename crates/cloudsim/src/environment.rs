//! What the process is told by its environment: read here, once, and nowhere else.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf};

/// Terraform's proof that it is the one who starts a plugin.
const MAGIC_COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The folder of the simulated cloud, where the provider's configuration names none.
pub const WORLD: &str = "CLOUDSIM_WORLD";

/// By which real providers are told who asks, and where.
const CLOUDS: [&str; 15] = [
    "ARM_CLIENT_ID",
    "ARM_SUBSCRIPTION_ID",
    "ARM_TENANT_ID",
    "AWS_ACCESS_KEY_ID",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "DIGITALOCEAN_ACCESS_TOKEN",
    "DIGITALOCEAN_TOKEN",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_PROJECT",
    "GOOGLE_REGION",
    "GOOGLE_ZONE",
    "KUBE_CONFIG_PATH",
    "KUBE_HOST",
    "LINODE_TOKEN",
];

#[derive(Default)]
pub struct Environment {
    /// Whether this process is to serve as a provider (`TF_PLUGIN_MAGIC_COOKIE`), and not as a command for people.
    pub started_by_terraform: bool,
    /// The certificate by which Terraform will be known, as PEM (`PLUGIN_CLIENT_CERT`).
    pub client_certificate: Option<String>,
    /// The folder of the simulated cloud (`CLOUDSIM_WORLD`).
    pub world: Option<PathBuf>,
    pub clouds: BTreeMap<String, String>,
}

impl Environment {
    pub fn read() -> Environment {
        let clouds = CLOUDS.into_iter().filter_map(|name| Some((name.to_owned(), variable(name)?.into_string().ok()?)));
        Environment {
            started_by_terraform: variable("TF_PLUGIN_MAGIC_COOKIE").is_some_and(|cookie| cookie == MAGIC_COOKIE),
            client_certificate: variable("PLUGIN_CLIENT_CERT").and_then(|pem| pem.into_string().ok()),
            world: variable(WORLD).map(PathBuf::from),
            clouds: clouds.collect(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this module is where cloudsim's configuration is read")]
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
