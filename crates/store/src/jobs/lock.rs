//! Who may write a state. A job that changes something is a lock by itself while it runs; a person's lock is a row. A lock and a
//! job's start both hold the resource's row, so that only one of them sees the other absent.

use std::collections::HashMap;

use model::job::{Goal, JobRequest, Work};
use model::state_lock::{LockInfo, StateHold};
use model::{Action, Actor, JobId, Kind, ResourceId, Scope};
use serde::Serialize;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::Job;
use crate::Store;
use crate::dialect::Cell;
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::operations::to_ids;
use crate::resources::StoredResource;
use crate::row::Cells;
use crate::rows::json;
use crate::writer::Tx;

const RUNNING: &str = "SELECT id, request, runner, started_at, \
    (SELECT resource_type_name || '/' || name FROM resources WHERE resources.id = jobs.resource_id) AS resource \
    FROM jobs WHERE resource_id = $1 AND state = 'running'";
const LOCK: &str = "SELECT resource_id, info FROM state_locks WHERE resource_id = $1";

impl Store {
    /// Who keeps others from writing a resource's state.
    pub async fn state_hold(&self, scope: &Scope, resource: ResourceId) -> Result<Option<StateHold>, Error> {
        self.known(scope, resource).await?;
        let lock = self.read(|reader| Box::pin(sqlx::query(LOCK).bind(resource.0).fetch_optional(reader))).await?;
        if let Some(row) = lock {
            return Ok(Some(to_hold(&row)?));
        }
        let jobs = self.read(|reader| Box::pin(sqlx::query(RUNNING).bind(resource.0).fetch_all(reader))).await?;
        writing_job(&jobs)
    }
}

impl Tx {
    /// Who keeps others from writing the state of a held resource. Where a person has locked it, no job does: one that is
    /// being taken finds the lock and ends.
    pub(super) async fn state_hold(&mut self, held: &StoredResource) -> Result<Option<StateHold>, Error> {
        let id = held.body.id.0;
        if let Some(row) = sqlx::query(LOCK).bind(id).fetch_optional(self.connection()).await? {
            return Ok(Some(to_hold(&row)?));
        }
        writing_job(&sqlx::query(RUNNING).bind(id).fetch_all(self.connection()).await?)
    }

    /// Lock the state of a held resource, as plain Terraform asks. Twice with the same id is once.
    pub async fn lock_state(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
        lock: &LockInfo,
    ) -> Result<(), Error> {
        match self.state_hold(held).await? {
            Some(hold) if hold.job_id.is_none() && hold.lock.id == lock.id => return Ok(()),
            Some(hold) => return Err(Refusal::Locked { hold: Box::new(hold) }.into()),
            None => {}
        }
        sqlx::query(
            "INSERT INTO state_locks (resource_id, tenant_id, lock_id, info, author, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(held.body.id.0)
        .bind(scope.id.0)
        .bind(&lock.id)
        .bind(json(lock)?)
        .bind(&actor.name)
        .bind(self.now.as_microsecond())
        .execute(self.connection())
        .await?;
        self.tell_of_state(scope, actor, Action::Locked, held, None, Some(lock))
    }

    /// Unlock what a person has locked. Whatever waited for it is tried at once, and what a person may have changed
    /// meanwhile is looked at.
    pub async fn unlock_state(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
        id: &str,
    ) -> Result<(), Error> {
        let hold = self.state_hold(held).await?;
        let Some(lock) = hold.as_ref().filter(|hold| hold.job_id.is_none() && hold.lock.id == id) else {
            return Err(Refusal::OtherLock { asked: id.into(), hold: hold.map(Box::new) }.into());
        };
        let resource = held.body.id.0;
        sqlx::query("DELETE FROM state_locks WHERE resource_id = $1").bind(resource).execute(self.connection()).await?;
        sqlx::query(
            "UPDATE resources SET next_reconcile_at = $1 WHERE id = $2 AND next_reconcile_at > $1 AND lease_until IS NULL",
        )
        .bind(self.now.as_microsecond())
        .bind(resource)
        .execute(self.connection())
        .await?;
        self.tell_of_state(scope, actor, Action::Unlocked, held, Some(&lock.lock), None)
    }

    /// The locks that persons hold on what these jobs would write. The jobs are their runner's already, by this transaction.
    pub(super) async fn locks_of_jobs(&mut self, jobs: &[Job]) -> Result<HashMap<ResourceId, StateHold>, Error> {
        let ids: Vec<_> = jobs.iter().filter(|job| writes(&job.request)).map(|job| job.resource.0).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = self.dialect.rows(&[("id", Cell::Int)]);
        let held = format!(
            "SELECT id FROM resources WHERE id IN (SELECT v.id FROM {rows}) ORDER BY id{}",
            self.dialect.for_share()
        );
        sqlx::query(AssertSqlSafe(held)).bind(to_ids(ids.iter().copied())?).execute(self.connection()).await?;
        let text = format!("SELECT resource_id, info FROM state_locks WHERE resource_id IN (SELECT v.id FROM {rows})");
        let rows = sqlx::query(AssertSqlSafe(text)).bind(to_ids(ids.into_iter())?).fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok((ResourceId(row.int("resource_id")?), to_hold(row)?))).collect()
    }

    /// Write down that somebody is shown this version of a state, with all that is secret in it.
    pub async fn note_state_read(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        resource: ResourceId,
        version: &model::state::StateVersion,
    ) -> Result<(), Error> {
        let name: Option<String> =
            sqlx::query_scalar("SELECT name FROM resources WHERE id = $1 AND tenant_id + 0 = $2")
                .bind(resource.0)
                .bind(scope.id.0)
                .fetch_optional(self.connection())
                .await?;
        let name = name.ok_or_else(|| Error::not_found(format!("resource {resource}")))?;
        let (seq, id) = (self.next_seq()?, resource.0);
        let after = Some(version);
        let subject = Subject { seq, tenant: scope.id, kind: Kind::State, id, name: &name, before: None, after };
        self.tell(actor, Action::Read, subject)
    }

    pub(super) fn tell_of_state<T: Serialize>(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        action: Action,
        held: &StoredResource,
        before: Option<&T>,
        after: Option<&T>,
    ) -> Result<(), Error> {
        let (seq, id, name) = (self.next_seq()?, held.body.id.0, &held.body.name);
        self.tell(actor, action, Subject { seq, tenant: scope.id, kind: Kind::State, id, name, before, after })
    }
}

/// Whether a job changes anything; the others only read the state.
fn writes(request: &JobRequest) -> bool {
    let Work::Terraform(terraform) = &request.work;
    matches!(terraform.goal, Goal::Apply | Goal::Destroy)
}

/// The lock that a job is which changes something.
fn writing_job(rows: &[AnyRow]) -> Result<Option<StateHold>, Error> {
    for row in rows {
        let request: JobRequest = row.json("request")?;
        if writes(&request) {
            let Work::Terraform(terraform) = &request.work;
            let (job, runner) = (JobId(row.int("id")?), row.optional_text("runner")?.unwrap_or_default());
            let since = row.optional_time("started_at")?;
            let lock = LockInfo::of_job(job, terraform.goal, &runner, since, &row.text("resource")?);
            return Ok(Some(StateHold { job_id: Some(job), lock }));
        }
    }
    Ok(None)
}

fn to_hold(row: &AnyRow) -> Result<StateHold, Error> {
    Ok(StateHold { job_id: None, lock: row.json("info")? })
}
