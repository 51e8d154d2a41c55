//! The bell: rung after commits, heard by whoever waits for events. It says only "look again"; a lost ring costs
//! latency, never an event, since every listener also looks by itself now and then.
//!
//! A commit that only adds to logs murmurs: those who read logs hear it, and nobody else looks in vain many times a second.
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
const RING: &str = "";
const MURMUR: &str = "log";

#[derive(Clone)]
pub struct Bell {
    here: Here,
    elsewhere: Option<Arc<Elsewhere>>,
}

#[derive(Clone, Default)]
struct Here {
    rings: watch::Sender<u64>,
    murmurs: watch::Sender<u64>,
}

#[derive(Default)]
struct Elsewhere {
    ring: Notify,
    murmur: Notify,
}

impl Here {
    fn ring(&self) {
        self.rings.send_modify(|rings| *rings += 1);
        self.murmur();
    }

    fn murmur(&self) {
        self.murmurs.send_modify(|murmurs| *murmurs += 1);
    }
}

impl Bell {
    pub(crate) fn hang(location: &Location, pool: &AnyPool) -> Bell {
        let here = Here::default();
        let elsewhere = match location {
            Location::Sqlite(_) => None,
            Location::Postgres(url) => {
                let ringing = Arc::new(Elsewhere::default());
                tokio::spawn(notify(pool.clone(), ringing.clone()));
                tokio::spawn(listen(url.clone(), pool.clone(), here.clone()));
                Some(ringing)
            }
        };
        Bell { here, elsewhere }
    }

    pub fn ring(&self) {
        self.here.ring();
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.ring.notify_one();
        }
    }

    pub fn murmur(&self) {
        self.here.murmur();
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.murmur.notify_one();
        }
    }

    /// Hears every ring after this call. Subscribe before you query.
    pub fn listen(&self) -> watch::Receiver<u64> {
        self.here.rings.subscribe()
    }

    /// Hears the murmurs too: for readers of logs.
    pub fn listen_closely(&self) -> watch::Receiver<u64> {
        self.here.murmurs.subscribe()
    }
}

async fn notify(pool: AnyPool, ringing: Arc<Elsewhere>) {
    loop {
        let what = tokio::select! {
            biased;
            () = ringing.ring.notified() => RING,
            () = ringing.murmur.notified() => MURMUR,
            () = pool.close_event() => return,
        };
        let told = connect::ask(&pool, |reader| {
            Box::pin(sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(what).execute(reader))
        });
        if let Err(error) = told.await {
            debug!(%error, "other processes were not told of a commit; they will look by themselves");
        }
    }
}

async fn listen(url: String, pool: AnyPool, here: Here) {
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

async fn hear(url: &str, here: &Here) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen(CHANNEL).await?;
    // Something may have happened before, or while the connection was lost.
    here.ring();
    while let Some(heard) = listener.try_recv().await? {
        if heard.payload() == MURMUR { here.murmur() } else { here.ring() }
    }
    Ok(())
}
