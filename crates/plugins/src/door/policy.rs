//! What the operator lets through the door, and how much of it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;

use super::address;
use super::lookup::{Lookup, SystemLookup};

/// The door's settings.
#[derive(Clone)]
pub struct DoorPolicy {
    /// What may be called though it is not public: `host`, `host:port`, an address or a CIDR.
    pub allowed: Vec<String>,
    /// The largest answer that is read.
    pub answer_bytes: usize,
    /// For one request and its redirects, to the last byte.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    pub redirects: usize,
    pub lookup: Arc<dyn Lookup>,
}

impl Default for DoorPolicy {
    fn default() -> DoorPolicy {
        DoorPolicy {
            allowed: Vec::new(),
            answer_bytes: 8 * 1024 * 1024,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            redirects: 5,
            lookup: Arc::new(SystemLookup),
        }
    }
}

impl fmt::Debug for DoorPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoorPolicy").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl DoorPolicy {
    pub fn allowing<S: Into<String>>(allowed: impl IntoIterator<Item = S>) -> DoorPolicy {
        DoorPolicy { allowed: allowed.into_iter().map(Into::into).collect(), ..DoorPolicy::default() }
    }
}

/// The operator's exceptions, read once.
#[derive(Debug, Default)]
pub struct Exceptions {
    hosts: Vec<String>,
    hosts_with_port: Vec<(String, u16)>,
    sockets: Vec<SocketAddr>,
    networks: Vec<IpNet>,
}

impl Exceptions {
    pub fn read(allowed: &[String]) -> Exceptions {
        let mut exceptions = Exceptions::default();
        for entry in allowed.iter().map(|entry| entry.trim().to_ascii_lowercase()) {
            if let Ok(network) = entry.parse() {
                exceptions.networks.push(network);
            } else if let Ok(address) = entry.trim_matches(['[', ']']).parse::<IpAddr>() {
                exceptions.networks.push(address.into());
            } else if let Ok(socket) = entry.parse() {
                exceptions.sockets.push(socket);
            } else if let Some((host, Ok(port))) = entry.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
                exceptions.hosts_with_port.push((host.to_owned(), port));
            } else {
                exceptions.hosts.push(entry);
            }
        }
        exceptions
    }

    /// Whether the operator named this very host: then its addresses are the operator's business.
    pub fn name(&self, host: &str, port: u16) -> bool {
        let with_port = |(named, at): &(String, u16)| named == host && *at == port;
        self.hosts.iter().any(|named| named == host) || self.hosts_with_port.iter().any(with_port)
    }

    pub fn name_socket(&self, address: IpAddr, port: u16) -> bool {
        self.sockets.contains(&SocketAddr::new(address, port))
    }

    /// Why an address may not be called; none if it may.
    pub fn refusal(&self, address: IpAddr) -> Option<&'static str> {
        let within = |network: &IpNet| network.contains(&address) || network.contains(&address::plain(address));
        if self.networks.iter().any(within) { None } else { address::refusal(address) }
    }
}
