//! The history of attempts. It stays after its resource is gone.

use model::{HistoryEntry, HistoryId, ResourceId, Scope};
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::Error;
use crate::page::Page;
use crate::row::Cells;
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

/// A truth value is read as a number, the one form that both databases give it in.
const HISTORY: &str = "SELECT id, resource_id, generation, CAST(success AS INTEGER) AS success, phase, error_message, \
    resources_created, resources_updated, resources_deleted, reconcile_time FROM reconciliation_history \
    WHERE resource_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";

fn to_entry(row: &AnyRow) -> Result<HistoryEntry, Error> {
    Ok(HistoryEntry {
        id: HistoryId(row.int("id")?),
        resource_id: ResourceId(row.int("resource_id")?),
        generation: row.int("generation")?,
        success: row.int("success")? != 0,
        phase: row.text("phase")?,
        error_message: row.optional_text("error_message")?,
        resources_created: row.int("resources_created")?,
        resources_updated: row.int("resources_updated")?,
        resources_deleted: row.int("resources_deleted")?,
        reconcile_time: row.time("reconcile_time")?,
    })
}

impl Store {
    /// Refuse unless there is, or was, such a resource of the tenant's.
    pub(crate) async fn known(&self, scope: &Scope, id: ResourceId) -> Result<(), Error> {
        let known = self
            .read(|reader| {
                Box::pin(
                    sqlx::query("SELECT 1 FROM resources WHERE id = $1 AND tenant_id + 0 = $2")
                        .bind(id.0)
                        .bind(scope.id.0)
                        .fetch_optional(reader),
                )
            })
            .await?;
        known.map(|_| ()).ok_or_else(|| Error::not_found(format!("resource {id}")))
    }

    /// Newest first, from before `before` on. The resource may be gone already; it must have been the tenant's.
    pub async fn history(
        &self,
        scope: &Scope,
        id: ResourceId,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Page<HistoryEntry>, Error> {
        self.known(scope, id).await?;
        let rows = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(HISTORY)
                        .bind(id.0)
                        .bind(before.unwrap_or(i64::MAX))
                        .bind(limit as i64 + 1)
                        .fetch_all(reader),
                )
            })
            .await?;
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
        let recorded: Option<i64> = sqlx::query_scalar(
            "INSERT INTO reconciliation_history (tenant_id, resource_id, generation, success, phase, error_message, \
             resources_created, resources_updated, resources_deleted, reconcile_time) \
             SELECT tenant_id, id, $3, $4, $5, $6, $7, $8, $9, $10 FROM resources WHERE tenant_id = $1 AND id = $2 \
             RETURNING id",
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
        .fetch_optional(self.connection())
        .await?;
        recorded.map(HistoryId).ok_or_else(|| Error::not_found(format!("resource {id}")))
    }
}
