//! Operations and claims: which resources are due, who works at which, and how that ended. `claim` takes a batch,
//! `conclude` writes a batch down; both hold the rows, let the model decide and write what it says.

use std::time::Duration;

use jiff::Timestamp;
use model::plugin::{Changes, Step};
use model::reconcile::OperationRecord;
use model::{
    Desired, Operation, OperationId, OperationKind, OperationState, Phase, Reason, ResourceId, Scope, TenantId,
};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::dialect::Cell;
use crate::error::Error;
use crate::page::Page;
use crate::row::Cells;
use crate::rows::list;
use crate::select::Select;
use crate::writer::Tx;

mod claim;
mod conclude;
mod held;

pub use claim::{Claim, Claimant, Renewal};
pub use conclude::Conclusion;

const COLUMNS: &str = "id, tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, message, failure, \
    checkpoint, signal, desired, trace_id, resources_created, resources_updated, resources_deleted, started_at, updated_at, finished_at";

/// A resource whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub id: ResourceId,
    pub tenant: TenantId,
    /// Somebody had it, and was not heard of until the lease ended.
    pub lapsed: bool,
}

/// How much is waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Due now, counted up to a bound.
    pub due: u64,
    /// How long the first of them has been waiting.
    pub oldest: Duration,
}

/// What makes a resource due: its time has come, and nobody's lease is in force.
const IS_DUE: &str = "deleted_at IS NULL AND next_reconcile_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)";

impl Store {
    /// The first `limit` resources that are due: those whose holder died, then the longest waiting.
    pub async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>, Error> {
        // Two index ranges; together in one condition they would be a scan.
        const TEXT: &str = "SELECT id, tenant_id, lapsed FROM ( \
             SELECT * FROM (SELECT id, tenant_id, 1 AS lapsed, lease_until AS since FROM resources \
                            WHERE lease_until <= $1 AND next_reconcile_at <= $1 AND deleted_at IS NULL \
                            ORDER BY lease_until LIMIT $2) AS left_behind \
             UNION ALL \
             SELECT * FROM (SELECT id, tenant_id, 0 AS lapsed, next_reconcile_at AS since FROM resources \
                            WHERE next_reconcile_at <= $1 AND lease_until IS NULL AND deleted_at IS NULL \
                            ORDER BY next_reconcile_at LIMIT $2) AS waiting) AS due \
             ORDER BY lapsed DESC, since LIMIT $2";
        let now = now.as_microsecond();
        let rows =
            self.read(|reader| Box::pin(sqlx::query(TEXT).bind(now).bind(limit as i64).fetch_all(reader))).await?;
        rows.iter().map(to_due).collect()
    }

    /// The first few that are due of each tenant that has any: for when the front of the queue is one tenant's alone.
    pub async fn due_of_each_tenant(&self, now: Timestamp, each: usize, tenants: usize) -> Result<Vec<Due>, Error> {
        // From tenant to tenant through the index, without reading what lies between.
        const TENANTS: &str = "WITH RECURSIVE with_work(tenant_id) AS ( \
                SELECT (SELECT tenant_id FROM resources WHERE deleted_at IS NULL AND next_reconcile_at IS NOT NULL \
                        ORDER BY tenant_id LIMIT 1) \
                UNION ALL \
                SELECT (SELECT tenant_id FROM resources WHERE deleted_at IS NULL AND next_reconcile_at IS NOT NULL \
                        AND tenant_id > with_work.tenant_id ORDER BY tenant_id LIMIT 1) \
                FROM with_work WHERE with_work.tenant_id IS NOT NULL) \
             SELECT tenant_id FROM with_work WHERE tenant_id IS NOT NULL LIMIT $1";
        let rows = self.read(|reader| Box::pin(sqlx::query(TENANTS).bind(tenants as i64).fetch_all(reader))).await?;
        let tenants = rows.iter().map(|row| row.int("tenant_id")).collect::<Result<Vec<_>, _>>()?;
        if tenants.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .read(|reader| {
                let select = due_of(&tenants, now, each);
                Box::pin(async move { select?.fetch_all(reader).await })
            })
            .await?;
        rows.iter().map(to_due).collect()
    }

