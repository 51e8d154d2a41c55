//! Reading resources only to show them. What their owners wrote is passed on as it was stored, without a look inside, and
//! a row comes as two cells: to the driver, each cell of a row is work.

use jiff::Timestamp;
use model::{DriftPolicy, Lifecycle, OperationId, ResourceId, Scope, Status};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::{BY_ID, BY_NAME, ResourceFilter, select};
use crate::Store;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::page::Page;
use crate::row::{from_json, to_time};

/// `model::Resource` to be shown: the same fields in the same order.
#[derive(Debug, Clone, Serialize)]
pub struct ResourceText {
    pub id: ResourceId,
    pub name: String,
    pub resource_type_name: String,
    pub resource_type_version: String,
    pub action_plugin: String,
    pub status: Status,
    pub status_message: String,
    pub generation: i64,
    pub observed_generation: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_reconcile_time: Option<Timestamp>,
    pub lifecycle: Lifecycle,
    pub conditions: Box<RawValue>,
    pub spec: Box<RawValue>,
    pub plugin_config: Box<RawValue>,
    pub labels: Box<RawValue>,
    pub annotations: Box<RawValue>,
    pub tenant: String,
    pub resource_version: i64,
    pub deletion_requested_at: Option<Timestamp>,
    pub reconcile_requested_at: Option<Timestamp>,
    pub next_reconcile_at: Option<Timestamp>,
    pub operation_id: Option<OperationId>,
    pub drift_policy: DriftPolicy,
    pub drift: Box<RawValue>,
    pub failure: Box<RawValue>,
    pub failures: i64,
    pub finalizers: Box<RawValue>,
    pub holds: Box<RawValue>,
}

fn columns(dialect: Dialect) -> String {
    format!(
        "CAST({}(id, name, resource_type_name, resource_type_version, action_plugin, lifecycle, \
         status_message, generation, observed_generation, created_at, updated_at, last_reconcile_time, resource_version, \
         deletion_requested_at, reconcile_requested_at, next_reconcile_at, operation_id, drift_policy, failures) AS TEXT), \
         '[' || spec || ',' || plugin_config || ',' || labels || ',' || annotations || ',' || conditions || ',' || \
         coalesce(drift, 'null') || ',' || coalesce(failure, 'null') || ',' || finalizers || ',' || holds || ']'",
        dialect.list()
    )
}

/// The first of `columns`, in its order.
#[derive(Deserialize)]
struct Known {
    id: i64,
    name: String,
    resource_type_name: String,
    resource_type_version: String,
    action_plugin: String,
    lifecycle: String,
    status_message: String,
    generation: i64,
    observed_generation: i64,
    created_at: i64,
    updated_at: i64,
    last_reconcile_time: Option<i64>,
    resource_version: i64,
    deletion_requested_at: Option<i64>,
    reconcile_requested_at: Option<i64>,
    next_reconcile_at: Option<i64>,
    operation_id: Option<i64>,
    drift_policy: DriftPolicy,
    failures: i64,
}

fn to_text(row: &AnyRow, tenant: &str) -> Result<ResourceText, Error> {
    let known: Known = from_json("resource", row.try_get(0)?)?;
    let [spec, plugin_config, labels, annotations, conditions, drift, failure, finalizers, holds] =
        from_json("spec", row.try_get(1)?)?;
    let lifecycle = Lifecycle::parse(&known.lifecycle)
        .ok_or_else(|| Error::Corrupt { what: format!("lifecycle {:?}", known.lifecycle) })?;
    Ok(ResourceText {
        id: ResourceId(known.id),
        name: known.name,
        resource_type_name: known.resource_type_name,
        resource_type_version: known.resource_type_version,
        action_plugin: known.action_plugin,
        status: lifecycle.status(),
        conditions,
        status_message: known.status_message,
        generation: known.generation,
        observed_generation: known.observed_generation,
        created_at: to_time(known.created_at)?,
        updated_at: to_time(known.updated_at)?,
        last_reconcile_time: known.last_reconcile_time.map(to_time).transpose()?,
        lifecycle,
        spec,
        plugin_config,
        labels,
        annotations,
        tenant: tenant.into(),
        resource_version: known.resource_version,
        deletion_requested_at: known.deletion_requested_at.map(to_time).transpose()?,
        reconcile_requested_at: known.reconcile_requested_at.map(to_time).transpose()?,
        next_reconcile_at: known.next_reconcile_at.map(to_time).transpose()?,
        operation_id: known.operation_id.map(OperationId),
        drift_policy: known.drift_policy,
        drift,
        failure,
        failures: known.failures,
        finalizers,
        holds,
    })
}

impl Store {
    pub async fn resource_text(&self, scope: &Scope, id: ResourceId) -> Result<ResourceText, Error> {
        let text = format!("SELECT {} FROM resources WHERE {BY_ID}", columns(self.dialect()));
        let row = self
            .read(|reader| {
                Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(id.0).bind(scope.id.0).fetch_optional(reader))
            })
            .await?;
        to_text(&row.ok_or_else(|| Error::not_found(format!("resource {id}")))?, &scope.name)
    }

    pub async fn resource_by_name(&self, scope: &Scope, type_name: &str, name: &str) -> Result<ResourceText, Error> {
        let text = format!("SELECT {} FROM resources WHERE {BY_NAME}", columns(self.dialect()));
        let row = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(scope.id.0).bind(type_name).bind(name);
                Box::pin(query.fetch_optional(reader))
            })
            .await?;
        to_text(&row.ok_or_else(|| Error::not_found(format!("resource {type_name}/{name}")))?, &scope.name)
    }

    /// What `resources` finds.
    pub async fn resource_texts(
        &self,
        scope: &Scope,
        filter: &ResourceFilter,
        after: i64,
        limit: usize,
    ) -> Result<Page<ResourceText>, Error> {
        let columns = columns(self.dialect());
        let rows = self
            .read(|reader| {
                let select = select(&columns, scope, filter, after, limit);
                Box::pin(async move { select?.fetch_all(reader).await })
            })
            .await?;
        let found = rows.iter().map(|row| to_text(row, &scope.name)).collect::<Result<Vec<_>, Error>>()?;
        Ok(Page::cut(found, limit, |resource| resource.id.0))
    }
}
