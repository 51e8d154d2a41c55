//! Claims that wait for a worker. Whoever has the fewest steps executing is next: what one tenant has claimed ahead does not
//! stand before another's.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use model::TenantId;
use store::Claim;
use tokio::sync::Notify;

use crate::desk::Deadline;

pub struct Ready {
    /// Of one tenant, how many may execute at once.
    per_tenant: usize,
    queues: Mutex<Queues>,
    changed: Notify,
}

#[derive(Default)]
struct Queues {
    waiting: BTreeMap<TenantId, VecDeque<(Arc<Claim>, Deadline)>>,
    executing: HashMap<TenantId, usize>,
    closed: bool,
}

impl Ready {
    pub fn new(per_tenant: usize) -> Ready {
        Ready { per_tenant: per_tenant.max(1), queues: Mutex::default(), changed: Notify::new() }
    }

    pub fn push(&self, claims: Vec<(Arc<Claim>, Deadline)>) {
        self.with(|queues| {
            for claim in claims {
                queues.waiting.entry(claim.0.tenant).or_default().push_back(claim);
            }
        });
        self.changed.notify_waiters();
    }

    /// The next claim to work at; none when there will be no more.
    pub async fn next(&self) -> Option<(Arc<Claim>, Deadline)> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Subscribe before you look.
            changed.as_mut().enable();
            let (claim, closed) = self.with(|queues| (queues.pop(self.per_tenant), queues.closed));
            if claim.is_some() || closed {
                return claim;
            }
            changed.await;
        }
    }

    /// A claim of this tenant has been worked at.
    pub fn done(&self, tenant: TenantId) {
        self.with(|queues| {
            if let Some(count) = queues.executing.get_mut(&tenant) {
                *count = count.saturating_sub(1);
            }
        });
        self.changed.notify_waiters();
    }

    /// No more will come; what waits can still be had.
    pub fn close(&self) {
        self.with(|queues| queues.closed = true);
        self.changed.notify_waiters();
    }

    fn with<T>(&self, work: impl FnOnce(&mut Queues) -> T) -> T {
        work(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Queues {
    fn pop(&mut self, per_tenant: usize) -> Option<(Arc<Claim>, Deadline)> {
        // Once closed, limits serve nobody: what is left is handed back.
        let limit = if self.closed { usize::MAX } else { per_tenant };
        let load = |tenant: &TenantId| self.executing.get(tenant).copied().unwrap_or(0);
        let free = self.waiting.keys().filter(|tenant| load(tenant) < limit);
        let tenant = *free.min_by_key(|tenant| load(tenant))?;
        let queue = self.waiting.get_mut(&tenant)?;
        let claim = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&tenant);
        }
        *self.executing.entry(tenant).or_default() += 1;
        claim
    }
}
