//! Claiming: a batch of due resources becomes this controller's, each with an operation to begin or to go on with.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::job::JobProgress;
use model::reconcile::{OperationRecord, Record, Terms, Work};
use model::{
    Action, HistoryEntry, HistoryId, Operation, OperationId, OperationKind, OperationState, Resource, ResourceId,
    TenantId,
};
use serde::Serialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::held::Held;
use crate::Store;
use crate::dialect::Cell;
use crate::error::Error;
use crate::resources::Change;
use crate::row::Cells;
use crate::rows::{json, list};
use crate::writer::Tx;

/// A resource to work at, and what to do.
#[derive(Debug, Clone)]
pub struct Claim {
    pub tenant: TenantId,
    pub record: Record,
    pub operation: OperationRecord,
    /// The plugin configuration that the resource's type sets for all of its kind.
    pub type_config: Value,
    /// The newest job of an operation that is taken up again.
    pub job: Option<JobProgress>,
}

/// Who claims, for how long, and on what terms operations end.
#[derive(Debug, Clone)]
pub struct Claimant {
    pub holder: String,
    pub lease: Duration,
    /// Ties the log lines of each new operation together.
    pub trace_ids: Vec<String>,
}

/// A claim to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewal {
    pub resource: ResourceId,
    pub fencing_token: i64,
    /// It is a look for drift, which holds no lease.
    pub observes: bool,
}

impl Store {
    /// Claim those of `ids` that are still due.
    pub async fn claim(&self, ids: Vec<ResourceId>, claimant: Claimant) -> Result<Vec<Arc<Claim>>, Error> {
        self.write(0, move |tx| {
            let (ids, claimant) = (ids.clone(), claimant.clone());
            Box::pin(async move { tx.claim(&ids, &claimant).await })
        })
        .await
    }

    /// Keep these claims for another `lease`. Says which are still their holder's.
    pub async fn renew(&self, claims: Vec<Renewal>, lease: Duration) -> Result<Vec<ResourceId>, Error> {
        self.write(0, move |tx| {
            let claims = claims.clone();
            Box::pin(async move { tx.renew(&claims, lease).await })
        })
        .await
    }

    /// Let go of every claim of other holders, at the start of the only process that uses this database.
    pub async fn release_all(&self) -> Result<u64, Error> {
        self.write(0, move |tx| Box::pin(async move { tx.release_all().await })).await
    }
}

impl Tx {
    async fn claim(&mut self, ids: &[ResourceId], claimant: &Claimant) -> Result<Vec<Arc<Claim>>, Error> {
        let held = self.hold_for_controllers(ids, true).await?;
        let active: Vec<_> = held.iter().filter_map(|held| held.record.resource.operation_id).collect();
        let mut active: HashMap<_, _> = self
            .operations_by_id(&active)
            .await?
            .into_iter()
            .map(|operation| (operation.body.resource_id, operation))
            .collect();
        let ids: Vec<_> = active.values().map(|operation| operation.body.id).collect();
        let jobs = self.jobs_of_operations(&ids).await?;
        let mut jobs: HashMap<_, _> = jobs.into_iter().map(|job| (job.operation, job)).collect();
        let terms = self.claim_terms();
        let until = self.now + claimant.lease;
        let mut batch = Batch::default();
        let mut traces = claimant.trace_ids.iter().cloned();
        for held in held {
            let operation = active.remove(&held.record.resource.id);
            let job = operation.as_ref().and_then(|operation| jobs.remove(&operation.body.id));
            batch.take(held, operation, claimant, until, &terms, traces.next().unwrap_or_default());
            if let (Some(job), Some(taken)) = (job, batch.claims.last_mut())
                && taken.claim.operation.body.id == job.operation
            {
                taken.claim.job = Some(job.progress());
            }
        }
        self.finish_operations(&batch.superseded).await?;
        let superseded: Vec<_> = batch.superseded.iter().map(|operation| operation.body.id).collect();
        self.stop_jobs_of(&superseded).await?;
        self.begin_operations(&mut batch.claims, claimant).await?;
        self.record_history(&batch.history).await?;
        for taken in &mut batch.claims {
            if taken.tells() {
                let seq = self.advance(&mut taken.claim.record)?;
                let (before, after) = (&taken.before, &taken.claim.record.resource);
                self.tell_of_standing(taken.claim.tenant, Action::OperationStarted, seq, before, after)?;
            }
        }
        let changes: Vec<_> = batch
            .claims
            .iter()
            .map(|taken| (&taken.before, &taken.claim.record))
            .chain(batch.resting.iter().map(|(before, record)| (before, record)))
            .map(|(before, after)| Change { before, after, with_memory: false, with_outputs: false })
            .collect();
        self.write_standing(&changes).await?;
        Ok(batch.claims.into_iter().map(|taken| Arc::new(taken.claim)).collect())
    }

