//! Writes down how claims ended, many at a time. While the database is away it keeps trying, as long as the claim is ours:
//! what was done outside is not forgotten because of a restart of the database.

use std::sync::Arc;
use std::time::Duration;

use store::{Conclusion, Error, Store};
use tokio::sync::{mpsc, oneshot};
use tracing::warn;

use crate::desk::{Deadline, Desk};

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
    /// Told whether it was written.
    pub written: oneshot::Sender<bool>,
}

#[derive(Clone)]
pub struct Ledger(mpsc::Sender<Entry>);

impl Ledger {
    pub fn open(store: Store, desk: Arc<Desk>) -> Ledger {
        let (entries, queue) = mpsc::channel(QUEUE);
        let queue = Arc::new(tokio::sync::Mutex::new(queue));
        for _ in 0..PAGES {
            tokio::spawn(write(store.clone(), desk.clone(), queue.clone()));
        }
        Ledger(entries)
    }

    /// Whether it was written: not, where the claim was lost.
    pub async fn write(&self, conclusion: Conclusion, deadline: Deadline, keeps: bool) -> bool {
        let (written, answer) = oneshot::channel();
        let entry = Entry { conclusion, deadline, keeps, written };
        self.0.send(entry).await.is_ok() && answer.await.unwrap_or(false)
    }
}

async fn write(store: Store, desk: Arc<Desk>, queue: Arc<tokio::sync::Mutex<mpsc::Receiver<Entry>>>) {
    loop {
        let mut page = Vec::new();
        if queue.lock().await.recv_many(&mut page, BATCH).await == 0 {
            return;
        }
        settle(&store, &desk, page).await;
    }
}

async fn settle(store: &Store, desk: &Desk, mut page: Vec<Entry>) {
    while !page.is_empty() {
        let conclusions = page.iter().map(|entry| entry.conclusion.clone()).collect();
        match store.conclude(conclusions).await {
            Ok(written) => {
                for entry in page {
                    let written = written.contains(&entry.conclusion.resource);
                    answer(desk, entry, written);
                }
                return;
            }
            // One that cannot be written does not take the others with it.
            Err(_) if page.len() > 1 => {
                for entry in page {
                    Box::pin(settle(store, desk, vec![entry])).await;
                }
                return;
            }
            Err(error) => {
                warn!(%error, conclusions = page.len(), "how operations ended cannot be written down yet; trying again");
                let gone = |entry: &Entry| entry.deadline.is_over() || matches!(error, Error::Closing);
                let (over, rest): (Vec<_>, Vec<_>) = page.into_iter().partition(gone);
                over.into_iter().for_each(|entry| answer(desk, entry, false));
                page = rest;
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

fn answer(desk: &Desk, entry: Entry, written: bool) {
    if !entry.keeps || !written {
        desk.put_back(entry.conclusion.resource, entry.conclusion.fencing_token);
    }
    let _ = entry.written.send(written);
}
