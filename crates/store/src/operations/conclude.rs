//! Writing down how claims ended, a batch at a time. Whoever has lost a claim writes nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::job::JobRequest;
use model::reconcile::{End, Ended, OperationRecord, Record, Report, Terms};
use model::{
    Action, Actor, EventSeq, HistoryEntry, Ladder, OperationId, OperationKind, OperationState, Resource, ResourceId,
    TenantId,
};
use serde::Serialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::claim::{Claim, OperationRow};
use super::held::Held;
use crate::Store;
use crate::dialect::Cell;
use crate::error::Error;
use crate::jobs::NewJob;
use crate::resources::Change;
use crate::rows::{json, list};
use crate::writer::Tx;

/// How one claim ended, for now or for good.
#[derive(Debug, Clone)]
pub struct Conclusion {
    pub claim: Arc<Claim>,
    pub report: Report,
    pub holder: String,
    pub ladder: Ladder,
    pub drift_interval: Duration,
    /// In 0..=1: the dice, thrown outside.
    pub chance: f64,
}

/// A claim that is still its holder's, and what came of it.
struct Settled {
    tenant: TenantId,
    /// Where the sequence tells of it, if there is something to tell.
    seq: Option<EventSeq>,
    before: Resource,
    after: Record,
    operation: OperationRecord,
    ended: Ended,
    with_memory: bool,
    with_outputs: bool,
    holder: String,
    job: Option<Box<JobRequest>>,
}

impl Store {
    /// Write down how claims ended. Says which were still their holder's; the others have changed nothing.
    pub async fn conclude(&self, conclusions: Vec<Conclusion>) -> Result<HashSet<ResourceId>, Error> {
        self.write(0, move |tx| {
            let conclusions = conclusions.clone();
            Box::pin(async move { tx.conclude(conclusions).await })
        })
        .await
    }
}

impl Tx {
    async fn conclude(&mut self, conclusions: Vec<Conclusion>) -> Result<HashSet<ResourceId>, Error> {
        let (plain, others) = conclusions.into_iter().partition(Conclusion::is_plain);
        let (mut settled, changed) = self.conclude_unchanged(plain).await?;
        settled.extend(self.conclude_held([changed, others].concat()).await?);
        self.update_operations(&settled).await?;
        self.queue_jobs(&settled).await?;
        let history: Vec<_> = settled
            .iter()
            .filter(|settled| matches!(settled.ended, Ended::Finished(_)) && !settled.is_observation())
            .map(|settled| (settled.tenant, settled.operation.body.history_entry()))
            .collect();
        self.record_history(&history).await?;
        for settled in &settled {
            let (Some(action), Some(seq)) = (settled.action(), settled.seq) else { continue };
            let (tenant, before, after) = (settled.tenant, &settled.before, &settled.after.resource);
            if settled.after.released {
                self.tell_of_resource(tenant, &Actor::system(), action, seq, Some(before), None)?;
            } else {
                self.tell_of_standing(tenant, action, seq, before, after)?;
            }
        }
        Ok(settled.iter().map(|settled| settled.before.id).collect())
    }

    /// Most claims end well, and nobody has touched the resource meanwhile: then what was claimed is still what there is,
    /// and need not be read again. Says which were not like that.
    async fn conclude_unchanged(&mut self, plain: Vec<Conclusion>) -> Result<(Vec<Settled>, Vec<Conclusion>), Error> {
        let now = self.now;
        let mut settled = Vec::with_capacity(plain.len());
        for conclusion in &plain {
            let claim = &conclusion.claim;
            let (tenant, record) = (claim.tenant, claim.record.clone());
            self.follow(record.resource.resource_version)?;
            let held = Held { tenant, record, type_config: Value::Null };
            settled.extend(settle(held, conclusion.clone(), &conclusion.terms(now)));
        }
        self.advance_all(&mut settled)?;
        settled.sort_by_key(|settled| settled.before.id);
        let unchanged = self.write_standing_of_unchanged(&changes(&settled)).await?;
        settled.retain(|settled| unchanged.contains(&settled.before.id));
        let changed = plain.into_iter().filter(|conclusion| !unchanged.contains(&conclusion.resource())).collect();
        Ok((settled, changed))
    }