    /// Insert the operations that begin, and give them their ids. An observation is a row only once it has to wait.
    async fn begin_operations(&mut self, claims: &mut [Taken], claimant: &Claimant) -> Result<(), Error> {
        let rows: Vec<_> = claims.iter().filter(|taken| taken.begins()).map(|taken| taken.row(claimant)).collect();
        let ids = self.insert_operations(&rows).await?;
        for taken in claims.iter_mut() {
            let claim = &mut taken.claim;
            if let Some(id) = ids.get(&claim.record.resource.id) {
                claim.operation.body.id = *id;
                claim.record.resource.operation_id = Some(*id);
            }
        }
        Ok(())
    }

    pub(super) async fn insert_operations(
        &mut self,
        rows: &[OperationRow],
    ) -> Result<HashMap<ResourceId, OperationId>, Error> {
        if rows.is_empty() {
            return Ok(HashMap::new());
        }
        let text = format!(
            "INSERT INTO operations (tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, message, \
             checkpoint, signal, fencing_token, holder, trace_id, resources_created, resources_updated, resources_deleted, \
             started_at, updated_at) \
             SELECT v.tenant_id, v.resource_id, v.kind, v.reason, v.generation, v.state, v.phase, v.step, v.attempt, v.message, \
             v.checkpoint, v.signal, v.fencing_token, v.holder, v.trace_id, 0, 0, 0, v.at, v.at FROM {} WHERE true \
             RETURNING id, resource_id",
            self.dialect.rows(OperationRow::COLUMNS)
        );
        let rows = sqlx::query(AssertSqlSafe(text)).bind(list(rows)?).fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok((ResourceId(row.int("resource_id")?), OperationId(row.int("id")?)))).collect()
    }

    async fn renew(&mut self, claims: &[Renewal], lease: Duration) -> Result<Vec<ResourceId>, Error> {
        let rows: Vec<_> = claims
            .iter()
            .map(|claim| {
                serde_json::json!({
                    "id": claim.resource.0,
                    "fencing_token": claim.fencing_token,
                    "observes": i64::from(claim.observes),
                })
            })
            .collect();
        // A claim that was concluded meanwhile has no lease any more, and its next time is its own.
        let text = format!(
            "UPDATE resources SET next_reconcile_at = $2, lease_until = CASE WHEN v.observes = 1 THEN NULL ELSE $2 END \
             FROM {} WHERE resources.id = v.id AND resources.fencing_token = v.fencing_token AND deleted_at IS NULL AND ( \
             (v.observes = 0 AND lease_until >= $3) OR (v.observes = 1 AND lease_until IS NULL AND operation_id IS NULL \
             AND wanted IS NULL AND deletion_requested_at IS NULL AND next_reconcile_at >= $3 AND next_reconcile_at <= $2)) \
             RETURNING resources.id AS id",
            self.dialect.rows(&[("id", Cell::Int), ("fencing_token", Cell::Int), ("observes", Cell::Int)])
        );
        let now = self.now;
        let rows = sqlx::query(AssertSqlSafe(text))
            .bind(list(&rows)?)
            .bind((now + lease).as_microsecond())
            .bind(now.as_microsecond())
            .fetch_all(self.connection())
            .await?;
        rows.iter().map(|row| Ok(ResourceId(row.int("id")?))).collect()
    }

    async fn release_all(&mut self) -> Result<u64, Error> {
        let released = sqlx::query(
            "UPDATE resources SET lease_holder = NULL, lease_until = NULL, next_reconcile_at = $1, \
             fencing_token = fencing_token + 1 WHERE lease_until IS NOT NULL",
        )
        .bind(self.now.as_microsecond())
        .execute(self.connection())
        .await?;
        Ok(released.rows_affected())
    }

    /// What claims decide depends on no setting.
    fn claim_terms(&self) -> Terms {
        Terms { now: self.now, ladder: model::Ladder::default(), drift_interval: Duration::ZERO, chance: 0.0 }
    }
}

/// A claim, with the resource as it was before.
struct Taken {
    before: Resource,
    claim: Claim,
}

impl Taken {
    fn begins(&self) -> bool {
        self.claim.operation.body.id.0 == 0 && self.claim.operation.body.kind != OperationKind::Observe
    }

    /// Something has changed that its watchers can see.
    fn tells(&self) -> bool {
        self.before.lifecycle != self.claim.record.resource.lifecycle
    }

    fn row(&self, claimant: &Claimant) -> OperationRow {
        OperationRow::new(self.claim.tenant, &self.claim.operation, self.claim.record.fencing_token, &claimant.holder)
    }
}

#[derive(Default)]
struct Batch {
    claims: Vec<Taken>,
    superseded: Vec<OperationRecord>,
    /// Nothing to do, whatever their time said.
    resting: Vec<(Resource, Record)>,
    history: Vec<(TenantId, HistoryEntry)>,
}

