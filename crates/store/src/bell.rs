//! The bell: rung after commits, heard by whoever waits for events. It says only "look again"; a lost ring costs
//! latency, never an event, since every listener also looks by itself now and then.
//!
//! On PostgreSQL it also rings in the other processes, by NOTIFY. That is sent after the commit and apart from it, at
//! most once per group: within the transaction it would hold a server-wide lock while the commit waits for the disk.

use std::sync::Arc;
use std::time::Duration;

use sqlx::AnyPool;
use sqlx::postgres::PgListener;
use tokio::sync::{Notify, watch};
use tracing::{debug, warn};

use crate::connect::{self, Location};

const CHANNEL: &str = "terrane";

#[derive(Clone)]
pub struct Bell {
    here: watch::Sender<u64>,
    elsewhere: Option<Arc<Notify>>,
}

impl Bell {
    pub(crate) fn hang(location: &Location, pool: &AnyPool) -> Bell {
        let here = watch::Sender::new(0);
        let elsewhere = match location {
            Location::Sqlite(_) => None,
            Location::Postgres(url) => {
                let ringing = Arc::new(Notify::new());
                tokio::spawn(notify(pool.clone(), ringing.clone()));
                tokio::spawn(listen(url.clone(), pool.clone(), here.clone()));
                Some(ringing)
            }
        };
        Bell { here, elsewhere }
    }

    pub fn ring(&self) {
        self.here.send_modify(|rings| *rings += 1);
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.notify_one();
        }
    }

    /// Hears every ring after this call. Subscribe before you query.
    pub fn listen(&self) -> watch::Receiver<u64> {
        self.here.subscribe()
    }
}

async fn notify(pool: AnyPool, ringing: Arc<Notify>) {
    loop {
        tokio::select! {
            () = ringing.notified() => {}
            () = pool.close_event() => return,
        }
        let told =
            connect::ask(&pool, |reader| Box::pin(sqlx::query("SELECT pg_notify('terrane', '')").execute(reader)));
        if let Err(error) = told.await {
            debug!(%error, "other processes were not told of a commit; they will look by themselves");
        }
    }
}

async fn listen(url: String, pool: AnyPool, here: watch::Sender<u64>) {
    loop {
        tokio::select! {
            heard = hear(&url, &here) => if let Err(error) = heard {
                warn!(%error, "cannot listen for other processes' commits; trying again");
            },
            () = pool.close_event() => return,
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn hear(url: &str, here: &watch::Sender<u64>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen(CHANNEL).await?;
    loop {
        // Also once at the start and after a lost connection: something may have happened meanwhile.
        here.send_modify(|rings| *rings += 1);
        if listener.try_recv().await?.is_none() {
            return Ok(());
        }
    }
}