    async fn conclude_held(&mut self, conclusions: Vec<Conclusion>) -> Result<Vec<Settled>, Error> {
        if conclusions.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = conclusions.iter().map(Conclusion::resource).collect();
        let held = self.hold_for_controllers(&ids, false).await?;
        let stale = self.with_news_of_their_jobs(&conclusions).await?;
        let mut held: HashMap<_, _> = held.into_iter().map(|held| (held.record.resource.id, held)).collect();
        let now = self.now;
        let mut settled: Vec<_> = conclusions
            .into_iter()
            .filter_map(|conclusion| {
                let held = held.remove(&conclusion.resource())?;
                let terms = conclusion.terms(now);
                settle(held, conclusion, &terms)
            })
            .collect();
        // Who gave a word to a job while its operation was claimed could not wake it.
        for settled in settled.iter_mut().filter(|settled| stale.contains(&settled.before.id) && settled.waits()) {
            settled.after.resource.next_reconcile_at = Some(now);
        }
        self.insert_waiting_observations(&mut settled).await?;
        self.advance_all(&mut settled)?;
        self.write_standing(&changes(&settled)).await?;
        Ok(settled)
    }

    /// The resources whose operation goes on waiting for a job that is not as it was when they were claimed.
    async fn with_news_of_their_jobs(&mut self, conclusions: &[Conclusion]) -> Result<HashSet<ResourceId>, Error> {
        let waiting: HashMap<_, _> = conclusions
            .iter()
            .filter(|conclusion| matches!(conclusion.report.end, End::Waits { .. }) && conclusion.report.job.is_none())
            .filter_map(|conclusion| Some((conclusion.claim.operation.body.id, conclusion.claim.job.as_ref()?)))
            .collect();
        let operations: Vec<_> = waiting.keys().copied().collect();
        let jobs = self.jobs_of_operations(&operations).await?;
        let news = jobs.into_iter().filter(|job| {
            let approved = job.approved_by.is_some();
            waiting.get(&job.operation).is_some_and(|seen| (seen.state, seen.approved) != (job.state, approved))
        });
        Ok(news.map(|job| job.resource).collect())
    }

    /// Those that have something to tell become a new version.
    fn advance_all(&mut self, settled: &mut [Settled]) -> Result<(), Error> {
        for settled in settled.iter_mut().filter(|settled| settled.action().is_some()) {
            settled.seq = Some(self.advance(&mut settled.after)?);
        }
        Ok(())
    }

    /// An observation that has to wait becomes a row.
    async fn insert_waiting_observations(&mut self, settled: &mut [Settled]) -> Result<(), Error> {
        let rows: Vec<_> = settled
            .iter()
            .filter(|settled| settled.is_new() && settled.ended == Ended::GoesOn && settled.waits())
            .map(|settled| {
                OperationRow::new(settled.tenant, &settled.operation, settled.after.fencing_token, &settled.holder)
            })
            .collect();
        let ids = self.insert_operations(&rows).await?;
        for settled in settled {
            if let Some(id) = ids.get(&settled.before.id) {
                settled.after.resource.operation_id = Some(*id);
            }
        }
        Ok(())
    }

    /// What an operation waits for and the job that brings it are written down together.
    async fn queue_jobs(&mut self, settled: &[Settled]) -> Result<(), Error> {
        let jobs: Vec<_> = settled
            .iter()
            .filter_map(|settled| {
                let (tenant, resource) = (settled.tenant, settled.before.id);
                let operation = settled.after.resource.operation_id?;
                settled.job.as_deref().map(|request| NewJob { tenant, resource, operation, request })
            })
            .collect();
        self.insert_jobs(&jobs).await
    }

