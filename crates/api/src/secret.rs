//! Token secrets: random, shown once, kept as a digest.
//!
//! A token reads `trn_PUBLIC_SECRET`. The public part finds its record, the digest of the secret part proves it; 256
//! random bits need no slow hash.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

pub const MARK: &str = "trn";

/// A new token and what is stored of it.
pub struct NewSecret {
    /// What the user is shown, once.
    pub token: String,
    pub prefix: String,
    pub hash: Vec<u8>,
}

/// Draw a token. Fails only when the system has no randomness to give.
pub fn new_token() -> Result<NewSecret, getrandom::Error> {
    let mut public = [0u8; 6];
    let mut secret = [0u8; 32];
    getrandom::fill(&mut public)?;
    getrandom::fill(&mut secret)?;
    let prefix: String = public.iter().map(|byte| format!("{byte:02x}")).collect();
    let secret = BASE64_URL_SAFE_NO_PAD.encode(secret);
    Ok(NewSecret { hash: hash(&secret), token: format!("{MARK}_{prefix}_{secret}"), prefix })
}

fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

/// The public and the secret part.
pub fn split(token: &str) -> Option<(&str, &str)> {
    token.strip_prefix(MARK)?.strip_prefix('_')?.split_once('_')
}

pub fn proves(secret: &str, stored: &[u8]) -> bool {
    hash(secret).ct_eq(stored).into()
}

/// A digest of a request, to tell a repetition from another one.
pub fn fingerprint(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    BASE64_URL_SAFE_NO_PAD.encode(digest.finalize())
}
