//! The claims that this process holds, and until when. Leases are counted on the monotonic clock, from when the claim or its
//! renewal was sent: whatever the wall clock or the scheduler does, this process stops before anybody else may begin.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{OperationKind, ResourceId, TenantId};
use store::{Claim, Renewal};

/// Until when a claim is certainly ours. Shared with the step that works under it.
#[derive(Debug, Clone)]
pub struct Deadline {
    base: Instant,
    nanos: Arc<AtomicU64>,
}

impl Deadline {
    pub fn at(until: Instant) -> Deadline {
        Deadline { base: until, nanos: Arc::default() }
    }

    pub fn until(&self) -> Instant {
        self.base + Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.until()
    }

    fn extend(&self, until: Instant) {
        let later = until.saturating_duration_since(self.base);
        self.nanos.fetch_max(u64::try_from(later.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

struct Held {
    tenant: TenantId,
    fencing_token: i64,
    observes: bool,
    deadline: Deadline,
}

#[derive(Default)]
pub struct Desk(Mutex<HashMap<ResourceId, Held>>);

impl Desk {
    pub fn take(&self, claim: &Claim, until: Instant) -> Deadline {
        let deadline = Deadline::at(until);
        let held = Held {
            tenant: claim.tenant,
            fencing_token: claim.record.fencing_token,
            observes: claim.operation.body.kind == OperationKind::Observe,
            deadline: deadline.clone(),
        };
        self.with(|desk| desk.insert(claim.record.resource.id, held));
        deadline
    }

    /// The claim is over, unless there is a newer one on the same resource.
    pub fn put_back(&self, id: ResourceId, fencing_token: i64) {
        self.with(|held| {
            if held.get(&id).is_some_and(|held| held.fencing_token == fencing_token) {
                held.remove(&id);
            }
        });
    }

    pub fn len(&self) -> usize {
        self.with(|held| held.len())
    }

    /// How many claims each tenant has here.
    pub fn by_tenant(&self) -> HashMap<TenantId, usize> {
        self.with(|held| {
            let mut busy = HashMap::new();
            for held in held.values() {
                *busy.entry(held.tenant).or_default() += 1;
            }
            busy
        })
    }

    pub fn claims(&self) -> Vec<Renewal> {
        let renewal = |(id, held): (&ResourceId, &Held)| Renewal {
            resource: *id,
            fencing_token: held.fencing_token,
            observes: held.observes,
        };
        self.with(|held| held.iter().map(renewal).collect())
    }

    /// These were renewed by a request sent at `until` minus the lease; of the others that were asked for, the number lost.
    pub fn renewed(&self, asked: &[Renewal], kept: &[ResourceId], until: Instant) -> usize {
        self.with(|held| {
            let mut lost = 0;
            for Renewal { resource, fencing_token, .. } in asked {
                let Some(claim) = held.get(resource).filter(|claim| claim.fencing_token == *fencing_token) else {
                    continue;
                };
                if kept.contains(resource) {
                    claim.deadline.extend(until);
                } else {
                    lost += 1;
                }
            }
            lost
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<ResourceId, Held>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
