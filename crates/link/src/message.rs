//! What a runner and the API say to each other, `terrane.runner/v1`. Fields are only ever added, and each side ignores those
//! that it does not know, so that a newer control plane works with an older runner.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, Mac};
use model::job::JobReport;
use model::{JobId, Labels};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use utoipa::ToSchema;

use crate::{Assigned, Holding, Keep, Kept};

/// Who the control plane takes a runner for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Enrolment {
    /// `terrane.runner/v1`.
    pub contract: String,
    pub name: String,
    /// Whose jobs it may do.
    pub tenants: Vec<String>,
    pub labels: Labels,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Claim {
    /// `terrane.runner/v1`.
    pub contract: String,
    /// For how many jobs there is room.
    pub free: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Claimed {
    pub jobs: Vec<Assigned>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Renew {
    pub jobs: Vec<Keep>,
}

/// What is missing is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Renewed {
    pub kept: Vec<Kept>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Log {
    #[serde(flatten)]
    pub of: Holding,
    /// Bytes before these.
    pub start: u64,
    pub base64: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Logged {
    /// How long the log is now.
    pub log_bytes: u64,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct State {
    #[serde(flatten)]
    pub of: Holding,
    /// As Terraform wrote it.
    pub state: String,
}

#[derive(Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Finish {
    #[serde(flatten)]
    pub of: Holding,
    pub report: JobReport,
}

/// There is work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    /// The newest job that waits: to be asked for what comes after it.
    pub newest: JobId,
}

/// What a runner says over the broker. It may be lost, come twice or late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    Log(Log),
    /// It is there.
    Heartbeat,
    /// Something of a later version.
    #[serde(other)]
    Unknown,
}

/// A note as it travels: whoever can write to the broker could say anything in any runner's name, so each is signed. The key is the digest
/// of the secret part of the runner's token, which the control plane keeps and nobody else has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The public part of its token.
    pub runner: String,
    pub signature: String,
    pub body: Vec<u8>,
}

impl Signed {
    pub fn by(runner: &str, key: &[u8], note: &Note) -> Option<Signed> {
        let body = serde_json::to_vec(note).ok()?;
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        mac.update(&body);
        let signature = BASE64_STANDARD.encode(mac.finalize().into_bytes());
        Some(Signed { runner: runner.into(), signature, body })
    }

    /// What it says, if it is from whom it says.
    pub fn open(&self, key: &[u8]) -> Option<Note> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        mac.update(&self.body);
        mac.verify_slice(&BASE64_STANDARD.decode(&self.signature).ok()?).ok()?;
        serde_json::from_slice(&self.body).ok()
    }
}

/// Secrets, on the one way that they are meant to go.
pub(crate) mod exposed {
    use std::collections::BTreeMap;

    use secrecy::{ExposeSecret, SecretString};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(secrets: &BTreeMap<String, SecretString>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(secrets.iter().map(|(name, value)| (name, value.expose_secret())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, SecretString>, D::Error> {
        let open = BTreeMap::<String, String>::deserialize(from)?;
        Ok(open.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

pub(crate) mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_believed_only_as_its_runner_signed_it() {
        let signed = Signed::by("abc", b"the key", &Note::Heartbeat).expect("signed");
        assert_eq!(signed.open(b"the key"), Some(Note::Heartbeat));
        assert_eq!(signed.open(b"another"), None);
        let forged = Signed { body: br#"{"note":"log"}"#.to_vec(), ..signed.clone() };
        assert_eq!(forged.open(b"the key"), None);
        assert_eq!(Signed { signature: String::new(), ..signed }.open(b"the key"), None);
    }

    #[test]
    fn a_note_of_a_later_version_is_no_reason_to_stop() {
        let later: Note = serde_json::from_str(r#"{"note":"song","verses":[1,2]}"#).expect("read");
        assert_eq!(later, Note::Unknown);
        let more: Note = serde_json::from_str(r#"{"note":"heartbeat","mood":"good"}"#).expect("read");
        assert_eq!(more, Note::Heartbeat);
    }
}
