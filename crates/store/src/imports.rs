//! What a person wants taken into a resource's state: one thing at a time, until the next is asked for.

use model::job::Import;
use model::{ResourceId, TenantId};

use crate::Store;
use crate::error::Error;
use crate::row::Cells;
use crate::writer::Tx;

impl Store {
    /// What was last asked to be imported.
    pub async fn import(&self, tenant: TenantId, resource: ResourceId) -> Result<Option<Import>, Error> {
        let text = "SELECT address, import_id FROM imports WHERE resource_id = $1 AND tenant_id + 0 = $2";
        let row = self
            .read(|reader| Box::pin(sqlx::query(text).bind(resource.0).bind(tenant.0).fetch_optional(reader)))
            .await?;
        row.map(|row| Ok(Import { address: row.text("address")?, id: row.text("import_id")? })).transpose()
    }
}

impl Tx {
    pub(crate) async fn keep_import(
        &mut self,
        tenant: TenantId,
        resource: ResourceId,
        import: &Import,
    ) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO imports (resource_id, tenant_id, address, import_id) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (resource_id) DO UPDATE SET address = $3, import_id = $4",
        )
        .bind(resource.0)
        .bind(tenant.0)
        .bind(&import.address)
        .bind(&import.id)
        .execute(self.connection())
        .await?;
        Ok(())
    }
}
