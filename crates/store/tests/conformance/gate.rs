//! Control over what is committed together, without waiting for time to pass.

use std::sync::Arc;

use store::{Error, Store};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::db::{eventually, until};

/// Writes that are in the middle of their transactions and stay there until the gate is opened: one for each scribe, so
/// that what arrives meanwhile makes up the next group.
pub struct Gate {
    open: watch::Sender<bool>,
    writes: Vec<JoinHandle<Result<(), Error>>>,
}

impl Gate {
    /// Shut the gate, once every scribe is at it.
    pub async fn shut(store: &Store) -> Gate {
        let mut gate = Gate { open: watch::Sender::new(false), writes: Vec::new() };
        for _ in 0..store.writer_stats().scribes {
            let reached = gate.queue(store, 0);
            eventually("a scribe's arrival at the gate", reached.notified()).await;
        }
        gate
    }

    /// Let a write wait with the others that waits at the gate when a scribe comes to it; `order` as for any write.
    fn queue(&mut self, store: &Store, order: i64) -> Arc<Notify> {
        let reached = Arc::new(Notify::new());
        let (store, here, opened) = (store.clone(), reached.clone(), self.open.subscribe());
        self.writes.push(tokio::spawn(async move {
            let pass = work!([here, opened], |_tx| {
                let mut opened = opened;
                here.notify_one();
                opened.wait_for(|open| *open).await.expect("the gate is still there");
                Ok(())
            });
            store.write(order, pass).await
        }));
        reached
    }

    pub async fn open(self) {
        self.open.send_replace(true);
        for write in self.writes {
            eventually("a write at the gate", write).await.expect("no panic").expect("a write of nothing succeeds");
        }
    }
}

/// A write in a transaction under way.
pub struct UnderWay<T> {
    gate: Gate,
    write: JoinHandle<T>,
}

impl<T: Send + 'static> UnderWay<T> {
    /// The transaction has begun, and has not come to the write yet.
    pub async fn before(store: &Store, write: impl Future<Output = T> + Send + 'static) -> UnderWay<T> {
        UnderWay::arrange(store, i64::MIN, write).await
    }

    /// The write is done, and not committed yet.
    pub async fn after(store: &Store, write: impl Future<Output = T> + Send + 'static) -> UnderWay<T> {
        UnderWay::arrange(store, i64::MAX, write).await
    }

    async fn arrange(store: &Store, order: i64, write: impl Future<Output = T> + Send + 'static) -> UnderWay<T> {
        let start = Gate::shut(store).await;
        let write = tokio::spawn(write);
        queued(store, 1).await;
        let mut gate = Gate { open: watch::Sender::new(false), writes: Vec::new() };
        let reached = gate.queue(store, order);
        queued(store, 2).await;
        start.open().await;
        eventually("the write", reached.notified()).await;
        UnderWay { gate, write }
    }

    pub fn is_acknowledged(&self) -> bool {
        self.write.is_finished()
    }

    /// Let it go on, and commit.
    pub async fn end(self) -> T {
        self.gate.open().await;
        eventually("the answer", self.write).await.expect("no panic")
    }
}

/// Wait until so many writes wait for the next group.
pub async fn queued(store: &Store, writes: u64) {
    until("a full queue", async || store.writer_stats().waiting == writes).await;
}
