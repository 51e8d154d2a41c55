//! The loop itself: ticks, workers, the renewal of leases, and the end of all that.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model::reconcile::{End, Report};
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use store::{Claim, Conclusion};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{Instrument, Span, debug, info, info_span, warn};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::desk::Deadline;
use crate::ready::Ready;
use crate::{Controller, Tick, chance};

/// After the database was away, or others were faster.
const SOON: Duration = Duration::from_millis(50);
/// A pace at which it pays to wait for more.
const QUICK: Duration = Duration::from_millis(2);
const LATER: Duration = Duration::from_secs(1);
/// How long steps under way may take to end when the process is asked to.
const GRACE: Duration = Duration::from_secs(8);

impl Controller {
    /// Reconcile until told to stop. Then nothing new is begun; what executes is finished, what waits is handed back.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        if self.store.is_embedded() {
            self.take_over().await;
        }
        let ready = Arc::new(Ready::new(self.settings.max_concurrent_per_tenant));
        let mut workers = JoinSet::new();
        for _ in 0..self.settings.max_concurrent_reconciles.max(1) {
            workers.spawn(self.clone().work(ready.clone(), stop.clone()));
        }
        let renewal = tokio::spawn(self.clone().keep_claims());
        let leading = tokio::spawn(self.clone().lead(stop.clone()));
        let mut bell = self.store.bell().listen();
        while !*stop.borrow() {
            bell.mark_unchanged();
            let pause = match self.tick().await {
                Ok(Tick::Claimed(claims)) => {
                    ready.push(claims);
                    continue;
                }
                Ok(Tick::Full) => None,
                Ok(Tick::Beaten) => Some(SOON.mul_f64(0.5 + chance::share())),
                Ok(Tick::Idle { next }) => Some(self.until(next)),
                Err(error) => {
                    warn!(%error, "cannot see what is due; trying again");
                    Some(LATER)
                }
            };
            self.rest(pause, &mut bell, &mut stop).await;
        }
        ready.close();
        let ended = tokio::time::timeout(GRACE, async {
            while workers.join_next().await.is_some() {}
            // What they left to the ledger is written before the end.
            while self.desk.len() > 0 {
                self.freed.notified().await;
            }
        });
        let ended = ended.await;
        if ended.is_err() {
            warn!("steps under way did not end in time; another controller goes on with them when their lease lapses");
        }
        let _ = leading.await;
        renewal.abort();
    }

    /// The only process that uses this database has just started: nobody works at what is claimed.
    async fn take_over(&self) {
        match self.store.release_all().await {
            Ok(0) => {}
            Ok(claims) => info!(claims, "going on with the operations that were under way"),
            Err(error) => warn!(%error, "cannot release the claims of the last run; they lapse by themselves"),
        }
    }

    fn until(&self, next: Option<jiff::Timestamp>) -> Duration {
        let longest = self.settings.reconcile_interval;
        let Some(next) = next else { return longest };
        let micros = next.as_microsecond() - self.store.now().as_microsecond();
        Duration::from_micros(u64::try_from(micros).unwrap_or(0)).min(longest)
    }

    async fn rest(&self, pause: Option<Duration>, bell: &mut watch::Receiver<u64>, stop: &mut watch::Receiver<bool>) {
        let full = pause.is_none();
        tokio::select! {
            () = tokio::time::sleep(pause.unwrap_or(self.settings.reconcile_interval)) => {}
            () = self.freed.notified(), if full => {
                // Where claims fly by, a few at once are claimed for the price of one.
                if self.pace.load(Ordering::Relaxed) < QUICK.as_nanos() as u64 {
                    tokio::time::sleep(QUICK).await;
                }
            }
            _ = bell.changed() => {}
            _ = stop.changed() => {}
        }
    }

    async fn work(self: Arc<Self>, ready: Arc<Ready>, stop: watch::Receiver<bool>) {
        while let Some((claim, deadline)) = ready.next().await {
            let tenant = claim.tenant;
            if *stop.borrow() {
                let back = self.conclusion(&claim, handed_back(&claim));
                self.ledger.write(back, deadline, false).await;
                continue;
            }
            let controller = self.clone();
            // A worker outlives whatever a claim does to it.
            let done = tokio::spawn(async move {
                if let Some(conclusion) = controller.perform(&claim, &deadline).await {
                    controller.ledger.submit(conclusion, deadline).await;
                }
            });
            let done = done.await;
            ready.done(tenant);
            if let Err(error) = done {
                warn!(%error, "an operation ended badly; it goes on when its lease lapses");
            }
        }
    }

    /// Drive one claim, and write down how it ended.
    pub async fn carry_out(&self, claim: Arc<Claim>, deadline: Deadline) {
        if let Some(conclusion) = self.perform(&claim, &deadline).await {
            self.ledger.write(conclusion, deadline, false).await;
        }
    }

    /// Drive one claim. How it ended is still to be written down; nothing where the claim was lost on the way.
    async fn perform(&self, claim: &Arc<Claim>, deadline: &Deadline) -> Option<Conclusion> {
        let resource = &claim.record.resource;
        let body = &claim.operation.body;
        let span = info_span!(
            "operation",
            tenant = %resource.tenant,
            resource = %resource.id,
            name = %resource.name,
            operation = %body.id,
            kind = body.kind.as_str(),
            plugin = %resource.action_plugin,
            trace_id = %body.trace_id,
        );
        join_trace(&span, &body.trace_id);
        async {
            let started = Instant::now();
            let busy = self.metrics.begin(body.kind);
            let report = self.drive(claim, deadline).await;
            drop(busy);
            self.keep_pace(started.elapsed());
            let Some(report) = report else {
                self.desk.put_back(claim.record.resource.id, claim.record.fencing_token);
                self.freed.notify_one();
                return None;
            };
            tell(claim, &report);
            self.metrics.ended(claim, &report);
            Some(self.conclusion(claim, report))
        }
        .instrument(span)
        .await
    }

    /// Write down a checkpoint and keep the claim. Whether it is still ours.
    pub(crate) async fn note(&self, claim: &Arc<Claim>, report: Report, deadline: &Deadline) -> bool {
        self.ledger.write(self.conclusion(claim, report), deadline.clone(), true).await
    }

    fn conclusion(&self, claim: &Arc<Claim>, report: Report) -> Conclusion {
        Conclusion {
            claim: claim.clone(),
            report,
            holder: self.holder.clone(),
            ladder: self.settings.ladder,
            drift_interval: self.settings.drift_interval,
            chance: chance::share(),
        }
    }

    /// Renew every claim in time, as long as this process can.
    async fn keep_claims(self: Arc<Self>) {
        loop {
            tokio::time::sleep(self.settings.lease / 3).await;
            let claims = self.desk.claims();
            if claims.is_empty() {
                continue;
            }
            let until = Instant::now() + self.settings.lease;
            match self.store.renew(claims.clone(), self.settings.lease).await {
                Ok(kept) => {
                    let lost = self.desk.renewed(&claims, &kept, until);
                    debug!(kept = kept.len(), lost, "leases renewed");
                }
                Err(error) => warn!(%error, "cannot renew leases; trying again"),
            }
        }
    }

    /// Remember how long claims take: a moving average.
    fn keep_pace(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX / 16);
        let old = self.pace.load(Ordering::Relaxed);
        self.pace.store(old - old / 8 + took / 8, Ordering::Relaxed);
    }
}

