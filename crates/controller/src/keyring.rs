//! The keys that seal secrets at rest. The first key of the ring seals; any of them opens, so that a new key can be put in
//! front while secrets of the old one are still there. A sealed secret opens only under the tenant and name it was
//! sealed for: moving a row about gains nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use model::TenantId;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use store::SealedSecret;
use thiserror::Error;

const NONCE: usize = 24;

pub struct Keyring {
    keys: Vec<Key>,
}

struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
}

#[derive(Debug, Error)]
pub enum KeyringError {
    #[error("a key is 32 bytes in base64, one per line; line {line} is not")]
    NotAKey { line: usize },
    #[error("there is no key; make one with `openssl rand -base64 32`")]
    Empty,
    #[error("no key of the ring opens it (it was sealed with key {key_id})")]
    NoKey { key_id: String },
    #[error("it does not open: it was changed since it was sealed, or belongs elsewhere")]
    Broken,
    #[error("the system has no randomness to give")]
    NoRandomness,
}

impl Keyring {
    /// Keys in base64, one per line, the one that seals first. Empty lines and lines with `#` are left out.
    pub fn parse(text: &SecretString) -> Result<Keyring, KeyringError> {
        let lines = text.expose_secret().lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let keys = lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(line, text)| to_key(text).ok_or(KeyringError::NotAKey { line }))
            .collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(KeyringError::Empty) } else { Ok(Keyring { keys }) }
    }

    /// A new key, as a line of the key file.
    pub fn generate() -> Result<SecretString, KeyringError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| KeyringError::NoRandomness)?;
        Ok(STANDARD.encode(bytes).into())
    }

    /// The key that seals.
    pub fn current(&self) -> &str {
        self.keys.first().map_or("", |key| &key.id)
    }

    /// Seal a value for this tenant and name: the sealed bytes and the id of the key.
    pub fn seal(&self, tenant: TenantId, name: &str, value: &SecretString) -> Result<(Vec<u8>, String), KeyringError> {
        let key = self.keys.first().ok_or(KeyringError::Empty)?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| KeyringError::NoRandomness)?;
        let purpose = purpose(tenant, name);
        let payload = Payload { msg: value.expose_secret().as_bytes(), aad: purpose.as_bytes() };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| KeyringError::Broken)?;
        Ok(([nonce.as_slice(), &sealed].concat(), key.id.clone()))
    }

    pub fn open(&self, secret: &SealedSecret) -> Result<SecretString, KeyringError> {
        let key = self.keys.iter().find(|key| key.id == secret.key_id);
        let key = key.ok_or_else(|| KeyringError::NoKey { key_id: secret.key_id.clone() })?;
        let (nonce, sealed) = secret.sealed.split_first_chunk::<NONCE>().ok_or(KeyringError::Broken)?;
        let purpose = purpose(secret.tenant, &secret.name);
        let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
        let opened = key.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| KeyringError::Broken)?;
        String::from_utf8(opened).map(SecretString::from).map_err(|_| KeyringError::Broken)
    }
}

fn to_key(text: &str) -> Option<Key> {
    let bytes: [u8; 32] = STANDARD.decode(text).ok()?.try_into().ok()?;
    let digest = Sha256::digest(bytes);
    let id = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    Some(Key { id, cipher: XChaCha20Poly1305::new(&bytes.into()) })
}

fn purpose(tenant: TenantId, name: &str) -> String {
    format!("{tenant}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(keys: &[&SecretString]) -> Keyring {
        let text: Vec<_> = keys.iter().map(|key| key.expose_secret()).collect();
        Keyring::parse(&text.join("\n").into()).expect("a ring")
    }

    fn sealed(ring: &Keyring, tenant: i64, name: &str) -> SealedSecret {
        let (sealed, key_id) = ring.seal(TenantId(tenant), name, &"hunter2".into()).expect("sealed");
        SealedSecret { id: 1, tenant: TenantId(tenant), name: name.into(), sealed, key_id, hosts: vec![] }
    }

    #[test]
    fn what_was_sealed_opens_with_the_same_ring_and_with_one_that_has_a_newer_key_in_front() {
        let (old, new) = (Keyring::generate().expect("a key"), Keyring::generate().expect("a key"));
        let secret = sealed(&ring(&[&old]), 1, "token");
        assert_eq!(ring(&[&old]).open(&secret).expect("open").expose_secret(), "hunter2");
        assert_eq!(ring(&[&new, &old]).open(&secret).expect("open").expose_secret(), "hunter2");
        assert!(matches!(ring(&[&new]).open(&secret), Err(KeyringError::NoKey { .. })));
    }

    #[test]
    fn a_secret_that_was_moved_or_changed_does_not_open() {
        let key = Keyring::generate().expect("a key");
        let ring = ring(&[&key]);
        let secret = sealed(&ring, 1, "token");
        let moved = SealedSecret { tenant: TenantId(2), ..secret.clone() };
        let renamed = SealedSecret { name: "other".into(), ..secret.clone() };
        let mut changed = secret.clone();
        changed.sealed[30] ^= 1;
        let short = SealedSecret { sealed: vec![1, 2], ..secret };
        for broken in [moved, renamed, changed, short] {
            assert!(matches!(ring.open(&broken), Err(KeyringError::Broken)));
        }
    }

    #[test]
    fn a_key_file_that_holds_no_key_is_refused_with_its_line() {
        assert!(matches!(Keyring::parse(&"# nothing\n\n".into()), Err(KeyringError::Empty)));
        assert!(matches!(Keyring::parse(&"# a\nshort".into()), Err(KeyringError::NotAKey { line: 2 })));
    }
}
