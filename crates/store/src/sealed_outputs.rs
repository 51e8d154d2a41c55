//! Outputs that only some may see, as they are kept: sealed. This crate never sees one open.

use model::{JobId, ResourceId, Scope, TenantId};
use sqlx::Row;

use crate::Store;
use crate::error::Error;
use crate::row::Cells;
use crate::rows::json;
use crate::writer::Tx;

/// The sensitive outputs of a resource, as they are stored.
#[derive(Debug, Clone)]
pub struct SealedOutputs {
    pub tenant: TenantId,
    pub resource: ResourceId,
    pub names: Vec<String>,
    pub sealed: Vec<u8>,
    pub key_id: String,
}

impl Store {
    /// Keep the sensitive outputs that a job brings, in place of those before; none takes them away. False where the job is
    /// somebody else's by now.
    pub async fn put_sealed_outputs(
        &self,
        job: JobId,
        fencing_token: i64,
        resource: ResourceId,
        outputs: Option<SealedOutputs>,
    ) -> Result<bool, Error> {
        self.write(0, move |tx| {
            let outputs = outputs.clone();
            Box::pin(async move { tx.put_sealed_outputs(job, fencing_token, resource, outputs.as_ref()).await })
        })
        .await
    }

    /// The sensitive outputs of a resource, if it has any.
    pub async fn sealed_outputs(&self, scope: &Scope, resource: ResourceId) -> Result<Option<SealedOutputs>, Error> {
        let text = "SELECT tenant_id, names, sealed, key_id FROM sealed_outputs \
                    WHERE resource_id = $1 AND tenant_id + 0 = $2";
        let row = self
            .read(|reader| Box::pin(sqlx::query(text).bind(resource.0).bind(scope.id.0).fetch_optional(reader)))
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(SealedOutputs {
            tenant: TenantId(row.int("tenant_id")?),
            resource,
            names: row.json("names")?,
            sealed: row.try_get("sealed")?,
            key_id: row.text("key_id")?,
        }))
    }
}

impl Tx {
    async fn put_sealed_outputs(
        &mut self,
        job: JobId,
        fencing_token: i64,
        resource: ResourceId,
        outputs: Option<&SealedOutputs>,
    ) -> Result<bool, Error> {
        let ours =
            sqlx::query("UPDATE jobs SET state = state WHERE id = $1 AND fencing_token = $2 AND state = 'running'")
                .bind(job.0)
                .bind(fencing_token)
                .execute(self.connection())
                .await?;
        if ours.rows_affected() == 0 {
            return Ok(false);
        }
        self.erase_sealed_outputs(resource).await?;
        let Some(outputs) = outputs else { return Ok(true) };
        sqlx::query(
            "INSERT INTO sealed_outputs (resource_id, tenant_id, names, sealed, key_id) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(resource.0)
        .bind(outputs.tenant.0)
        .bind(json(&outputs.names)?)
        .bind(outputs.sealed.clone())
        .bind(&outputs.key_id)
        .execute(self.connection())
        .await?;
        Ok(true)
    }

    pub(crate) async fn erase_sealed_outputs(&mut self, resource: ResourceId) -> Result<(), Error> {
        sqlx::query("DELETE FROM sealed_outputs WHERE resource_id = $1")
            .bind(resource.0)
            .execute(self.connection())
            .await?;
        Ok(())
    }
}
