//! What a controller does with a resource, as functions of values: what to begin when its time has come, and what follows
//! from how that ended. The store holds the row, calls these and writes down what comes out, in one transaction.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::failure::{Choice, Failure, Retry};
use crate::ids::{OperationId, ResourceId};
use crate::job::JobRequest;
use crate::lifecycle::{Effect, Happening, Lifecycle};
use crate::operation::{DriftPolicy, Operation, OperationKind, OperationState, Phase, Reason};
use crate::plugin::{Changes, Observation, Step};
use crate::resource::{Drift, HistoryEntry, Resource};
use crate::retry::{DESTROY_RETRIES, Ladder};

/// A resource with what only the controllers look at.
#[derive(Debug, Clone)]
pub struct Record {
    pub resource: Resource,
    /// The newest generation that an operation was begun for.
    pub begun_generation: i64,
    /// Why another operation is wanted, beside the one under way: one place, so that requests coalesce.
    pub wanted: Option<Reason>,
    /// Grows with each claim. Who comes with an older one has lost the claim.
    pub fencing_token: i64,
    pub lease: Option<Lease>,
    /// What the plugin remembers of it.
    pub memory: Value,
    pub outputs: Value,
    /// The record goes with this change.
    pub released: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub holder: String,
    pub until: Timestamp,
}

/// The operation under way, with what the API does not show.
#[derive(Debug, Clone)]
pub struct OperationRecord {
    pub body: Operation,
    pub checkpoint: Value,
    pub signal: Option<String>,
    /// What its generation asked for, where something else is asked for by now.
    pub desired: Option<Value>,
}

/// The settings that decide when to come back, and the dice.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub now: Timestamp,
    pub ladder: Ladder,
    pub drift_interval: Duration,
    /// In 0..=1.
    pub chance: f64,
}

/// What to do with a resource whose time has come.
#[derive(Debug, Clone)]
pub enum Work {
    /// Nothing, until something changes.
    Rest,
    /// Go on with the operation that was under way.
    Resume(OperationRecord),
    /// Begin this; where there was an operation, it is superseded.
    Begin { kind: OperationKind, reason: Reason, superseded: Option<OperationRecord> },
}

impl Record {
    /// What is to be done now.
    pub fn work(&self, active: Option<OperationRecord>) -> Work {
        let going = self.resource.lifecycle.is_going();
        match active {
            Some(operation) if going && operation.body.kind != OperationKind::Destroy => self.destroy(Some(operation)),
            Some(operation) if self.wanted.is_some() && operation.body.kind == OperationKind::Observe => {
                self.reconcile(Some(operation))
            }
            Some(operation) => Work::Resume(operation),
            None if going => self.destroy(None),
            None if self.is_wanted() => self.reconcile(None),
            None if self.resource.lifecycle == Lifecycle::Active
                && self.resource.drift_policy != DriftPolicy::Ignore =>
            {
                Work::Begin { kind: OperationKind::Observe, reason: Reason::Scheduled, superseded: None }
            }
            None => Work::Rest,
        }
    }

    fn destroy(&self, superseded: Option<OperationRecord>) -> Work {
        if self.resource.finalizers.is_empty() {
            Work::Begin { kind: OperationKind::Destroy, reason: Reason::Deleted, superseded }
        } else {
            Work::Rest
        }
    }

    fn reconcile(&self, superseded: Option<OperationRecord>) -> Work {
        let reason = match (self.wanted, self.resource.lifecycle) {
            (Some(reason), _) => reason,
            (None, Lifecycle::Pending) => Reason::Created,
            (None, Lifecycle::Failed) => Reason::Retried,
            (None, _) => Reason::Updated,
        };
        Work::Begin { kind: OperationKind::Reconcile, reason, superseded }
    }

    fn is_wanted(&self) -> bool {
        self.wanted.is_some()
            || self.resource.generation > self.begun_generation
            || matches!(self.resource.lifecycle, Lifecycle::Pending | Lifecycle::Failed)
    }

    /// Take the claim. An observation takes no lease: whoever wants something of the resource takes it over at once.
    pub fn claim(&mut self, kind: OperationKind, holder: &str, until: Timestamp) {
        self.fencing_token += 1;
        self.lease = (kind != OperationKind::Observe).then(|| Lease { holder: holder.into(), until });
        self.resource.next_reconcile_at = Some(until);
    }

