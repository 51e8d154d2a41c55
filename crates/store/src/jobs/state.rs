//! Terraform states as they are kept: sealed, each a version of its own. A job under way replaces its own version; the
//! versions of others are never touched.

use model::state::{Corruption, StateHead, StateVersion, check_successor};
use model::{Action, Actor, JobId, ResourceId, Scope, TenantId};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::Store;
use crate::error::{Error, Refusal};
use crate::resources::StoredResource;
use crate::row::Cells;
use crate::writer::Tx;

/// A state as it is stored.
#[derive(Debug, Clone)]
pub struct SealedState {
    pub version: StateVersion,
    pub tenant: TenantId,
    pub resource: ResourceId,
    pub sealed: Vec<u8>,
    pub key_id: String,
}

#[derive(Debug, Clone)]
pub struct NewState {
    pub tenant: TenantId,
    pub resource: ResourceId,
    pub serial: i64,
    pub lineage: String,
    pub sha256: String,
    pub objects: i64,
    pub sealed: Vec<u8>,
    pub key_id: String,
}

const COLUMNS: &str = "id, tenant_id, resource_id, job_id, author, serial, lineage, sha256, objects, created_at";

impl Store {
    /// Keep a state that a job brings, in place of the one it brought before. False where the job is somebody else's by now.
    pub async fn put_state(&self, job: JobId, fencing_token: i64, new: NewState) -> Result<bool, Error> {
        self.write(0, move |tx| {
            let new = new.clone();
            Box::pin(async move { tx.put_state(job, fencing_token, &new).await })
        })
        .await
    }

    /// The newest state of a resource.
    pub async fn newest_state(&self, tenant: TenantId, resource: ResourceId) -> Result<Option<SealedState>, Error> {
        let text = format!(
            "SELECT {COLUMNS}, sealed, key_id FROM state_versions WHERE resource_id = $1 AND tenant_id + 0 = $2 \
             ORDER BY id DESC LIMIT 1"
        );
        let row = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(resource.0).bind(tenant.0);
                Box::pin(query.fetch_optional(reader))
            })
            .await?;
        row.as_ref().map(to_sealed).transpose()
    }

    /// One version of a resource's state.
    pub async fn state(&self, tenant: TenantId, resource: ResourceId, id: i64) -> Result<SealedState, Error> {
        let text = format!(
            "SELECT {COLUMNS}, sealed, key_id FROM state_versions WHERE id = $1 AND resource_id + 0 = $2 AND tenant_id + 0 = $3"
        );
        let row = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(id).bind(resource.0).bind(tenant.0);
                Box::pin(query.fetch_optional(reader))
            })
            .await?;
        to_sealed(&row.ok_or_else(|| Error::not_found(format!("state version {id}")))?)
    }

    /// The versions of a resource's state, newest first.
    pub async fn states(&self, scope: &Scope, resource: ResourceId, limit: usize) -> Result<Vec<StateVersion>, Error> {
        self.known(scope, resource).await?;
        let text = format!(
            "SELECT {COLUMNS} FROM state_versions WHERE resource_id = $1 AND tenant_id + 0 = $2 ORDER BY id DESC LIMIT $3"
        );
        let rows = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(resource.0).bind(scope.id.0);
                Box::pin(query.bind(limit as i64).fetch_all(reader))
            })
            .await?;
        rows.iter().map(to_version).collect()
    }
}

/// How a state comes to follow the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Succession {
    /// It goes on from it.
    GoesOn,
    /// It is an older one, brought back under a new serial.
    Restores,
}

impl Tx {
    async fn put_state(&mut self, job: JobId, fencing_token: i64, new: &NewState) -> Result<bool, Error> {
        let ours =
            sqlx::query("UPDATE jobs SET state = state WHERE id = $1 AND fencing_token = $2 AND state = 'running'")
                .bind(job.0)
                .bind(fencing_token)
                .execute(self.connection())
                .await?;
        if ours.rows_affected() == 0 {
            return Ok(false);
        }
        if let Some(newest) = self.newest_version(new.resource).await? {
            check(&newest, new, Succession::GoesOn)?;
            if newest.sha256 == new.sha256 {
                return Ok(true);
            }
        }
        sqlx::query("DELETE FROM state_versions WHERE resource_id = $1 AND job_id = $2")
            .bind(new.resource.0)
            .bind(job.0)
            .execute(self.connection())
            .await?;
        self.insert_state(new, Some(job), None).await?;
        Ok(true)
    }