impl Batch {
    fn take(
        &mut self,
        held: Held,
        active: Option<OperationRecord>,
        claimant: &Claimant,
        until: Timestamp,
        terms: &Terms,
        trace_id: String,
    ) {
        let Held { tenant, mut record, type_config } = held;
        let before = record.resource.clone();
        let operation = match record.work(active) {
            Work::Rest => {
                record.resource.next_reconcile_at = None;
                record.lease = None;
                return self.resting.push((before, record));
            }
            Work::Resume(operation) => {
                as_it_was(&mut record.resource, operation.desired.as_ref());
                operation
            }
            Work::Begin { kind, reason, superseded } => {
                if let Some(mut superseded) = superseded {
                    let why = if kind == OperationKind::Destroy {
                        "A delete was asked for"
                    } else {
                        "A change was asked for"
                    };
                    superseded.body.finish(OperationState::Superseded, why, terms.now);
                    if superseded.body.kind != OperationKind::Observe {
                        self.history.push((tenant, superseded.body.history_entry()));
                    }
                    self.superseded.push(superseded);
                    record.resource.operation_id = None;
                }
                if let Some(skipped) = record.begin(kind, reason, terms) {
                    self.history.push((tenant, skipped_entry(record.resource.id, skipped, terms.now)));
                }
                let id = record.resource.id;
                let generation = record.generation_for(reason);
                let body = Operation::begun(OperationId(0), id, kind, reason, generation, trace_id, terms.now);
                OperationRecord { body, checkpoint: Value::Null, signal: None, desired: None }
            }
        };
        record.claim(operation.body.kind, &claimant.holder, until);
        self.claims.push(Taken { before, claim: Claim { tenant, record, operation, type_config, job: None } });
    }
}

/// What the operation's generation asked for.
fn as_it_was(resource: &mut Resource, desired: Option<&Value>) {
    let Some(then) = desired else { return };
    let text = |name: &str| then.get(name).and_then(Value::as_str).map(String::from);
    resource.spec = then.get("spec").cloned().unwrap_or_default();
    resource.plugin_config = then.get("plugin_config").cloned().unwrap_or_default();
    resource.action_plugin = text("action_plugin").unwrap_or_default();
    resource.resource_type_version = text("resource_type_version").unwrap_or_default();
}

fn skipped_entry(id: ResourceId, skipped: model::reconcile::Skipped, now: Timestamp) -> HistoryEntry {
    let model::reconcile::Skipped { from, to, by } = skipped;
    let message = if from == to {
        format!("Superseded: generation {by} came before it was begun")
    } else {
        format!("Superseded: generation {by} came before generations {from} to {to} were begun")
    };
    HistoryEntry {
        id: HistoryId(0),
        resource_id: id,
        generation: to,
        success: false,
        phase: "superseded".into(),
        error_message: Some(message),
        resources_created: 0,
        resources_updated: 0,
        resources_deleted: 0,
        reconcile_time: now,
    }
}

/// An operation about to be inserted.
#[derive(Serialize)]
pub(super) struct OperationRow {
    tenant_id: i64,
    resource_id: i64,
    kind: &'static str,
    reason: &'static str,
    generation: i64,
    state: &'static str,
    phase: &'static str,
    step: &'static str,
    attempt: i64,
    message: String,
    checkpoint: Option<String>,
    signal: Option<String>,
    fencing_token: i64,
    holder: String,
    trace_id: String,
    at: i64,
}

impl OperationRow {
    const COLUMNS: &'static [(&'static str, Cell)] = &[
        ("tenant_id", Cell::Int),
        ("resource_id", Cell::Int),
        ("kind", Cell::Text),
        ("reason", Cell::Text),
        ("generation", Cell::Int),
        ("state", Cell::Text),
        ("phase", Cell::Text),
        ("step", Cell::Text),
        ("attempt", Cell::Int),
        ("message", Cell::Text),
        ("checkpoint", Cell::Text),
        ("signal", Cell::Text),
        ("fencing_token", Cell::Int),
        ("holder", Cell::Text),
        ("trace_id", Cell::Text),
        ("at", Cell::Int),
    ];

    pub fn new(tenant: TenantId, operation: &OperationRecord, fencing_token: i64, holder: &str) -> OperationRow {
        let OperationRecord { body, checkpoint, signal, .. } = operation;
        OperationRow {
            tenant_id: tenant.0,
            resource_id: body.resource_id.0,
            kind: body.kind.as_str(),
            reason: body.reason.as_str(),
            generation: body.generation,
            state: body.state.as_str(),
            phase: body.phase.as_str(),
            step: body.step.as_str(),
            attempt: body.attempt,
            message: body.message.clone(),
            checkpoint: (!checkpoint.is_null()).then(|| json(checkpoint).ok()).flatten(),
            signal: signal.clone(),
            fencing_token,
            holder: holder.into(),
            trace_id: body.trace_id.clone(),
            at: body.started_at.as_microsecond(),
        }
    }
}