    /// Begin an operation; the generations that were never begun are superseded by this one.
    pub fn begin(&mut self, kind: OperationKind, reason: Reason, terms: &Terms) -> Option<Skipped> {
        if kind == OperationKind::Observe {
            return None;
        }
        self.wanted = None;
        let again = self.resource.observed_generation > 0;
        let message = match (kind, reason) {
            (OperationKind::Destroy, _) => "Destroying",
            (_, Reason::Drifted) => "Correcting drift",
            (_, Reason::RolledBack) => "Rolling back",
            (_, Reason::CleanedUp) => "Removing what was begun",
            _ if again => "Updating",
            _ => "Provisioning",
        };
        self.happen(Happening::Started { again }, message, terms);
        let (from, to) = (self.begun_generation + 1, self.resource.generation - 1);
        self.begun_generation = self.resource.generation;
        (from <= to).then_some(Skipped { from, to, by: self.resource.generation })
    }

    /// The generation that an operation begun for this reason is to make real.
    pub fn generation_for(&self, reason: Reason) -> i64 {
        if reason == Reason::RolledBack { self.resource.observed_generation } else { self.resource.generation }
    }

    /// How the operation stands or ended, and what follows for the resource.
    pub fn end(&mut self, operation: &mut OperationRecord, report: Report, terms: &Terms) -> Ended {
        if !matches!(report.end, End::Noted) {
            self.lease = None;
        }
        operation.checkpoint = report.checkpoint;
        operation.signal = None;
        if let Some(memory) = report.memory {
            self.memory = memory;
        }
        if let Some(outputs) = report.outputs {
            self.outputs = outputs;
        }
        if let Some(holds) = report.holds {
            self.resource.holds = holds;
        }
        let going = self.resource.lifecycle.is_going();
        let body = &mut operation.body;
        body.step = report.step;
        body.phase = Phase::of(report.step);
        body.attempt = report.attempt;
        body.changes = report.changes;
        body.updated_at = terms.now;
        let ended = match report.end {
            End::Waits { after, signal, message } => {
                operation.signal = signal;
                body.state = OperationState::Waiting;
                body.message = message.clone();
                self.resource.next_reconcile_at = Some(later(terms.now, after));
                if !going && body.step == Step::Outputs {
                    self.happen(Happening::Applied, &message, terms);
                } else if self.resource.status_message != message && body.kind != OperationKind::Observe {
                    self.resource.stand(self.resource.lifecycle, message, terms.now);
                }
                None
            }
            End::Noted => return Ended::GoesOn,
            End::HandedBack => {
                self.resource.next_reconcile_at = Some(terms.now);
                None
            }
            End::Succeeded { message, watch } => {
                let message = match (body.reason, body.generation, self.resource.generation) {
                    (Reason::RolledBack, to, newest) if to < newest => {
                        format!("Rolled back to generation {to}; generation {newest} is not applied")
                    }
                    _ => message,
                };
                body.finish(OperationState::Succeeded, &message, terms.now);
                self.resource.last_reconcile_time = Some(terms.now);
                if !going {
                    let first = self.resource.observed_generation == 0;
                    self.resource.observed_generation = body.generation;
                    self.resource.failure = None;
                    self.resource.drift = None;
                    self.happen(Happening::Succeeded, &message, terms);
                    if !watch || self.resource.drift_policy == DriftPolicy::Ignore {
                        self.resource.next_reconcile_at = None;
                    } else if !first {
                        // The looks are spread already; what drifts for ever is corrected once an interval.
                        self.resource.next_reconcile_at = Some(later(terms.now, terms.drift_interval));
                    }
                }
                Some(OperationState::Succeeded)
            }
            End::Destroyed => {
                body.finish(OperationState::Succeeded, "Destroyed", terms.now);
                self.resource.failure = None;
                self.resource.last_reconcile_time = Some(terms.now);
                self.resource.holds = Vec::new();
                self.happen(Happening::Destroyed, "Destroyed", terms);
                Some(OperationState::Succeeded)
            }
            End::Failed { mut failure } => {
                if failure.choices.is_empty() {
                    failure.choices.push(Choice::Retry);
                }
                failure.alert |= body.kind == OperationKind::Destroy && self.resource.failures >= DESTROY_RETRIES;
                let message = failure.to_string();
                body.failure = Some(failure.clone());
                body.finish(OperationState::Failed, &message, terms.now);
                if body.kind != OperationKind::Observe {
                    self.resource.last_reconcile_time = Some(terms.now);
                    self.fail(body.kind, failure, &message, going, terms);
                } else if !going {
                    // Not being able to look is no failure of the resource.
                    self.resource.next_reconcile_at = Some(later(terms.now, terms.drift_interval));
                }
                Some(OperationState::Failed)
            }
            End::Observed { verdict, watch } => {
                body.finish(OperationState::Succeeded, "Observed", terms.now);
                if !going {
                    self.observe(verdict, terms);
                    if !watch {
                        self.resource.next_reconcile_at = None;
                    }
                }
                None
            }
        };
        let going = going && !self.released;
        // What is wanted next waits for the end of this; only a delete does not.
        let over = body.finished_at.is_some();
        if (over && self.wanted.is_some()) || (going && body.kind != OperationKind::Destroy) {
            self.resource.next_reconcile_at = Some(terms.now);
        }
        match ended {
            Some(state) => Ended::Finished(state),
            None if body.finished_at.is_some() => Ended::Looked,
            None => Ended::GoesOn,
        }
    }