    /// Keep a state that a person brings for a held resource. `lock` is the id of the lock under which it does. The same state
    /// once more changes nothing.
    pub async fn bring_state(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
        new: &NewState,
        lock: Option<&str>,
        succession: Succession,
    ) -> Result<StateVersion, Error> {
        if let Some(hold) = self.state_hold(held).await?
            && (hold.job_id.is_some() || Some(hold.lock.id.as_str()) != lock)
        {
            return Err(Refusal::Locked { hold: Box::new(hold) }.into());
        }
        if let Some(newest) = self.newest_version(new.resource).await? {
            check(&newest, new, succession)?;
            if newest.sha256 == new.sha256 {
                return Ok(newest);
            }
        }
        let version = self.insert_state(new, None, Some(&actor.name)).await?;
        self.tell_of_state(scope, actor, Action::Created, held, None, Some(&version))?;
        Ok(version)
    }

    async fn newest_version(&mut self, resource: ResourceId) -> Result<Option<StateVersion>, Error> {
        let text = format!("SELECT {COLUMNS} FROM state_versions WHERE resource_id = $1 ORDER BY id DESC LIMIT 1");
        let row = sqlx::query(AssertSqlSafe(text)).bind(resource.0).fetch_optional(self.connection()).await?;
        row.as_ref().map(to_version).transpose()
    }

    async fn insert_state(
        &mut self,
        new: &NewState,
        job: Option<JobId>,
        author: Option<&str>,
    ) -> Result<StateVersion, Error> {
        let text = format!(
            "INSERT INTO state_versions (tenant_id, resource_id, job_id, author, serial, lineage, sha256, objects, sealed, \
             key_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING {COLUMNS}"
        );
        let row = sqlx::query(AssertSqlSafe(text))
            .bind(new.tenant.0)
            .bind(new.resource.0)
            .bind(job.map(|job| job.0))
            .bind(author)
            .bind(new.serial)
            .bind(&new.lineage)
            .bind(&new.sha256)
            .bind(new.objects)
            .bind(new.sealed.clone())
            .bind(&new.key_id)
            .bind(self.now.as_microsecond())
            .fetch_one(self.connection())
            .await?;
        to_version(&row)
    }
}

/// Whether `new` may follow the newest version.
fn check(newest: &StateVersion, new: &NewState, succession: Succession) -> Result<(), Refusal> {
    let head = |serial: i64, lineage: &str| StateHead {
        serial: serial.unsigned_abs(),
        lineage: lineage.into(),
        terraform_version: String::new(),
        resources: 0,
    };
    let lineage = if succession == Succession::Restores { &newest.lineage } else { &new.lineage };
    let unfit = |why: Corruption| Refusal::UnfitState { why };
    check_successor(&head(newest.serial, &newest.lineage), &head(new.serial, lineage)).map_err(unfit)?;
    if newest.serial == new.serial && newest.sha256 != new.sha256 {
        return Err(unfit(Corruption::SameSerial { serial: new.serial.unsigned_abs() }));
    }
    Ok(())
}

fn to_version(row: &AnyRow) -> Result<StateVersion, Error> {
    Ok(StateVersion {
        id: row.int("id")?,
        job_id: row.optional_int("job_id")?.map(JobId),
        author: row.optional_text("author")?,
        serial: row.int("serial")?,
        lineage: row.text("lineage")?,
        sha256: row.text("sha256")?,
        objects: row.int("objects")?,
        created_at: row.time("created_at")?,
    })
}

fn to_sealed(row: &AnyRow) -> Result<SealedState, Error> {
    Ok(SealedState {
        version: to_version(row)?,
        tenant: TenantId(row.int("tenant_id")?),
        resource: ResourceId(row.int("resource_id")?),
        sealed: row.try_get("sealed")?,
        key_id: row.text("key_id")?,
    })
}