    /// When something is next due; nothing while nothing is.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, Error> {
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(
                        "SELECT next_reconcile_at FROM resources WHERE deleted_at IS NULL AND next_reconcile_at IS NOT NULL \
                         ORDER BY next_reconcile_at LIMIT 1",
                    )
                    .fetch_optional(reader),
                )
            })
            .await?;
        row.map(|row| row.time("next_reconcile_at")).transpose()
    }

    /// How much is due, counted up to `bound`.
    pub async fn backlog(&self, now: Timestamp, bound: usize) -> Result<Backlog, Error> {
        let text = format!(
            "SELECT count(*) AS due, coalesce(min(next_reconcile_at), $1) AS oldest FROM ( \
             SELECT next_reconcile_at FROM resources WHERE {IS_DUE} ORDER BY next_reconcile_at LIMIT $2) AS waiting"
        );
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(AssertSqlSafe(text.clone()))
                        .bind(now.as_microsecond())
                        .bind(bound as i64)
                        .fetch_one(reader),
                )
            })
            .await?;
        let oldest = u64::try_from(now.as_microsecond() - row.int("oldest")?).unwrap_or(0);
        Ok(Backlog { due: u64::try_from(row.int("due")?).unwrap_or(0), oldest: Duration::from_micros(oldest) })
    }

    /// A resource's operations, newest first, from before `before` on. The resource may be gone.
    pub async fn operations(
        &self,
        scope: &Scope,
        resource: ResourceId,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Page<Operation>, Error> {
        self.known(scope, resource).await?;
        let text =
            format!("SELECT {COLUMNS} FROM operations WHERE resource_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
        let rows = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(AssertSqlSafe(text.clone()))
                        .bind(resource.0)
                        .bind(before.unwrap_or(i64::MAX))
                        .bind(limit as i64 + 1)
                        .fetch_all(reader),
                )
            })
            .await?;
        let found = rows.iter().map(|row| Ok(to_operation(row)?.body)).collect::<Result<Vec<_>, Error>>()?;
        Ok(Page::cut(found, limit, |operation| operation.id.0))
    }

    /// Wake the operations of a tenant that wait for this signal. Says how many there were.
    pub async fn signal(&self, tenant: TenantId, signal: String) -> Result<u64, Error> {
        self.write(0, move |tx| {
            let signal = signal.clone();
            Box::pin(async move { tx.signal(tenant, &signal).await })
        })
        .await
    }
}

impl Tx {
    async fn signal(&mut self, tenant: TenantId, signal: &str) -> Result<u64, Error> {
        let woken = sqlx::query(
            "UPDATE resources SET next_reconcile_at = $1 WHERE lease_until IS NULL AND deleted_at IS NULL AND id IN \
             (SELECT resource_id FROM operations WHERE signal = $2 AND tenant_id = $3 AND finished_at IS NULL)",
        )
        .bind(self.now.as_microsecond())
        .bind(signal)
        .bind(tenant.0)
        .execute(self.connection())
        .await?;
        Ok(woken.rows_affected())
    }

    /// An operation keeps to what its generation asked for, whatever its owner asks for meanwhile.
    pub(crate) async fn keep_desired(&mut self, id: OperationId, desired: &Desired) -> Result<(), Error> {
        let Desired { spec, plugin_config, action_plugin, resource_type_version, .. } = desired;
        let then = serde_json::json!({
            "spec": spec,
            "plugin_config": plugin_config,
            "action_plugin": action_plugin,
            "resource_type_version": resource_type_version,
        });
        sqlx::query("UPDATE operations SET desired = $1 WHERE id = $2 AND desired IS NULL")
            .bind(then.to_string())
            .bind(id.0)
            .execute(self.connection())
            .await?;
        Ok(())
    }

    /// Whether the operation waits for this signal.
    pub(crate) async fn waits_for(&mut self, id: Option<OperationId>, signal: &str) -> Result<bool, Error> {
        let Some(id) = id else { return Ok(false) };
        let waits: i64 = sqlx::query_scalar("SELECT count(*) FROM operations WHERE id = $1 AND signal = $2")
            .bind(id.0)
            .bind(signal)
            .fetch_one(self.connection())
            .await?;
        Ok(waits > 0)
    }

