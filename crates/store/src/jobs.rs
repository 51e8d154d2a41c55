//! Work for runners. A row is the job: whatever is said about it elsewhere only makes somebody look here sooner. Whoever has
//! lost the job to another, by its fencing token, writes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use model::job::{JobInfo, JobProgress, JobReport, JobRequest, JobState, RunProgress, Work};
use model::state_lock::StateHold;
use model::{JobId, OperationId, ResourceId, RunnerId, Scope, TenantId};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::Store;
use crate::dialect::Cell;
use crate::error::Error;
use crate::row::Cells;
use crate::rows::{json, list};
use crate::runners::MAY_DO;
use crate::writer::Tx;

mod lock;
mod log;
mod state;

pub use log::{LogPiece, LogStanding};
pub use state::{NewState, SealedState, Succession};

const COLUMNS: &str = "id, tenant_id, resource_id, operation_id, state, request, fencing_token, runner, lease_until, stop, \
    report, plan_sha256, approved_by, log_bytes, progress, created_at, started_at, finished_at";

/// A job as it is stored.
#[derive(Debug, Clone)]
pub struct Job {
    pub id: JobId,
    pub tenant: TenantId,
    pub resource: ResourceId,
    pub operation: OperationId,
    pub state: JobState,
    pub request: JobRequest,
    pub fencing_token: i64,
    pub runner: Option<String>,
    pub stop: Option<String>,
    pub report: Option<JobReport>,
    /// Of the plan that consent is asked for.
    pub plan_sha256: Option<String>,
    pub approved_by: Option<String>,
    pub log_bytes: i64,
    pub progress: Option<RunProgress>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

impl Job {
    pub fn info(self) -> JobInfo {
        let Work::Terraform(terraform) = &self.request.work;
        JobInfo {
            id: self.id,
            operation_id: self.operation,
            resource_id: self.resource,
            goal: terraform.goal,
            state: self.state,
            runner: self.runner,
            log_bytes: self.log_bytes,
            progress: self.progress,
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
            report: self.report.map(|report| JobReport { outputs: BTreeMap::new(), ..report }),
            plan_sha256: self.plan_sha256,
            approved_by: self.approved_by,
        }
    }

    pub(crate) fn progress(self) -> JobProgress {
        JobProgress { id: self.id, state: self.state, report: self.report, approved: self.approved_by.is_some() }
    }

    pub fn is_over(&self) -> bool {
        self.state.is_over()
    }
}

/// A job that a runner may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offered {
    pub id: JobId,
    pub tenant: TenantId,
}

/// A job that a runner has taken.
#[derive(Debug, Clone)]
pub struct TakenJob {
    pub job: Job,
    pub tenant_name: String,
    pub resource_name: String,
    pub type_name: String,
    pub trace_id: String,
    /// A person has locked the state that the job would write.
    pub locked: Option<StateHold>,
}

/// What a runner keeps by renewing: the job, and what is asked of it meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptJob {
    pub id: JobId,
    pub stop: Option<String>,
    /// How long its log is.
    pub log_bytes: i64,
}

/// A plan that waits for consent.
#[derive(Debug, Clone)]
pub struct SealedPlan {
    pub tenant: TenantId,
    pub job: JobId,
    pub sha256: String,
    pub sealed: Vec<u8>,
    pub key_id: String,
}

/// A job asked for by an operation.
pub(crate) struct NewJob<'a> {
    pub tenant: TenantId,
    pub resource: ResourceId,
    pub operation: OperationId,
    pub request: &'a JobRequest,
}

/// Waiting, or in the hands of a runner that is not heard of any more.
const IS_FREE: &str = "(state = 'queued' OR (state = 'running' AND lease_until <= $1))";

/// A resource has one job at a time, in their order: two runs on one state would each undo the other.
const IS_NEXT: &str = "NOT EXISTS (SELECT 1 FROM jobs AS earlier WHERE earlier.resource_id = jobs.resource_id \
    AND earlier.id < jobs.id AND earlier.state IN ('queued', 'running'))";

