//! Many clients at once, each creating one resource after the other from a common pile, until the pile is done or the
//! crowd is sent home.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::api::Api;
use crate::sample::resource;

pub struct Crowd {
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<()>>,
}

struct Shared {
    api: Api,
    pile: usize,
    next: AtomicUsize,
    home: AtomicBool,
    persistent: bool,
    /// Numbers that the server answered 201 to.
    acknowledged: Mutex<BTreeSet<usize>>,
    count: AtomicUsize,
}

impl Crowd {
    /// So many clients, for the resources 0 to `pile`. Persistent ones ask again until they have an answer.
    pub fn gather(api: &Api, clients: usize, pile: usize, persistent: bool) -> Crowd {
        let shared = Arc::new(Shared {
            api: api.clone(),
            pile,
            persistent,
            next: AtomicUsize::new(0),
            home: AtomicBool::new(false),
            acknowledged: Mutex::default(),
            count: AtomicUsize::new(0),
        });
        let clients = (0..clients).map(|_| tokio::spawn(Shared::work(shared.clone()))).collect();
        Crowd { shared, clients }
    }

    /// How many creates were acknowledged so far.
    pub fn acknowledged(&self) -> usize {
        self.shared.count.load(Ordering::Relaxed)
    }

    /// Begin nothing new.
    pub fn send_home(&self) {
        self.shared.home.store(true, Ordering::Relaxed);
    }

    /// The numbers of all that was acknowledged, when every client is done.
    pub async fn done(self) -> BTreeSet<usize> {
        for client in self.clients {
            client.await.expect("a client does not panic");
        }
        std::mem::take(&mut *self.shared.acknowledged.lock().expect("nobody panics with the lock"))
    }
}

impl Shared {
    async fn work(self: Arc<Self>) {
        while !self.home.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.pile {
                return;
            }
            self.create(number).await;
        }
    }

    async fn create(&self, number: usize) {
        let body = resource(number);
        let mut asked_before = false;
        loop {
            match self.api.try_post("/api/v1/resources", &body).await {
                Some(answer) if answer.status == 201 => {
                    self.acknowledged.lock().expect("nobody panics with the lock").insert(number);
                    self.count.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                // The request before this one was done, but its answer was lost.
                Some(answer) if answer.status == 409 && asked_before => return,
                Some(answer) if answer.status != 503 => panic!("resource {number}: {answer:?}"),
                _ if self.home.load(Ordering::Relaxed) || !self.persistent => return,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
            asked_before = true;
        }
    }
}

/// Create the resources 0 to `count` and wait until all are there.
pub async fn settle(api: &Api, count: usize) {
    let acknowledged = Crowd::gather(api, 64, count, false).done().await;
    assert_eq!(acknowledged.len(), count, "every create is acknowledged");
}
