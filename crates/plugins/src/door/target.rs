//! Where a request goes.

use std::net::{IpAddr, Ipv4Addr};

use reqwest::Url;

use super::error::DoorError;
use super::policy::Exceptions;

/// Names by which clouds tell a machine its credentials.
const METADATA: [&str; 6] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
];

#[derive(Clone)]
pub struct Target {
    pub url: Url,
    /// Without brackets and a final dot, in lower case.
    pub host: String,
    pub port: u16,
    /// The operator named it: its addresses are not checked.
    pub named: bool,
}

impl Target {
    pub fn of(mut url: Url, exceptions: &Exceptions) -> Result<Target, DoorError> {
        let port = url.port_or_known_default().unwrap_or_default();
        let host =
            url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let bad = |why: &str| DoorError::BadUrl { host: host.clone(), why: why.to_owned() };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("its scheme must be http or https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it must not hold a user name or password"));
        }
        if host.is_empty() || port == 0 {
            return Err(bad("it has no host or port"));
        }
        url.set_fragment(None);
        let forbidden = |why: &str| DoorError::Forbidden { host: host.clone(), port, why: why.to_owned() };
        let named = exceptions.name(&host, port);
        match host.parse::<IpAddr>() {
            Ok(address) if !exceptions.name_socket(address, port) => {
                if let Some(why) = exceptions.refusal(address) {
                    return Err(forbidden(&format!("it is {why}")));
                }
            }
            Ok(_) => {}
            Err(_) if METADATA.contains(&host.as_str()) && !named => {
                return Err(forbidden("it is a cloud's metadata service"));
            }
            Err(_) if is_this_machine(&host) && !named && exceptions.refusal(Ipv4Addr::LOCALHOST.into()).is_some() => {
                return Err(forbidden("it is this machine"));
            }
            Err(_) => {}
        }
        Ok(Target { url, host, port, named })
    }

    /// Whether what is for the one may be told to the other.
    pub fn same_origin(&self, other: &Target) -> bool {
        self.url.scheme() == other.url.scheme() && self.host == other.host && self.port == other.port
    }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}