impl Store {
    /// The first `limit` jobs that this runner may have, the longest waiting first.
    pub async fn offered_jobs(&self, runner: RunnerId, limit: usize) -> Result<Vec<Offered>, Error> {
        // Two index ranges; together in one condition they would be a scan.
        let text = format!(
            "SELECT id, tenant_id FROM ( \
             SELECT * FROM (SELECT id, tenant_id FROM jobs WHERE state = 'running' AND lease_until <= $1 AND {MAY_DO} \
                            ORDER BY lease_until LIMIT $2) AS lapsed \
             UNION ALL \
             SELECT * FROM (SELECT id, tenant_id FROM jobs WHERE state = 'queued' AND {IS_NEXT} AND {MAY_DO} \
                            ORDER BY id LIMIT $2) AS queued) AS free \
             ORDER BY id LIMIT $2"
        );
        let now = self.now().as_microsecond();
        let rows = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(now).bind(limit as i64);
                Box::pin(query.bind(runner.0).fetch_all(reader))
            })
            .await?;
        rows.iter()
            .map(|row| Ok(Offered { id: JobId(row.int("id")?), tenant: TenantId(row.int("tenant_id")?) }))
            .collect()
    }

    /// The newest job after this one that waits and that this runner may have.
    pub async fn newest_offer(&self, runner: RunnerId, after: JobId) -> Result<Option<JobId>, Error> {
        let text =
            format!("SELECT id FROM jobs WHERE state = 'queued' AND id > $1 AND {MAY_DO} ORDER BY id DESC LIMIT $2");
        let row = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(after.0).bind(1_i64);
                Box::pin(query.bind(runner.0).fetch_optional(reader))
            })
            .await?;
        row.map(|row| Ok(JobId(row.int("id")?))).transpose()
    }

    /// The tenants of jobs after this one that wait, and the newest of those.
    pub async fn waiting_tenants(&self, after: JobId) -> Result<(Vec<String>, JobId), Error> {
        let text = "SELECT tenants.name AS name, max(jobs.id) AS newest FROM jobs JOIN tenants ON tenants.id = jobs.tenant_id \
                    WHERE state = 'queued' AND jobs.id > $1 GROUP BY tenants.name";
        let rows = self.read(|reader| Box::pin(sqlx::query(text).bind(after.0).fetch_all(reader))).await?;
        let mut newest = after;
        let mut tenants = Vec::with_capacity(rows.len());
        for row in &rows {
            newest = newest.max(JobId(row.int("newest")?));
            tenants.push(row.text("name")?);
        }
        Ok((tenants, newest))
    }

    /// Those of `jobs` that are in the hands of this runner and of a tenant that it serves.
    pub async fn jobs_held_by(&self, id: RunnerId, name: &str, jobs: &[JobId]) -> Result<Vec<JobId>, Error> {
        let text = format!(
            "SELECT id FROM jobs WHERE id IN (SELECT v.id FROM {}) AND runner = $2 \
             AND tenant_id IN (SELECT tenant_id FROM runner_tenants WHERE runner_id = $3)",
            self.dialect().rows(&[("id", Cell::Int)])
        );
        let ids = crate::operations::to_ids(jobs.iter().map(|id| id.0))?;
        let rows = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(ids.clone()).bind(name);
                Box::pin(query.bind(id.0).fetch_all(reader))
            })
            .await?;
        rows.iter().map(|row| Ok(JobId(row.int("id")?))).collect()
    }

    /// How many jobs of each tenant runners have.
    pub async fn running_jobs(&self) -> Result<Vec<(TenantId, i64)>, Error> {
        let text = "SELECT tenant_id, count(*) AS jobs FROM jobs WHERE state = 'running' GROUP BY tenant_id";
        let rows = self.read(|reader| Box::pin(sqlx::query(text).fetch_all(reader))).await?;
        rows.iter().map(|row| Ok((TenantId(row.int("tenant_id")?), row.int("jobs")?))).collect()
    }

    /// Take those of `ids` that are still free.
    pub async fn take_jobs(&self, ids: Vec<JobId>, runner: String, lease: Duration) -> Result<Vec<TakenJob>, Error> {
        self.write(0, move |tx| {
            let (ids, runner) = (ids.clone(), runner.clone());
            Box::pin(async move { tx.take_jobs(&ids, &runner, lease).await })
        })
        .await
    }

    /// Keep these jobs, each for so long, by their fencing tokens; none for less long than before, since its supervisor may not hear
    /// of it. Says which are still their runner's, and what is asked of them.
    pub async fn renew_jobs(&self, jobs: Vec<(JobId, i64, Duration)>) -> Result<Vec<KeptJob>, Error> {
        self.write_quietly(move |tx| {
            let jobs = jobs.clone();
            Box::pin(async move { tx.renew_jobs(&jobs).await })
        })
        .await
    }

    /// Write down how far a job is. False where it is somebody else's by now, or is over.
    pub async fn note_progress(&self, id: JobId, fencing_token: i64, progress: RunProgress) -> Result<bool, Error> {
        self.write_quietly(move |tx| {
            let progress = progress.clone();
            Box::pin(async move { tx.note_progress(id, fencing_token, &progress).await })
        })
        .await
    }

    /// Write down how a job ended, and wake its operation. False where it is somebody else's by now.
    pub async fn finish_job(
        &self,
        id: JobId,
        fencing_token: i64,
        report: JobReport,
        plan: Option<SealedPlan>,
    ) -> Result<bool, Error> {
        self.write(0, move |tx| {
            let (report, plan) = (report.clone(), plan.clone());
            Box::pin(async move { tx.finish_job(id, fencing_token, &report, plan.as_ref()).await })
        })
        .await
    }

    /// Consent to the plan of this hash, once, as long as its operation waits for it and nothing newer is asked for. Says whether
    /// that was so.
    pub async fn approve_job(&self, scope: Scope, id: JobId, sha256: String, by: String) -> Result<bool, Error> {
        self.write(0, move |tx| {
            let (scope, sha256, by) = (scope.clone(), sha256.clone(), by.clone());
            Box::pin(async move { tx.approve_job(&scope, id, &sha256, &by).await })
        })
        .await
    }

    /// The plan of a job, if somebody has consented to it.
    pub async fn approved_plan(&self, tenant: TenantId, id: JobId) -> Result<Option<SealedPlan>, Error> {
        let text = "SELECT plan_sha256, plan_sealed, plan_key_id FROM jobs \
                    WHERE id = $1 AND tenant_id + 0 = $2 AND approved_by IS NOT NULL AND plan_sealed IS NOT NULL";
        let row =
            self.read(|reader| Box::pin(sqlx::query(text).bind(id.0).bind(tenant.0).fetch_optional(reader))).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(SealedPlan {
            tenant,
            job: id,
            sha256: row.text("plan_sha256")?,
            sealed: row.try_get("plan_sealed")?,
            key_id: row.text("plan_key_id")?,
        }))
    }

    /// Ask a job to stop: one that waits, for a runner or for consent to its plan, is over at once, one that runs is told. Says
    /// what state it is in.
    pub async fn stop_job(&self, id: JobId, how: &'static str) -> Result<Option<JobState>, Error> {
        self.write(0, move |tx| Box::pin(async move { tx.stop_job(id, how).await })).await
    }

    /// The jobs of a resource, newest first.
    pub async fn jobs_of(&self, scope: &Scope, resource: ResourceId, limit: usize) -> Result<Vec<Job>, Error> {
        self.known(scope, resource).await?;
        let text = format!(
            "SELECT {COLUMNS} FROM jobs WHERE resource_id = $1 AND tenant_id + 0 = $2 ORDER BY id DESC LIMIT $3"
        );
        let rows = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(resource.0).bind(scope.id.0);
                Box::pin(query.bind(limit as i64).fetch_all(reader))
            })
            .await?;
        rows.iter().map(to_job).collect()
    }

    /// A job, whosesoever it is: for runners, which show by the fencing token that it is theirs.
    pub async fn any_job(&self, id: JobId) -> Result<Option<Job>, Error> {
        let text = format!("SELECT {COLUMNS} FROM jobs WHERE id = $1");
        let row = self
            .read(|reader| Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(id.0).fetch_optional(reader)))
            .await?;
        row.as_ref().map(to_job).transpose()
    }

    /// A job, if it is the tenant's.
    pub async fn job(&self, scope: &Scope, id: JobId) -> Result<Job, Error> {
        let text = format!("SELECT {COLUMNS} FROM jobs WHERE id = $1 AND tenant_id + 0 = $2");
        let row = self
            .read(|reader| {
                Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(id.0).bind(scope.id.0).fetch_optional(reader))
            })
            .await?;
        to_job(&row.ok_or_else(|| Error::not_found(format!("job {id}")))?)
    }
}

