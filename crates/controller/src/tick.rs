//! One iteration of the loop: look what is due, choose fairly, claim it in one transaction.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::ResourceId;
use store::{Claim, Claimant, Due, Error};
use tracing::error;

use crate::desk::Deadline;
use crate::{Controller, chance, fair};

/// Claims that are worth holding before a worker is free: what the workers get through in this time.
const AHEAD: Duration = Duration::from_millis(200);
const MAX_AHEAD: usize = 256;
/// Tenants that are looked at when the front of the queue is one tenant's alone.
const MAX_TENANTS: usize = 256;

const SOON: Duration = Duration::from_millis(20);
/// How long a row that cannot be read is left alone.
const ASIDE: Duration = Duration::from_secs(60);

/// What a tick came to.
pub enum Tick {
    /// Work, claimed.
    Claimed(Vec<(Arc<Claim>, Deadline)>),
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
        let busy = self.desk.by_tenant();
        let (appetite, newcomers) = match self.appetite() {
            // Whoever has nothing claimed yet is let in even so.
            0 => (self.settings.max_concurrent_reconciles.max(1), true),
            appetite => (appetite, false),
        };
        let now = self.store.now();
        let window = (appetite * 4).max(64);
        let mut due = self.store.due(now, window).await?;
        let full = due.len() == window;
        self.without_those_aside(&mut due);
        if due.is_empty() {
            // What was set aside stays due, and is no reason to look again at once.
            let next = self.store.next_due().await?.map(|next| next.max(now + SOON));
            return Ok(Tick::Idle { next });
        }
        if full && fair::is_one_tenants(&due) {
            // What a dead controller left behind stays in front.
            due.retain(|due| due.lapsed);
            let left_behind: HashSet<_> = due.iter().map(|due| due.id).collect();
            let of_each = self.store.due_of_each_tenant(now, appetite, MAX_TENANTS).await?;
            due.extend(of_each.into_iter().filter(|due| !left_behind.contains(&due.id)));
            self.without_those_aside(&mut due);
        }
        if newcomers {
            due.retain(|due| !busy.contains_key(&due.tenant));
        }
        let per_tenant = self.settings.max_concurrent_per_tenant.max(1);
        let share = if per_tenant >= self.settings.max_concurrent_reconciles { usize::MAX } else { per_tenant };
        let offers: Vec<_> = due.iter().map(|due| (due.id, due.tenant)).collect();
        let ids = fair::pick(&offers, &busy, share, appetite);
        if ids.is_empty() {
            return Ok(Tick::Full);
        }
        let until = Instant::now() + self.settings.lease;
        let claims = match self.claim(ids.clone()).await {
            Err(Error::Corrupt { .. }) => self.claim_each(ids).await,
            claims => claims?,
        };
        if claims.is_empty() {
            return Ok(Tick::Beaten);
        }
        let claims = claims.into_iter().map(|claim| {
            let deadline = self.desk.take(&claim, until);
            (claim, deadline)
        });
        Ok(Tick::Claimed(claims.collect()))
    }

    async fn claim(&self, ids: Vec<ResourceId>) -> Result<Vec<Arc<Claim>>, Error> {
        let claimant = Claimant {
            holder: self.holder.clone(),
            lease: self.settings.lease,
            trace_ids: ids.iter().map(|_| chance::word(32)).collect(),
        };
        self.store.claim(ids, claimant).await
    }

    /// One by one. A row that cannot be read is set aside for a while, so that it does not stand in the others' way.
    async fn claim_each(&self, ids: Vec<ResourceId>) -> Vec<Arc<Claim>> {
        let mut claims = Vec::new();
        for id in ids {
            match self.claim(vec![id]).await {
                Ok(claimed) => claims.extend(claimed),
                Err(error) => {
                    error!(%error, resource = %id, "a resource cannot be claimed; it is set aside");
                    self.aside.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Instant::now() + ASIDE);
                }
            }
        }
        claims
    }

    fn without_those_aside(&self, due: &mut Vec<Due>) {
        let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        if !aside.is_empty() {
            aside.retain(|_, until| *until > Instant::now());
            due.retain(|due| !aside.contains_key(&due.id));
        }
    }

    /// How many more claims to take: enough for the workers, and as many ahead as they will get through in a moment.
    fn appetite(&self) -> usize {
        let workers = self.settings.max_concurrent_reconciles.max(1);
        let pace = self.pace.load(Ordering::Relaxed).max(1);
        let ahead = AHEAD.as_nanos() as usize * workers / pace as usize;
        (workers + ahead.min(MAX_AHEAD)).saturating_sub(self.desk.len())
    }
}
