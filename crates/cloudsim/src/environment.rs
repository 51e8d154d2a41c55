//! What the process is told by its environment: read here, once, and nowhere else.

use std::{env, ffi::OsString, path::PathBuf};

/// Terraform's proof that it is the one who starts a plugin.
const MAGIC_COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The folder of the simulated cloud, where the provider's configuration names none.
pub const WORLD: &str = "CLOUDSIM_WORLD";

pub struct Environment {
    /// Whether this process is to serve as a provider (`TF_PLUGIN_MAGIC_COOKIE`), and not as a command for people.
    pub started_by_terraform: bool,
    /// The certificate by which Terraform will be known, as PEM (`PLUGIN_CLIENT_CERT`).
    pub client_certificate: Option<String>,
    /// The folder of the simulated cloud (`CLOUDSIM_WORLD`).
    pub world: Option<PathBuf>,
}

impl Environment {
    pub fn read() -> Environment {
        Environment {
            started_by_terraform: variable("TF_PLUGIN_MAGIC_COOKIE").is_some_and(|cookie| cookie == MAGIC_COOKIE),
            client_certificate: variable("PLUGIN_CLIENT_CERT").and_then(|pem| pem.into_string().ok()),
            world: variable(WORLD).map(PathBuf::from),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this module is where cloudsim's configuration is read")]
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