impl Tx {
    pub(crate) async fn insert_jobs(&mut self, jobs: &[NewJob<'_>]) -> Result<(), Error> {
        if jobs.is_empty() {
            return Ok(());
        }
        let rows = jobs
            .iter()
            .map(|new| {
                Ok(serde_json::json!({
                    "tenant_id": new.tenant.0,
                    "resource_id": new.resource.0,
                    "operation_id": new.operation.0,
                    "request": json(new.request)?,
                }))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let text = format!(
            "INSERT INTO jobs (tenant_id, resource_id, operation_id, state, request, created_at) \
             SELECT v.tenant_id, v.resource_id, v.operation_id, 'queued', v.request, $2 FROM {} WHERE true \
             RETURNING id, operation_id",
            self.dialect.rows(&[
                ("tenant_id", Cell::Int),
                ("resource_id", Cell::Int),
                ("operation_id", Cell::Int),
                ("request", Cell::Text),
            ])
        );
        let now = self.now.as_microsecond();
        let made = sqlx::query(AssertSqlSafe(text)).bind(list(&rows)?).bind(now).fetch_all(self.connection()).await?;
        let mut asked = Vec::new();
        for row in &made {
            let (id, operation) = (row.int("id")?, OperationId(row.int("operation_id")?));
            let new = jobs.iter().find(|new| new.operation == operation && !new.request.labels.is_empty());
            asked.extend(new.map(|new| (id, &new.request.labels)));
        }
        self.insert_job_labels(&asked).await
    }

    /// The newest job of each of these operations.
    pub(crate) async fn jobs_of_operations(&mut self, operations: &[OperationId]) -> Result<Vec<Job>, Error> {
        if operations.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!(
            "SELECT {COLUMNS} FROM jobs WHERE id IN (SELECT (SELECT max(id) FROM jobs WHERE operation_id = v.id) FROM {})",
            self.dialect.rows(&[("id", Cell::Int)])
        );
        let ids = crate::operations::to_ids(operations.iter().map(|id| id.0))?;
        let rows = sqlx::query(AssertSqlSafe(text)).bind(ids).fetch_all(self.connection()).await?;
        rows.iter().map(to_job).collect()
    }

    async fn take_jobs(&mut self, ids: &[JobId], runner: &str, lease: Duration) -> Result<Vec<TakenJob>, Error> {
        let text = format!(
            "UPDATE jobs SET state = 'running', runner = $2, lease_until = $3, fencing_token = fencing_token + 1, \
             progress = NULL, started_at = coalesce(started_at, $1) \
             WHERE id IN (SELECT v.id FROM {}) AND {IS_FREE} AND {IS_NEXT} RETURNING {COLUMNS}, \
             (SELECT name FROM tenants WHERE tenants.id = jobs.tenant_id) AS tenant_name, \
             (SELECT name FROM resources WHERE resources.id = jobs.resource_id) AS resource_name, \
             (SELECT resource_type_name FROM resources WHERE resources.id = jobs.resource_id) AS type_name, \
             (SELECT trace_id FROM operations WHERE operations.id = jobs.operation_id) AS trace_id",
            self.dialect.rows_of("$4", &[("id", Cell::Int)])
        );
        let rows = sqlx::query(AssertSqlSafe(text))
            .bind(self.now.as_microsecond())
            .bind(runner)
            .bind((self.now + lease).as_microsecond())
            .bind(crate::operations::to_ids(ids.iter().map(|id| id.0))?)
            .fetch_all(self.connection())
            .await?;
        let jobs = rows.iter().map(to_job).collect::<Result<Vec<_>, _>>()?;
        let mut locks = self.locks_of_jobs(&jobs).await?;
        rows.iter()
            .zip(jobs)
            .map(|(row, job)| {
                Ok(TakenJob {
                    locked: locks.remove(&job.resource),
                    job,
                    tenant_name: row.text("tenant_name")?,
                    resource_name: row.text("resource_name")?,
                    type_name: row.text("type_name")?,
                    trace_id: row.text("trace_id")?,
                })
            })
            .collect()
    }

    async fn renew_jobs(&mut self, jobs: &[(JobId, i64, Duration)]) -> Result<Vec<KeptJob>, Error> {
        let row = |(id, token, lease): &(JobId, i64, Duration)| {
            let until = (self.now + *lease).as_microsecond();
            serde_json::json!({ "id": id.0, "fencing_token": token, "lease_until": until })
        };
        let rows: Vec<_> = jobs.iter().map(row).collect();
        let text = format!(
            "UPDATE jobs SET lease_until = CASE WHEN v.lease_until > jobs.lease_until THEN v.lease_until ELSE jobs.lease_until END \
             FROM {} WHERE jobs.id = v.id AND jobs.fencing_token = v.fencing_token \
             AND state = 'running' AND jobs.lease_until >= $2 RETURNING jobs.id AS id, stop, log_bytes",
            self.dialect.rows(&[("id", Cell::Int), ("fencing_token", Cell::Int), ("lease_until", Cell::Int)])
        );
        let rows = sqlx::query(AssertSqlSafe(text))
            .bind(list(&rows)?)
            .bind(self.now.as_microsecond())
            .fetch_all(self.connection())
            .await?;
        rows.iter()
            .map(|row| {
                let (id, stop) = (JobId(row.int("id")?), row.optional_text("stop")?);
                Ok(KeptJob { id, stop, log_bytes: row.int("log_bytes")? })
            })
            .collect()
    }

    async fn note_progress(&mut self, id: JobId, token: i64, progress: &RunProgress) -> Result<bool, Error> {
        let text = "UPDATE jobs SET progress = $1 WHERE id = $2 AND fencing_token = $3 AND state = 'running'";
        let noted = sqlx::query(text).bind(json(progress)?).bind(id.0).bind(token).execute(self.connection()).await?;
        Ok(noted.rows_affected() > 0)
    }

    async fn finish_job(
        &mut self,
        id: JobId,
        fencing_token: i64,
        report: &JobReport,
        plan: Option<&SealedPlan>,
    ) -> Result<bool, Error> {
        let row = sqlx::query(
            "UPDATE jobs SET state = 'finished', report = $1, lease_until = NULL, finished_at = $2, plan_sealed = $5, \
             plan_key_id = $6, plan_sha256 = $7 \
             WHERE id = $3 AND fencing_token = $4 AND state = 'running' RETURNING resource_id, operation_id",
        )
        .bind(json(report)?)
        .bind(self.now.as_microsecond())
        .bind(id.0)
        .bind(fencing_token)
        .bind(plan.map(|plan| plan.sealed.clone()))
        .bind(plan.map(|plan| plan.key_id.as_str()))
        .bind(plan.map(|plan| plan.sha256.as_str()))
        .fetch_optional(self.connection())
        .await?;
        let Some(row) = row else { return Ok(false) };
        self.wake(ResourceId(row.int("resource_id")?), OperationId(row.int("operation_id")?)).await?;
        Ok(true)
    }

    async fn approve_job(&mut self, scope: &Scope, id: JobId, sha256: &str, by: &str) -> Result<bool, Error> {
        let row = sqlx::query(
            "UPDATE jobs SET approved_by = $1, approved_at = $2 \
             WHERE id = $3 AND tenant_id = $4 AND state = 'finished' AND plan_sha256 = $5 AND approved_by IS NULL AND EXISTS ( \
             SELECT 1 FROM resources r JOIN operations o ON o.id = r.operation_id \
             WHERE r.id = jobs.resource_id AND o.id = jobs.operation_id AND o.finished_at IS NULL \
             AND r.generation = r.begun_generation AND r.deletion_requested_at IS NULL) RETURNING resource_id, operation_id",
        )
        .bind(by)
        .bind(self.now.as_microsecond())
        .bind(id.0)
        .bind(scope.id.0)
        .bind(sha256)
        .fetch_optional(self.connection())
        .await?;
        let Some(row) = row else { return Ok(false) };
        self.wake(ResourceId(row.int("resource_id")?), OperationId(row.int("operation_id")?)).await?;
        Ok(true)
    }

    async fn stop_job(&mut self, id: JobId, how: &str) -> Result<Option<JobState>, Error> {
        let row = sqlx::query(
            "UPDATE jobs SET stop = CASE WHEN state = 'running' THEN $1 ELSE stop END, \
             finished_at = CASE WHEN state = 'queued' THEN $2 ELSE finished_at END, \
             state = CASE WHEN state = 'running' THEN state ELSE 'cancelled' END \
             WHERE id = $3 AND (state IN ('queued', 'running') OR (state = 'finished' AND plan_sha256 IS NOT NULL \
             AND approved_by IS NULL AND EXISTS (SELECT 1 FROM resources r WHERE r.id = jobs.resource_id \
             AND r.operation_id = jobs.operation_id))) RETURNING state, resource_id, operation_id",
        )
        .bind(how)
        .bind(self.now.as_microsecond())
        .bind(id.0)
        .fetch_optional(self.connection())
        .await?;
        let Some(row) = row else { return Ok(None) };
        let state = row.word("state", JobState::parse)?;
        if state == JobState::Cancelled {
            self.wake(ResourceId(row.int("resource_id")?), OperationId(row.int("operation_id")?)).await?;
        }
        Ok(Some(state))
    }

    /// What was asked of runners for these operations is not wanted any more: what waits is over, what runs is interrupted.
    pub(crate) async fn stop_jobs_of(&mut self, operations: &[OperationId]) -> Result<(), Error> {
        if operations.is_empty() {
            return Ok(());
        }
        let text = format!(
            "UPDATE jobs SET stop = CASE WHEN state = 'running' THEN coalesce(stop, 'interrupt') ELSE stop END, \
             finished_at = CASE WHEN state = 'queued' THEN $2 ELSE finished_at END, \
             state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END \
             WHERE operation_id IN (SELECT v.id FROM {}) AND state IN ('queued', 'running')",
            self.dialect.rows(&[("id", Cell::Int)])
        );
        let ids = crate::operations::to_ids(operations.iter().map(|id| id.0))?;
        let now = self.now.as_microsecond();
        sqlx::query(AssertSqlSafe(text)).bind(ids).bind(now).execute(self.connection()).await?;
        Ok(())
    }

    /// The operation has something to go on with. A controller that looks at it just now finds that out when it concludes: the
    /// resource's row is taken even so, so that one of the two sees the other.
    async fn wake(&mut self, resource: ResourceId, operation: OperationId) -> Result<(), Error> {
        sqlx::query(
            "UPDATE resources SET next_reconcile_at = CASE WHEN lease_until IS NULL THEN $1 ELSE next_reconcile_at END \
             WHERE id = $2 AND operation_id = $3 AND deleted_at IS NULL",
        )
        .bind(self.now.as_microsecond())
        .bind(resource.0)
        .bind(operation.0)
        .execute(self.connection())
        .await?;
        Ok(())
    }
}

fn to_job(row: &AnyRow) -> Result<Job, Error> {
    Ok(Job {
        id: JobId(row.int("id")?),
        tenant: TenantId(row.int("tenant_id")?),
        resource: ResourceId(row.int("resource_id")?),
        operation: OperationId(row.int("operation_id")?),
        state: row.word("state", JobState::parse)?,
        request: row.json("request")?,
        fencing_token: row.int("fencing_token")?,
        runner: row.optional_text("runner")?,
        stop: row.optional_text("stop")?,
        report: row.optional_json("report")?,
        plan_sha256: row.optional_text("plan_sha256")?,
        approved_by: row.optional_text("approved_by")?,
        log_bytes: row.int("log_bytes")?,
        progress: row.optional_json("progress")?,
        created_at: row.time("created_at")?,
        started_at: row.optional_time("started_at")?,
        finished_at: row.optional_time("finished_at")?,
    })
}