    async fn update_operations(&mut self, settled: &[Settled]) -> Result<(), Error> {
        let operations: Vec<_> =
            settled.iter().filter(|settled| !settled.is_new()).map(|settled| settled.operation.clone()).collect();
        self.finish_operations(&operations).await
    }

    /// Write down where operations stand.
    pub(super) async fn finish_operations(&mut self, operations: &[OperationRecord]) -> Result<(), Error> {
        if operations.is_empty() {
            return Ok(());
        }
        let rows = operations.iter().map(to_row).collect::<Result<Vec<_>, _>>()?;
        let text = format!(
            "UPDATE operations SET state = v.state, phase = v.phase, step = v.step, attempt = v.attempt, message = v.message, \
             failure = v.failure, checkpoint = v.checkpoint, signal = v.signal, resources_created = v.resources_created, \
             resources_updated = v.resources_updated, resources_deleted = v.resources_deleted, updated_at = v.updated_at, \
             finished_at = v.finished_at FROM {} WHERE operations.id = v.id",
            self.dialect.rows(Row::COLUMNS)
        );
        sqlx::query(AssertSqlSafe(text)).bind(list(&rows)?).execute(self.connection()).await?;
        Ok(())
    }

    pub(super) async fn record_history(&mut self, entries: &[(TenantId, HistoryEntry)]) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let rows: Vec<_> = entries
            .iter()
            .map(|(tenant, entry)| {
                serde_json::json!({
                    "tenant_id": tenant.0,
                    "resource_id": entry.resource_id.0,
                    "generation": entry.generation,
                    "success": i64::from(entry.success),
                    "phase": entry.phase,
                    "error_message": entry.error_message,
                    "resources_created": entry.resources_created,
                    "resources_updated": entry.resources_updated,
                    "resources_deleted": entry.resources_deleted,
                })
            })
            .collect();
        let text = format!(
            "INSERT INTO reconciliation_history (tenant_id, resource_id, generation, success, phase, error_message, \
             resources_created, resources_updated, resources_deleted, reconcile_time) \
             SELECT v.tenant_id, v.resource_id, v.generation, v.success = 1, v.phase, v.error_message, \
             v.resources_created, v.resources_updated, v.resources_deleted, $2 FROM {} WHERE true",
            self.dialect.rows(HISTORY)
        );
        let now = self.now.as_microsecond();
        sqlx::query(AssertSqlSafe(text)).bind(list(&rows)?).bind(now).execute(self.connection()).await?;
        Ok(())
    }
}

const HISTORY: &[(&str, Cell)] = &[
    ("tenant_id", Cell::Int),
    ("resource_id", Cell::Int),
    ("generation", Cell::Int),
    ("success", Cell::Int),
    ("phase", Cell::Text),
    ("error_message", Cell::Text),
    ("resources_created", Cell::Int),
    ("resources_updated", Cell::Int),
    ("resources_deleted", Cell::Int),
];

impl Conclusion {
    pub fn resource(&self) -> ResourceId {
        self.claim.record.resource.id
    }

    /// It ended well, and nothing but the claim itself decided what was to be done.
    fn is_plain(&self) -> bool {
        let operation = &self.claim.operation;
        matches!(self.report.end, End::Succeeded { .. }) && operation.body.id.0 != 0 && operation.desired.is_none()
    }

    fn terms(&self, now: Timestamp) -> Terms {
        Terms { now, ladder: self.ladder, drift_interval: self.drift_interval, chance: self.chance }
    }
}

fn changes(settled: &[Settled]) -> Vec<Change<'_>> {
    settled
        .iter()
        .map(|settled| Change {
            before: &settled.before,
            after: &settled.after,
            with_memory: settled.with_memory,
            with_outputs: settled.with_outputs,
        })
        .collect()
}