    fn fail(&mut self, kind: OperationKind, failure: Failure, message: &str, going: bool, terms: &Terms) {
        let retry = failure.retry() != Retry::OnChange;
        self.resource.failure = Some(failure);
        if kind == OperationKind::Destroy {
            self.happen(Happening::DestroyFailed, message, terms);
        } else if !going {
            self.happen(Happening::Failed { retry }, message, terms);
        }
    }

    fn observe(&mut self, verdict: Observation, terms: &Terms) {
        self.resource.next_reconcile_at = Some(later(terms.now, terms.drift_interval));
        let found = match verdict {
            Observation::CannotTell { .. } => return,
            Observation::Unchanged => Vec::new(),
            Observation::Drifted { attributes } => attributes,
        };
        let drifted = !found.is_empty();
        let known = self.resource.drift.take();
        let drift = Drift::seen(known.as_ref(), found, terms.now);
        self.resource.drift = Some(drift);
        if drifted {
            // What was rolled back is not pushed forward again by a drift: its owner decides.
            let as_wanted = self.resource.observed_generation == self.resource.generation;
            let correct = self.resource.drift_policy == DriftPolicy::Correct && as_wanted;
            let next = self.resource.next_reconcile_at;
            self.happen(Happening::Drifted { correct }, "Changed outside of Terrane", terms);
            if correct {
                self.wanted = self.wanted.or(Some(Reason::Drifted));
            } else {
                self.resource.next_reconcile_at = next;
            }
        } else if known.is_none_or(|drift| !drift.attributes.is_empty()) {
            let message = self.resource.status_message.clone();
            self.resource.stand(self.resource.lifecycle, message, terms.now);
        }
    }

    /// Let something happen to the resource, with all that follows. False where it cannot happen.
    pub fn happen(&mut self, happening: Happening, message: &str, terms: &Terms) -> bool {
        let Some(transition) = self.resource.lifecycle.after(happening) else { return false };
        for effect in transition.effects {
            self.take_effect(*effect, terms);
        }
        self.resource.stand(transition.to, message, terms.now);
        true
    }

    fn take_effect(&mut self, effect: Effect, terms: &Terms) {
        let next = &mut self.resource.next_reconcile_at;
        match effect {
            // The end of the operation under way sees to what is wanted next.
            Effect::Queue => {}
            // Under a lease it is the holder who does.
            Effect::ReconcileNow => {
                if self.lease.is_none() {
                    *next = Some(terms.now);
                }
            }
            Effect::RetryByLadder => {
                *next = Some(later(terms.now, terms.ladder.pause(self.resource.failures, terms.chance)));
            }
            Effect::AwaitChange => {
                if self.lease.is_none() {
                    *next = None;
                }
            }
            // Anywhere in the interval, so that what was made together is not looked at together.
            Effect::WatchForDrift => *next = Some(later(terms.now, terms.drift_interval.mul_f64(terms.chance))),
            Effect::CountFailure => self.resource.failures += 1,
            Effect::ForgetFailures => self.resource.failures = 0,
            Effect::Release => {
                self.released = true;
                self.lease = None;
                self.wanted = None;
                self.resource.operation_id = None;
                *next = None;
            }
        }
    }

