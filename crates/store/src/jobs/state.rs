//! Terraform states as they are kept: sealed, each a version of its own. A job under way replaces its own version; the
//! versions of others are never touched.

use jiff::Timestamp;
use model::{JobId, ResourceId, Scope, TenantId};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::Store;
use crate::error::Error;
use crate::row::Cells;
use crate::writer::Tx;

/// What there is to know of a version without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateVersion {
    pub id: i64,
    pub job: Option<JobId>,
    pub serial: i64,
    pub lineage: String,
    pub sha256: String,
    pub objects: i64,
    pub created_at: Timestamp,
}

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
    /// The job that wrote it, with its fencing token; none where a person brings it.
    pub job: Option<(JobId, i64)>,
    pub serial: i64,
    pub lineage: String,
    pub sha256: String,
    pub objects: i64,
    pub sealed: Vec<u8>,
    pub key_id: String,
}

const COLUMNS: &str = "id, tenant_id, resource_id, job_id, serial, lineage, sha256, objects, created_at";

impl Store {
    /// Keep a state. False where the job that brings it is somebody else's by now.
    pub async fn put_state(&self, new: NewState) -> Result<bool, Error> {
        self.write(0, move |tx| {
            let new = new.clone();
            Box::pin(async move { tx.put_state(&new).await })
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

impl Tx {
    async fn put_state(&mut self, new: &NewState) -> Result<bool, Error> {
        if let Some((job, token)) = new.job {
            let ours =
                sqlx::query("UPDATE jobs SET state = state WHERE id = $1 AND fencing_token = $2 AND state = 'running'")
                    .bind(job.0)
                    .bind(token)
                    .execute(self.connection())
                    .await?;
            if ours.rows_affected() == 0 {
                return Ok(false);
            }
            sqlx::query("DELETE FROM state_versions WHERE resource_id = $1 AND job_id = $2")
                .bind(new.resource.0)
                .bind(job.0)
                .execute(self.connection())
                .await?;
        }
        sqlx::query(
            "INSERT INTO state_versions (tenant_id, resource_id, job_id, serial, lineage, sha256, objects, sealed, key_id, \
             created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(new.tenant.0)
        .bind(new.resource.0)
        .bind(new.job.map(|(job, _)| job.0))
        .bind(new.serial)
        .bind(&new.lineage)
        .bind(&new.sha256)
        .bind(new.objects)
        .bind(new.sealed.clone())
        .bind(&new.key_id)
        .bind(self.now.as_microsecond())
        .execute(self.connection())
        .await?;
        Ok(true)
    }
}

fn to_version(row: &AnyRow) -> Result<StateVersion, Error> {
    Ok(StateVersion {
        id: row.int("id")?,
        job: row.optional_int("job_id")?.map(JobId),
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