    /// Whether no operation on it got so far as to change anything outside.
    pub(crate) async fn is_untouched(&mut self, id: ResourceId) -> Result<bool, Error> {
        // Where there is no record of any, nobody knows.
        let known: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT 1 FROM operations WHERE resource_id = $1 LIMIT 1) AS any_operation \
             WHERE NOT EXISTS (SELECT 1 FROM operations WHERE resource_id = $1 \
             AND NOT (state = 'failed' AND step IN ('validate', 'plan')))",
        )
        .bind(id.0)
        .fetch_one(self.connection())
        .await?;
        Ok(known > 0)
    }

    /// End an operation that something newer takes the place of.
    pub(crate) async fn supersede_operation(&mut self, id: Option<OperationId>, why: &str) -> Result<(), Error> {
        let Some(id) = id else { return Ok(()) };
        self.stop_jobs_of(&[id]).await?;
        sqlx::query(
            "UPDATE operations SET state = 'superseded', message = $1, updated_at = $2, finished_at = $2 \
             WHERE id = $3 AND finished_at IS NULL",
        )
        .bind(why)
        .bind(self.now.as_microsecond())
        .bind(id.0)
        .execute(self.connection())
        .await?;
        Ok(())
    }

    async fn operations_by_id(&mut self, ids: &[OperationId]) -> Result<Vec<OperationRecord>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!(
            "SELECT {COLUMNS} FROM operations WHERE id IN (SELECT v.id FROM {})",
            self.dialect.rows(&[("id", Cell::Int)])
        );
        let rows = sqlx::query(AssertSqlSafe(text)).bind(to_ids(ids.iter().map(|id| id.0))?);
        rows.fetch_all(self.connection()).await?.iter().map(to_operation).collect()
    }
}

pub(crate) fn to_ids(ids: impl Iterator<Item = i64>) -> Result<String, Error> {
    Ok(list(&ids.map(|id| serde_json::json!({ "id": id })).collect::<Vec<_>>())?)
}

fn due_of(tenants: &[i64], now: Timestamp, each: usize) -> Result<Select, sqlx::Error> {
    let mut select = Select::new("SELECT id, tenant_id, lapsed FROM (");
    for (at, tenant) in tenants.iter().enumerate() {
        select.push(if at == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
        select.with(
            "SELECT id, tenant_id, CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END AS lapsed, next_reconcile_at \
             FROM resources WHERE deleted_at IS NULL AND tenant_id = ",
            *tenant,
        )?;
        select.with(" AND next_reconcile_at <= ", now.as_microsecond())?;
        select.with(" AND (lease_until IS NULL OR lease_until <= ", now.as_microsecond())?;
        select.with(") ORDER BY next_reconcile_at LIMIT ", each as i64)?;
        select.push(") AS of_one");
    }
    select.push(") AS of_each ORDER BY next_reconcile_at");
    Ok(select)
}

fn to_due(row: &AnyRow) -> Result<Due, Error> {
    let (id, tenant) = (ResourceId(row.int("id")?), TenantId(row.int("tenant_id")?));
    Ok(Due { id, tenant, lapsed: row.int("lapsed")? == 1 })
}

fn to_operation(row: &AnyRow) -> Result<OperationRecord, Error> {
    Ok(OperationRecord {
        body: Operation {
            id: OperationId(row.int("id")?),
            resource_id: ResourceId(row.int("resource_id")?),
            kind: row.word("kind", OperationKind::parse)?,
            reason: row.word("reason", Reason::parse)?,
            generation: row.int("generation")?,
            state: row.word("state", OperationState::parse)?,
            phase: row.word("phase", Phase::parse)?,
            step: row.word("step", Step::parse)?,
            attempt: row.int("attempt")?,
            message: row.text("message")?,
            failure: row.optional_json("failure")?,
            changes: Changes {
                created: row.int("resources_created")?,
                updated: row.int("resources_updated")?,
                deleted: row.int("resources_deleted")?,
            },
            trace_id: row.text("trace_id")?,
            started_at: row.time("started_at")?,
            updated_at: row.time("updated_at")?,
            finished_at: row.optional_time("finished_at")?,
        },
        checkpoint: row.optional_json("checkpoint")?.unwrap_or(Value::Null),
        signal: row.optional_text("signal")?,
        desired: row.optional_json("desired")?,
    })
}