/// However often an operation is taken up, and by whichever process, its spans are one trace.
fn join_trace(span: &Span, trace_id: &str) {
    let Ok(trace_id) = TraceId::from_hex(trace_id) else { return };
    let root = SpanId::from_bytes(trace_id.to_bytes()[..8].try_into().unwrap_or([1; 8]));
    let parent = SpanContext::new(trace_id, root, TraceFlags::SAMPLED, true, TraceState::default());
    // Without an exporter there is nobody to tell.
    let _ = span.set_parent(Context::new().with_remote_span_context(parent));
}

fn handed_back(claim: &Claim) -> Report {
    let body = &claim.operation.body;
    Report {
        step: body.step,
        attempt: body.attempt,
        changes: body.changes,
        checkpoint: claim.operation.checkpoint.clone(),
        end: End::HandedBack,
        outputs: None,
        memory: None,
        holds: None,
        job: None,
    }
}

/// One line for what matters.
fn tell(claim: &Claim, report: &Report) {
    let generation = claim.operation.body.generation;
    match &report.end {
        End::Succeeded { message, .. } => info!(generation, message, "reconciled"),
        End::Destroyed => info!("destroyed"),
        End::Failed { failure } => {
            warn!(
                generation,
                class = failure.class.as_str(),
                step = failure.step.as_str(),
                "failed: {}",
                failure.message
            );
        }
        End::Waits { after, message, .. } => debug!(after_seconds = after.as_secs(), message, "waits"),
        End::Observed { verdict, .. } => debug!(?verdict, "looked for drift"),
        End::Noted | End::HandedBack => {}
    }
}
