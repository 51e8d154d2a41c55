//! The history of attempts. It stays after its resource is gone.

use model::{HistoryEntry, HistoryId, ResourceId, Scope};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::Error;
use crate::page::Page;
use crate::row::Cells;
use crate::select::Select;
use crate::writer::Tx;

/// An attempt that has ended.
#[derive(Debug, Clone)]
pub struct NewHistoryEntry {
    pub generation: i64,
    pub success: bool,
    pub phase: String,
    pub error_message: Option<String>,
    pub resources_created: i64,
    pub resources_updated: i64,
    pub resources_deleted: i64,
}

fn to_entry(row: &AnyRow) -> Result<HistoryEntry, Error> {
    Ok(HistoryEntry {
        id: HistoryId(row.int("id")?),
        resource_id: ResourceId(row.int("resource_id")?),
        generation: row.int("generation")?,
        success: row.try_get("success")?,
        phase: row.text("phase")?,
        error_message: row.optional_text("error_message")?,
        resources_created: row.int("resources_created")?,
        resources_updated: row.int("resources_updated")?,
        resources_deleted: row.int("resources_deleted")?,
        reconcile_time: row.time("reconcile_time")?,
    })
}

impl Store {
    /// Newest first, from before `before` on. The resource may be gone already; it must have been the tenant's.
    pub async fn history(
        &self,
        scope: &Scope,
        id: ResourceId,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Page<HistoryEntry>, Error> {
        let known = sqlx::query("SELECT 1 FROM resources WHERE id = $1 AND tenant_id = $2")
            .bind(id.0)
            .bind(scope.id.0)
            .fetch_optional(self.readers())
            .await?;
        if known.is_none() {
            return Err(Error::not_found(format!("resource {id}")));
        }
        let mut select = Select::new("SELECT * FROM reconciliation_history");
        select.with(" WHERE resource_id = ", id.0)?;
        select.with(" AND id < ", before.unwrap_or(i64::MAX))?;
        select.with(" ORDER BY id DESC LIMIT ", limit as i64 + 1)?;
        let rows = select.fetch_all(self.readers()).await?;
        let entries = rows.iter().map(to_entry).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(entries, limit, |entry| entry.id.0))
    }
}

impl Tx {
    pub async fn record_attempt(
        &mut self,
        scope: &Scope,
        id: ResourceId,
        entry: &NewHistoryEntry,
    ) -> Result<HistoryId, Error> {
        let now = self.now.as_microsecond();
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO reconciliation_history (tenant_id, resource_id, generation, success, phase, error_message, \
             resources_created, resources_updated, resources_deleted, reconcile_time) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id",
        )
        .bind(scope.id.0)
        .bind(id.0)
        .bind(entry.generation)
        .bind(entry.success)
        .bind(&entry.phase)
        .bind(entry.error_message.as_deref())
        .bind(entry.resources_created)
        .bind(entry.resources_updated)
        .bind(entry.resources_deleted)
        .bind(now)
        .fetch_one(self.connection())
        .await?;
        Ok(HistoryId(id))
    }
}
