//! What GitHub sends when a run gets on. A delivery only wakes whoever waits: it may come twice, late, out of order or never,
//! so the run is always looked at anew, and nothing in a delivery is believed.

use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha256;

/// Whether the body was signed with the secret: the value of `X-Hub-Signature-256`, compared in constant time.
pub fn verify(secret: &[u8], body: &[u8], signature_header: &str) -> bool {
    let Some(signature) = signature_header.strip_prefix("sha256=").and_then(from_hex) else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    mac.update(body);
    mac.verify_slice(&signature).is_ok()
}

/// What a delivery signals: the value of `X-GitHub-Event` and the body. None if it is not about a run.
pub fn signal(event_header: &str, body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let id = match event_header {
        "workflow_run" => body.get("workflow_run")?.get("id")?,
        "workflow_job" => body.get("workflow_job")?.get("run_id")?,
        _ => return None,
    };
    let repository = body.get("repository")?.get("full_name")?.as_str()?;
    Some(signal_of(repository, id.as_u64()?))
}

/// Names are written in any case, and mean the same.
pub(super) fn signal_of(repository: &str, id: u64) -> String {
    format!("github:{}:{id}", repository.to_lowercase())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of GitHub's documentation, "Validating webhook deliveries".
    const SECRET: &[u8] = b"It's a Secret to Everybody";
    const SIGNATURE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn a_delivery_is_genuine_if_it_was_signed_with_the_secret() {
        assert!(verify(SECRET, b"Hello, World!", SIGNATURE));
        assert!(!verify(SECRET, b"Hello, World?", SIGNATURE));
        assert!(!verify(b"another", b"Hello, World!", SIGNATURE));
        assert!(!verify(SECRET, b"Hello, World!", &SIGNATURE[..70]));
        for odd in ["", "sha256=", "sha1=75", "sha256=zz", "sha256=757", "sha256=é1"] {
            assert!(!verify(SECRET, b"Hello, World!", odd), "{odd}");
        }
    }

    #[test]
    fn a_run_and_its_jobs_signal_the_run() {
        let run = br#"{"action":"completed","workflow_run":{"id":42},"repository":{"full_name":"Acme/Infra"}}"#;
        assert_eq!(signal("workflow_run", run).as_deref(), Some("github:acme/infra:42"));
        let job = br#"{"workflow_job":{"id":7,"run_id":42},"repository":{"full_name":"acme/infra"}}"#;
        assert_eq!(signal("workflow_job", job).as_deref(), Some("github:acme/infra:42"));
        assert_eq!(signal("push", run), None);
        assert_eq!(signal("workflow_run", b"{"), None);
        assert_eq!(signal("workflow_run", b"{\"workflow_run\":{\"id\":\"x\"}}"), None);
    }
}
