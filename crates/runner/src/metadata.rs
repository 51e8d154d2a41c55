//! The clouds' metadata service hands the machine's own credentials to whoever asks from it. Jobs share the machine's network, so
//! their users are kept away from link-local addresses by a routing rule. A runner sets it once, when it starts.

use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::geteuid;

use crate::settings::UidRange;

const IP: [&str; 4] = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"];
/// Where clouds answer: AWS, Azure, GCP and most others; AWS once more over IPv6.
const SERVICES: [(&str, &str); 2] = [("-4", "169.254.0.0/16"), ("-6", "fd00:ec2::/32")];
/// Before the machine's own rules, after that for local addresses.
const PRIORITY: &str = "90";

/// Whether jobs are kept away from the metadata service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataBlock {
    InForce,
    /// And why.
    Absent(String),
}

/// Idempotent. Without it, and with jobs from people who are not trusted with the machine's credentials, a runner should not start.
pub fn block_metadata(uids: UidRange) -> MetadataBlock {
    if !geteuid().is_root() {
        return MetadataBlock::Absent(
            "only root can give jobs a user of their own, and users routes of their own".into(),
        );
    }
    let Some(ip) = IP.into_iter().find(|path| Path::new(path).exists()) else {
        return MetadataBlock::Absent("there is no `ip` program".into());
    };
    let range = format!("{}-{}", uids.first, uids.last());
    for (family, service) in SERVICES {
        let known = match run(ip, &[family, "rule", "show"]) {
            Ok(known) => known,
            // A machine without IPv6 has nothing there to block.
            Err(_) if family == "-6" => continue,
            Err(why) => return MetadataBlock::Absent(why),
        };
        let there = known.lines().any(|line| line.contains(service) && line.contains(&range));
        let rule = ["rule", "add", "priority", PRIORITY, "uidrange", &range, "to", service, "prohibit"];
        if !there && let Err(why) = run(ip, &[&[family], &rule[..]].concat()) {
            return MetadataBlock::Absent(why);
        }
    }
    MetadataBlock::InForce
}

#[expect(clippy::disallowed_methods, reason = "routing rules are set by the system's own program")]
fn run(ip: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(ip).args(arguments).env_clear().stdin(Stdio::null()).output();
    let output = output.map_err(|problem| format!("{ip}: {problem}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}
