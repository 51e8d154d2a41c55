//! A write's terms, out of its headers.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use store::IdempotencyKey;

use crate::caller::Caller;
use crate::conditional::IfMatch;
use crate::intake::Terms;
use crate::problem::Problem;
use crate::secret::fingerprint;

/// The `Idempotency-Key` of a POST, if it has one.
pub struct Key(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Key(None)) };
        let key = value.to_str().ok().filter(|key| (1..=255).contains(&key.len()));
        let key = key.ok_or_else(|| Problem::bad_request("Idempotency-Key: expected 1 to 255 printable characters"))?;
        Ok(Key(Some(key.into())))
    }
}

impl Key {
    /// Bind the key to what is asked.
    fn bind(self, request: &[&[u8]]) -> Option<IdempotencyKey> {
        self.0.map(|key| IdempotencyKey { key, fingerprint: fingerprint(request) })
    }
}

impl Caller {
    /// Terms of a change that is idempotent by itself.
    pub fn terms(self, dry_run: bool, if_match: IfMatch) -> Terms {
        Terms { scope: self.scope, actor: self.actor, dry_run, if_match, key: None }
    }

    /// Terms of a POST; `request` is what the key stands for.
    pub fn terms_once(self, dry_run: bool, if_match: IfMatch, key: Key, request: &[&[u8]]) -> Terms {
        Terms { key: key.bind(request), ..self.terms(dry_run, if_match) }
    }
}
