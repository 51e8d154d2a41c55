//! One iteration of the loop: look what is due, choose fairly, claim it in one transaction.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use store::{Claim, Claimant, Error};

use crate::desk::Deadline;
use crate::{Controller, chance, fair};

/// Claims that are worth holding before a worker is free: what the workers get through in this time.
const AHEAD: Duration = Duration::from_millis(200);
const MAX_AHEAD: usize = 256;
/// Tenants that are looked at when the front of the queue is one tenant's alone.
const MAX_TENANTS: usize = 256;

/// What a tick came to.
pub enum Tick {
    /// Work, claimed.
    Claimed(Vec<(Claim, Deadline)>),
    /// Others were faster: look again soon.
    Beaten,
    /// As much is claimed as can be worked at.
    Full,
    /// Nothing is due before this.
    Idle { next: Option<Timestamp> },
}

impl Controller {
    /// Claim what is due, within the limits.
    pub async fn tick(&self) -> Result<Tick, Error> {
        let appetite = self.appetite();
        if appetite == 0 {
            return Ok(Tick::Full);
        }
        let now = self.store.now();
        let window = (appetite * 4).max(64);
        let mut due = self.store.due(now, window).await?;
        if due.is_empty() {
            return Ok(Tick::Idle { next: self.store.next_due().await? });
        }
        if due.len() == window && fair::is_one_tenants(&due) {
            due = self.store.due_of_each_tenant(now, appetite, MAX_TENANTS).await?;
        }
        let per_tenant = self.settings.max_concurrent_per_tenant.max(1);
        let share = if per_tenant >= self.settings.max_concurrent_reconciles { usize::MAX } else { per_tenant };
        let ids = fair::pick(&due, &self.desk.by_tenant(), share, appetite);
        if ids.is_empty() {
            return Ok(Tick::Full);
        }
        let claimant = Claimant {
            holder: self.holder.clone(),
            lease: self.settings.lease,
            trace_ids: ids.iter().map(|_| chance::word(32)).collect(),
        };
        let until = Instant::now() + self.settings.lease;
        let claims = self.store.claim(ids, claimant).await?;
        if claims.is_empty() {
            return Ok(Tick::Beaten);
        }
        let claims = claims.into_iter().map(|claim| {
            let id = claim.record.resource.id;
            let deadline = self.desk.take(id, claim.tenant, claim.record.fencing_token, until);
            (claim, deadline)
        });
        Ok(Tick::Claimed(claims.collect()))
    }

    /// How many more claims to take: enough for the workers, and as many ahead as they will get through in a moment.
    fn appetite(&self) -> usize {
        let workers = self.settings.max_concurrent_reconciles.max(1);
        let pace = self.pace.load(Ordering::Relaxed).max(1);
        let ahead = AHEAD.as_nanos() as usize * workers / pace as usize;
        (workers + ahead.min(MAX_AHEAD)).saturating_sub(self.desk.len())
    }
}
