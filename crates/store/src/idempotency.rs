//! Idempotency keys: a POST that is sent again with the same key gets the first one's answer. The key is recorded in
//! the write's own transaction, so that there is no instant at which one exists without the other.

use std::time::Duration;

use model::Scope;

use crate::error::{Error, Refusal};
use crate::row::Cells;
use crate::writer::Tx;

const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone)]
pub struct IdempotencyKey {
    pub key: String,
    /// A digest of the request, to tell a repetition from a mistake.
    pub fingerprint: String,
}

/// The answer that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub status: u16,
    pub body: String,
}

impl Tx {
    /// The answer already given under this key, if any. Whoever else comes with the key waits for this transaction.
    pub async fn recall(&mut self, scope: &Scope, key: &IdempotencyKey) -> Result<Option<Recorded>, Error> {
        if let Some(text) = self.dialect.hold_key() {
            sqlx::query(text).bind(&key.key).bind(scope.id.0).execute(self.connection()).await?;
        }
        let oldest = self.now.as_microsecond() - KEPT_FOR.as_micros() as i64;
        sqlx::query("DELETE FROM idempotency_keys WHERE created_at < $1")
            .bind(oldest)
            .execute(self.connection())
            .await?;
        let row =
            sqlx::query("SELECT fingerprint, status, body FROM idempotency_keys WHERE tenant_id = $1 AND key = $2")
                .bind(scope.id.0)
                .bind(&key.key)
                .fetch_optional(self.connection())
                .await?;
        let Some(row) = row else { return Ok(None) };
        if row.text("fingerprint")? != key.fingerprint {
            return Err(Refusal::KeyReused.into());
        }
        Ok(Some(Recorded { status: row.int("status")? as u16, body: row.text("body")? }))
    }

    pub async fn remember(&mut self, scope: &Scope, key: &IdempotencyKey, answer: &Recorded) -> Result<(), Error> {
        let now = self.now.as_microsecond();
        sqlx::query(
            "INSERT INTO idempotency_keys (tenant_id, key, fingerprint, status, body, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(scope.id.0)
        .bind(&key.key)
        .bind(&key.fingerprint)
        .bind(i64::from(answer.status))
        .bind(&answer.body)
        .bind(now)
        .execute(self.connection())
        .await?;
        Ok(())
    }
}