    /// Ask for an operation, beside what may be asked already.
    pub fn want(&mut self, reason: Reason) {
        // A person's wish to have it done anew outlives a change; a change outlives drift.
        self.wanted = match (self.wanted, reason) {
            (Some(Reason::Requested), _) => Some(Reason::Requested),
            (_, reason) => Some(reason),
        };
    }
}

/// Generations that were never begun, since a newer one came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    pub from: i64,
    pub to: i64,
    pub by: i64,
}

/// How a claim ends, for now or for good.
#[derive(Debug, Clone)]
pub struct Report {
    pub step: Step,
    pub attempt: i64,
    /// All that the operation has changed so far.
    pub changes: Changes,
    /// Where the step stands; null when it was not begun or is done.
    pub checkpoint: Value,
    pub end: End,
    pub outputs: Option<Value>,
    pub memory: Option<Value>,
    pub holds: Option<Vec<String>>,
    /// A job for a runner, which the operation then waits for.
    pub job: Option<Box<JobRequest>>,
}

#[derive(Debug, Clone)]
pub enum End {
    Waits {
        after: Duration,
        signal: Option<String>,
        message: String,
    },
    /// The checkpoint is written down and the claim is kept: the next call follows at once.
    Noted,
    /// Not begun: somebody else may take it.
    HandedBack,
    /// `watch`: its plugin can look for drift.
    Succeeded {
        message: String,
        watch: bool,
    },
    Destroyed,
    Failed {
        failure: Failure,
    },
    /// `watch`: its plugin can look for drift at all.
    Observed {
        verdict: Observation,
        watch: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Finished(OperationState),
    /// A look for drift is over.
    Looked,
    GoesOn,
}

impl Operation {
    pub fn finish(&mut self, state: OperationState, message: &str, now: Timestamp) {
        self.state = state;
        self.message = message.into();
        if state == OperationState::Succeeded {
            self.phase = Phase::Completed;
        }
        self.updated_at = now;
        self.finished_at = Some(now);
    }

    /// The operation as an entry of its resource's history.
    pub fn history_entry(&self) -> HistoryEntry {
        let failed = self.state != OperationState::Succeeded;
        HistoryEntry {
            id: crate::ids::HistoryId(0),
            resource_id: self.resource_id,
            generation: self.generation,
            success: !failed,
            phase: if self.state == OperationState::Superseded { "superseded" } else { self.phase.as_str() }.into(),
            error_message: failed.then(|| self.message.clone()),
            resources_created: self.changes.created,
            resources_updated: self.changes.updated,
            resources_deleted: self.changes.deleted,
            reconcile_time: self.updated_at,
        }
    }

    /// An operation that has just begun.
    pub fn begun(
        id: OperationId,
        resource: ResourceId,
        kind: OperationKind,
        reason: Reason,
        generation: i64,
        trace_id: String,
        now: Timestamp,
    ) -> Operation {
        Operation {
            id,
            resource_id: resource,
            kind,
            reason,
            generation,
            state: OperationState::Running,
            phase: Phase::of(kind.steps()[0]),
            step: kind.steps()[0],
            attempt: 1,
            message: String::new(),
            failure: None,
            changes: Changes::default(),
            trace_id,
            started_at: now,
            updated_at: now,
            finished_at: None,
        }
    }
}

/// Nobody looks farther ahead, whatever the other side asks for.
const FARTHEST: Duration = Duration::from_secs(400 * 24 * 60 * 60);

fn later(now: Timestamp, pause: Duration) -> Timestamp {
    let pause = i64::try_from(pause.min(FARTHEST).as_micros()).unwrap_or(0);
    Timestamp::from_microsecond(now.as_microsecond().saturating_add(pause)).unwrap_or(Timestamp::MAX)
}
