//! Writes down how claims ended, many at a time. While the database is away it keeps trying, as long as the claim is ours:
//! what was done outside is not forgotten because of a restart of the database.

use std::sync::Arc;
use std::time::Duration;

use model::OperationKind;
use store::{Conclusion, Error, Store};
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::warn;

use crate::desk::{Deadline, Desk};
use crate::metrics::Metrics;

/// As many as a transaction should carry.
const BATCH: usize = 128;
const QUEUE: usize = 512;
/// Batches on their way at once: one is written while the next gathers.
const PAGES: usize = 2;
const AGAIN: Duration = Duration::from_millis(250);

pub struct Entry {
    pub conclusion: Conclusion,
    pub deadline: Deadline,
    /// The claim goes on after this.
    pub keeps: bool,
    /// Told whether it was written, where somebody waits for that.
    pub written: Option<oneshot::Sender<bool>>,
}

#[derive(Clone)]
pub struct Ledger(mpsc::Sender<Entry>);

/// Whoever writes in the ledger.
struct Clerk {
    store: Store,
    desk: Arc<Desk>,
    metrics: Arc<Metrics>,
    /// Told of every claim that was put back.
    freed: Arc<Notify>,
}

impl Ledger {
    pub fn open(store: Store, desk: Arc<Desk>, metrics: Arc<Metrics>, freed: Arc<Notify>) -> Ledger {
        let (entries, queue) = mpsc::channel(QUEUE);
        let queue = Arc::new(tokio::sync::Mutex::new(queue));
        let clerk = Arc::new(Clerk { store, desk, metrics, freed });
        for _ in 0..PAGES {
            tokio::spawn(clerk.clone().serve(queue.clone()));
        }
        Ledger(entries)
    }

    /// Whether it was written: not, where the claim was lost. One that `keeps` its claim goes on with it.
    pub async fn write(&self, conclusion: Conclusion, deadline: Deadline, keeps: bool) -> bool {
        let (written, answer) = oneshot::channel();
        let entry = Entry { conclusion, deadline, keeps, written: Some(written) };
        self.0.send(entry).await.is_ok() && answer.await.unwrap_or(false)
    }

    /// The same without waiting for the disk: the claim is kept until it is written.
    pub async fn submit(&self, conclusion: Conclusion, deadline: Deadline) {
        let _ = self.0.send(Entry { conclusion, deadline, keeps: false, written: None }).await;
    }
}

impl Clerk {
    async fn serve(self: Arc<Self>, queue: Arc<tokio::sync::Mutex<mpsc::Receiver<Entry>>>) {
        loop {
            let mut page = Vec::new();
            if queue.lock().await.recv_many(&mut page, BATCH).await == 0 {
                return;
            }
            self.settle(page).await;
        }
    }

    async fn settle(&self, mut page: Vec<Entry>) {
        while !page.is_empty() {
            let conclusions = page.iter().map(|entry| entry.conclusion.clone()).collect();
            match self.store.conclude(conclusions).await {
                Ok(written) => {
                    for entry in page {
                        let written = written.contains(&entry.conclusion.resource());
                        self.answer(entry, written);
                    }
                    return;
                }
                // One that cannot be written does not take the others with it.
                Err(_) if page.len() > 1 => {
                    for entry in page {
                        Box::pin(self.settle(vec![entry])).await;
                    }
                    return;
                }
                Err(error) => {
                    warn!(%error, "how an operation ended cannot be written down yet; trying again");
                    let gone = |entry: &Entry| entry.deadline.is_over() || matches!(error, Error::Closing);
                    let (over, rest): (Vec<_>, Vec<_>) = page.into_iter().partition(gone);
                    over.into_iter().for_each(|entry| self.answer(entry, false));
                    page = rest;
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    fn answer(&self, entry: Entry, written: bool) {
        let Entry { conclusion, keeps, written: asked, .. } = entry;
        if !keeps || !written {
            self.desk.put_back(conclusion.resource(), conclusion.claim.record.fencing_token);
            self.freed.notify_one();
        }
        // Whoever wants something of a resource takes it from a mere look: nothing is lost by that.
        if !written && conclusion.claim.operation.body.kind != OperationKind::Observe {
            self.metrics.claims_lost.inc();
            warn!(
                resource = %conclusion.resource(),
                operation = %conclusion.claim.operation.body.id,
                "the claim was lost; whoever has it now goes on from what is written down"
            );
        }
        if let Some(asked) = asked {
            let _ = asked.send(written);
        }
    }
}
