//! The alerts that stand. A row comes and goes with the failure that alerts, in the same transaction: whatever changes a
//! resource's standing passes here.

use model::{Alert, ResourceId, Scope};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::dialect::Cell;
use crate::error::Error;
use crate::operations::to_ids;
use crate::page::Page;
use crate::resources::Change;
use crate::row::Cells;
use crate::rows::list;
use crate::writer::Tx;

impl Store {
    /// The alerts of a tenant that stand, in the order of their resources' ids.
    pub async fn alerts(&self, scope: &Scope, after: i64, limit: usize) -> Result<Page<Alert>, Error> {
        let text = "SELECT r.id, r.name, r.resource_type_name, r.failure, r.holds, a.since FROM alerts a \
                    JOIN resources r ON r.id = a.resource_id \
                    WHERE a.tenant_id = $1 AND a.resource_id > $2 ORDER BY a.resource_id LIMIT $3";
        let rows = self
            .read(|reader| {
                Box::pin(sqlx::query(text).bind(scope.id.0).bind(after).bind(limit as i64 + 1).fetch_all(reader))
            })
            .await?;
        let found = rows.iter().map(to_alert).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(found, limit, |alert| alert.resource_id.0))
    }
}

impl Tx {
    /// Let alerts stand or fall with what these changes have made of their resources.
    pub(crate) async fn keep_alerts(&mut self, changes: &[Change<'_>]) -> Result<(), Error> {
        let stands = |change: &Change<'_>| change.after.resource.alerts() && !change.after.released;
        let rows: Vec<_> = changes
            .iter()
            .filter(|change| stands(change))
            .map(|change| serde_json::json!({ "id": change.before.id.0 }))
            .collect();
        if !rows.is_empty() {
            let text = format!(
                "INSERT INTO alerts (resource_id, tenant_id, since) SELECT resources.id, resources.tenant_id, $2 \
                 FROM {} JOIN resources ON resources.id = v.id WHERE true ON CONFLICT (resource_id) DO NOTHING",
                self.dialect.rows(&[("id", Cell::Int)])
            );
            let now = self.now.as_microsecond();
            sqlx::query(AssertSqlSafe(text)).bind(list(&rows)?).bind(now).execute(self.connection()).await?;
        }
        let over = changes.iter().filter(|change| change.before.alerts() && !stands(change));
        let over: Vec<_> = over.map(|change| change.before.id.0).collect();
        if !over.is_empty() {
            let text = format!(
                "DELETE FROM alerts WHERE resource_id IN (SELECT v.id FROM {})",
                self.dialect.rows(&[("id", Cell::Int)])
            );
            sqlx::query(AssertSqlSafe(text)).bind(to_ids(over.into_iter())?).execute(self.connection()).await?;
        }
        Ok(())
    }
}

fn to_alert(row: &AnyRow) -> Result<Alert, Error> {
    Ok(Alert {
        resource_id: ResourceId(row.int("id")?),
        resource_name: row.text("name")?,
        resource_type_name: row.text("resource_type_name")?,
        since: row.time("since")?,
        failure: row.json("failure")?,
        holds: row.json("holds")?,
    })
}