/// What follows from a conclusion; nothing where the claim is somebody else's by now.
fn settle(held: Held, conclusion: Conclusion, terms: &Terms) -> Option<Settled> {
    let Held { tenant, mut record, .. } = held;
    let mut operation = conclusion.claim.operation.clone();
    let same_claim = record.fencing_token == conclusion.claim.record.fencing_token;
    // A conclusion that was written already, though nobody was told, is not written again.
    let under_way = operation.body.id.0 == 0 || record.resource.operation_id == Some(operation.body.id);
    if !same_claim || !under_way {
        return None;
    }
    let before = record.resource.clone();
    let (with_memory, with_outputs) = (conclusion.report.memory.is_some(), conclusion.report.outputs.is_some());
    let mut report = conclusion.report;
    let job = report.job.take();
    let ended = record.end(&mut operation, report, terms);
    if ended != Ended::GoesOn {
        record.resource.operation_id = None;
    }
    let holder = conclusion.holder;
    Some(Settled { tenant, seq: None, with_memory, with_outputs, before, after: record, operation, ended, holder, job })
}

impl Settled {
    fn is_observation(&self) -> bool {
        self.operation.body.kind == OperationKind::Observe
    }

    fn is_new(&self) -> bool {
        self.operation.body.id == OperationId(0)
    }

    fn waits(&self) -> bool {
        self.operation.body.state == OperationState::Waiting
    }

    /// What its watchers are told, where there is something to see.
    fn action(&self) -> Option<Action> {
        let (before, after) = (&self.before, &self.after.resource);
        match self.ended {
            _ if self.after.released => Some(Action::Deleted),
            Ended::Finished(OperationState::Succeeded) => Some(Action::OperationSucceeded),
            Ended::Finished(_) if self.is_observation() => None,
            Ended::Finished(_) if after.alerts() && !before.alerts() => Some(Action::Alerted),
            Ended::Finished(_) => Some(Action::OperationFailed),
            Ended::Looked if before.conditions != after.conditions => Some(Action::Drifted),
            Ended::GoesOn if before.status_message != after.status_message || before.holds != after.holds => {
                Some(Action::OperationProgressed)
            }
            Ended::Looked | Ended::GoesOn => None,
        }
    }
}

#[derive(Serialize)]
struct Row<'a> {
    id: i64,
    state: &'a str,
    phase: &'a str,
    step: &'a str,
    attempt: i64,
    message: &'a str,
    failure: Option<String>,
    checkpoint: Option<String>,
    signal: Option<&'a str>,
    resources_created: i64,
    resources_updated: i64,
    resources_deleted: i64,
    updated_at: i64,
    finished_at: Option<i64>,
}

impl Row<'_> {
    const COLUMNS: &'static [(&'static str, Cell)] = &[
        ("id", Cell::Int),
        ("state", Cell::Text),
        ("phase", Cell::Text),
        ("step", Cell::Text),
        ("attempt", Cell::Int),
        ("message", Cell::Text),
        ("failure", Cell::Text),
        ("checkpoint", Cell::Text),
        ("signal", Cell::Text),
        ("resources_created", Cell::Int),
        ("resources_updated", Cell::Int),
        ("resources_deleted", Cell::Int),
        ("updated_at", Cell::Int),
        ("finished_at", Cell::Int),
    ];
}

fn to_row(operation: &OperationRecord) -> Result<Row<'_>, Error> {
    let OperationRecord { body, checkpoint, signal, .. } = operation;
    Ok(Row {
        id: body.id.0,
        state: body.state.as_str(),
        phase: body.phase.as_str(),
        step: body.step.as_str(),
        attempt: body.attempt,
        message: &body.message,
        failure: body.failure.as_ref().map(json).transpose()?,
        checkpoint: (!checkpoint.is_null()).then(|| json(checkpoint)).transpose()?,
        signal: signal.as_deref(),
        resources_created: body.changes.created,
        resources_updated: body.changes.updated,
        resources_deleted: body.changes.deleted,
        updated_at: body.updated_at.as_microsecond(),
        finished_at: body.finished_at.map(|time| time.as_microsecond()),
    })
}
