//! What GitLab sends when a pipeline gets on. A delivery only wakes whoever waits: it may come twice, late, out of order or
//! never, so the pipeline is always looked at anew, and nothing in a delivery is believed.

use serde_json::Value;
use subtle::ConstantTimeEq;

/// Whether the delivery knows the secret: the value of `X-Gitlab-Token`, compared in constant time.
pub fn verify(secret: &[u8], token_header: &str) -> bool {
    !secret.is_empty() && bool::from(secret.ct_eq(token_header.as_bytes()))
}

/// What a delivery signals: the value of `X-Gitlab-Event` and the body. None if it is not about a pipeline.
pub fn signal(event_header: &str, body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let (project, pipeline) = match event_header {
        "Pipeline Hook" => (body.get("project")?.get("id")?, body.get("object_attributes")?.get("id")?),
        "Job Hook" => (body.get("project_id")?, body.get("pipeline_id")?),
        _ => return None,
    };
    Some(signal_of(project.as_u64()?, pipeline.as_u64()?))
}

pub(super) fn signal_of(project: u64, pipeline: u64) -> String {
    format!("gitlab:{project}:{pipeline}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_genuine_if_it_knows_the_secret() {
        assert!(verify(b"hush", "hush"));
        assert!(!verify(b"hush", "hus"));
        assert!(!verify(b"hush", ""));
        assert!(!verify(b"", ""));
    }

    #[test]
    fn a_pipeline_and_its_jobs_signal_the_pipeline() {
        let pipeline = br#"{"object_kind":"pipeline","object_attributes":{"id":31,"iid":3},"project":{"id":1}}"#;
        assert_eq!(signal("Pipeline Hook", pipeline).as_deref(), Some("gitlab:1:31"));
        let job = br#"{"object_kind":"build","pipeline_id":31,"project_id":1}"#;
        assert_eq!(signal("Job Hook", job).as_deref(), Some("gitlab:1:31"));
        assert_eq!(signal("Push Hook", pipeline), None);
        assert_eq!(signal("Pipeline Hook", b"no"), None);
    }
}
