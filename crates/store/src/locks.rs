//! Locks for what only one process may do at a time. Each lapses by itself, so that a dead holder keeps nothing.

use std::time::Duration;

use crate::Store;
use crate::error::Error;

impl Store {
    /// Take or keep a lock for `ttl`. Its fencing token where it is held, which grows when it changes hands.
    pub async fn lock(&self, name: &'static str, holder: String, ttl: Duration) -> Result<Option<i64>, Error> {
        self.write(0, move |tx| {
            let holder = holder.clone();
            Box::pin(async move {
                let (now, until) = (tx.now.as_microsecond(), (tx.now + ttl).as_microsecond());
                let token: Option<i64> = sqlx::query_scalar(
                    "INSERT INTO locks (name, holder, fencing_token, expires_at) VALUES ($1, $2, 1, $3) \
                     ON CONFLICT (name) DO UPDATE SET holder = $2, expires_at = $3, fencing_token = locks.fencing_token + \
                     CASE WHEN locks.holder = $2 THEN 0 ELSE 1 END \
                     WHERE locks.holder = $2 OR locks.expires_at < $4 RETURNING fencing_token",
                )
                .bind(name)
                .bind(&holder)
                .bind(until)
                .bind(now)
                .fetch_optional(tx.connection())
                .await?;
                Ok(token)
            })
        })
        .await
    }

    /// Let a lock go before it lapses.
    pub async fn unlock(&self, name: &'static str, holder: String) -> Result<(), Error> {
        self.write(0, move |tx| {
            let holder = holder.clone();
            Box::pin(async move {
                sqlx::query("DELETE FROM locks WHERE name = $1 AND holder = $2")
                    .bind(name)
                    .bind(&holder)
                    .execute(tx.connection())
                    .await?;
                Ok(())
            })
        })
        .await
    }
}
