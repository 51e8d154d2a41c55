//! What only one controller does: it is elected by a lock that lapses by itself. Reconciling needs no leader.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::{info, warn};

use crate::Controller;

const LOCK: &str = "singletons";
const TTL: Duration = Duration::from_secs(15);
const RENEW: Duration = Duration::from_secs(5);
/// How much of the housekeeping is done in one go.
const FEW: usize = 50;

impl Controller {
    /// Stand for election until told to stop, and do what the leader does while elected.
    pub(crate) async fn lead(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut leading = false;
        while !*stop.borrow() {
            let elected = match self.store.lock(LOCK, self.holder.clone(), TTL).await {
                Ok(token) => token.is_some(),
                Err(error) => {
                    warn!(%error, "cannot stand for election");
                    false
                }
            };
            if elected != leading {
                info!(leading = elected, "leadership changed");
                leading = elected;
            }
            self.metrics.leading.set(i64::from(leading));
            if leading {
                self.reseal_secrets().await;
                self.measure_backlog().await;
            }
            tokio::select! {
                () = tokio::time::sleep(RENEW) => {}
                _ = stop.changed() => {}
            }
        }
        if leading {
            let _ = self.store.unlock(LOCK, self.holder.clone()).await;
        }
    }

    /// Secrets that an old key sealed are sealed anew, a few at a time, so that the old key can go.
    async fn reseal_secrets(&self) {
        let Some(keyring) = &self.tools.keyring else { return };
        let old = match self.store.secrets_of_other_keys(keyring.current(), FEW).await {
            Ok(old) => old,
            Err(error) => return warn!(%error, "cannot look for secrets of an old key"),
        };
        if !old.is_empty() {
            info!(secrets = old.len(), "sealing secrets anew with the current key");
        }
        for secret in old {
            let name = secret.name.clone();
            let sealed = keyring.open(&secret).and_then(|value| keyring.seal(secret.tenant, &secret.name, &value));
            match sealed {
                Ok((sealed, key_id)) => {
                    if let Err(error) = self.store.reseal(secret, sealed, key_id).await {
                        warn!(%error, secret = name, "cannot seal a secret anew");
                    }
                }
                Err(error) => warn!(%error, secret = name, "a secret of an old key cannot be opened; set it again"),
            }
        }
    }

    async fn measure_backlog(&self) {
        if let Ok(backlog) = self.store.backlog(self.store.now(), 10_000).await {
            self.metrics.queue_depth.set(i64::try_from(backlog.due).unwrap_or(i64::MAX));
            self.metrics.oldest_due.set(backlog.oldest.as_secs_f64());
        }
    }
}
