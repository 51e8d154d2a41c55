//! Resources: the desired state, where each stands, and finding them.

use model::reconcile::{Lease, Record};
use model::{
    DriftPolicy, EventSeq, Labels, Lifecycle, OperationId, Reason, Requirement, Resource, ResourceId, Scope, Selector,
    Status, TypeId,
};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::Error;
use crate::page::Page;
use crate::row::Cells;
use crate::select::Select;

mod change;
mod choose;
mod create;
mod standing;
mod text;

pub use create::NewResource;
pub(crate) use create::{Creation, Made};
pub(crate) use standing::Change;
pub use text::ResourceText;

/// A resource, with what the API does not show of it.
#[derive(Debug, Clone)]
pub struct StoredResource {
    pub type_id: TypeId,
    pub body: Resource,
    pub(crate) claim: Claimed,
}

/// What the controllers keep of a resource.
#[derive(Debug, Clone)]
pub(crate) struct Claimed {
    pub begun_generation: i64,
    pub wanted: Option<Reason>,
    pub fencing_token: i64,
    pub lease: Option<Lease>,
}

impl StoredResource {
    /// For decisions. What the plugin remembers and the outputs are not loaded.
    pub(crate) fn record(&self) -> Record {
        let Claimed { begun_generation, wanted, fencing_token, lease } = self.claim.clone();
        Record {
            resource: self.body.clone(),
            begun_generation,
            wanted,
            fencing_token,
            lease,
            memory: Value::Null,
            outputs: Value::Null,
            released: false,
        }
    }
}

/// Which resources to list.
#[derive(Debug, Clone, Default)]
pub struct ResourceFilter {
    pub status: Option<Status>,
    pub resource_type_name: Option<String>,
    pub action_plugin: Option<String>,
    pub name: Option<String>,
    pub selector: Selector,
}

impl ResourceFilter {
    /// The same question put to one resource.
    pub fn matches(&self, resource: &Resource) -> bool {
        self.status.is_none_or(|status| status == resource.status)
            && self.resource_type_name.as_ref().is_none_or(|name| *name == resource.resource_type_name)
            && self.action_plugin.as_ref().is_none_or(|plugin| *plugin == resource.action_plugin)
            && self.name.as_ref().is_none_or(|name| *name == resource.name)
            && self.selector.matches(&resource.labels)
    }
}

pub(crate) const COLUMNS: &str = "id, type_id, resource_type_name, resource_type_version, name, action_plugin, plugin_config, spec, \
    labels, annotations, lifecycle, status_message, generation, observed_generation, created_at, \
    updated_at, last_reconcile_time, deletion_requested_at, reconcile_requested_at, resource_version, conditions, \
    drift_policy, drift, failure, failures, finalizers, holds, next_reconcile_at, operation_id, begun_generation, wanted, \
    fencing_token, lease_holder, lease_until";

/// One live resource by its id, if it is the tenant's. The sum keeps PostgreSQL to the primary key: before a table is
/// analysed, it takes any index that begins with the tenant for as good, and then reads all of the tenant's rows.
const BY_ID: &str = "id = $1 AND tenant_id + 0 = $2 AND deleted_at IS NULL";

pub(crate) fn to_resource(row: &AnyRow, tenant: &str) -> Result<StoredResource, Error> {
    let lifecycle = row.word("lifecycle", Lifecycle::parse)?;
    let lease = match (row.optional_text("lease_holder")?, row.optional_time("lease_until")?) {
        (Some(holder), Some(until)) => Some(Lease { holder, until }),
        _ => None,
    };
    Ok(StoredResource {
        type_id: TypeId(row.int("type_id")?),
        claim: Claimed {
            begun_generation: row.int("begun_generation")?,
            wanted: row.optional_word("wanted", Reason::parse)?,
            fencing_token: row.int("fencing_token")?,
            lease,
        },
        body: Resource {
            id: ResourceId(row.int("id")?),
            name: row.text("name")?,
            resource_type_name: row.text("resource_type_name")?,
            resource_type_version: row.text("resource_type_version")?,
            action_plugin: row.text("action_plugin")?,
            status: lifecycle.status(),
            conditions: row.json("conditions")?,
            status_message: row.text("status_message")?,
            generation: row.int("generation")?,
            observed_generation: row.int("observed_generation")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
            last_reconcile_time: row.optional_time("last_reconcile_time")?,
            lifecycle,
            spec: row.json("spec")?,
            plugin_config: row.json("plugin_config")?,
            labels: row.json::<Labels>("labels")?,
            annotations: row.json::<Labels>("annotations")?,
            tenant: tenant.into(),
            resource_version: row.int("resource_version")?,
            deletion_requested_at: row.optional_time("deletion_requested_at")?,
            reconcile_requested_at: row.optional_time("reconcile_requested_at")?,
            next_reconcile_at: row.optional_time("next_reconcile_at")?,
            operation_id: row.optional_int("operation_id")?.map(OperationId),
            drift_policy: row.word("drift_policy", DriftPolicy::parse)?,
            drift: row.optional_json("drift")?,
            failure: row.optional_json("failure")?,
            failures: row.int("failures")?,
            finalizers: row.json("finalizers")?,
            holds: row.json("holds")?,
        },
    })
}

const BY_NAME: &str = "tenant_id = $1 AND resource_type_name = $2 AND name = $3 AND deleted_at IS NULL";

impl Store {
    pub async fn resource(&self, scope: &Scope, id: ResourceId) -> Result<StoredResource, Error> {
        let text = format!("SELECT {COLUMNS} FROM resources WHERE {BY_ID}");
        let row = self
            .read(|reader| {
                Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(id.0).bind(scope.id.0).fetch_optional(reader))
            })
            .await?;
        to_resource(&row.ok_or_else(|| Error::not_found(format!("resource {id}")))?, &scope.name)
    }

    /// Live resources in the order of their ids.
    pub async fn resources(
        &self,
        scope: &Scope,
        filter: &ResourceFilter,
        after: i64,
        limit: usize,
    ) -> Result<Page<Resource>, Error> {
        let rows = self
            .read(|reader| {
                let select = select(COLUMNS, scope, filter, after, limit);
                Box::pin(async move { select?.fetch_all(reader).await })
            })
            .await?;
        let found =
            rows.iter().map(|row| Ok(to_resource(row, &scope.name)?.body)).collect::<Result<Vec<_>, Error>>()?;
        Ok(Page::cut(found, limit, |resource| resource.id.0))
    }

    /// Resources of a type whose last change lies in `after < version <= up_to`, in the order of that: `(tenant/name,
    /// version, spec)`. Every tenant's, since a fleet's type serves them all.
    pub async fn specs_of_type(
        &self,
        id: TypeId,
        after: i64,
        up_to: EventSeq,
        limit: usize,
    ) -> Result<Vec<(String, i64, Value)>, Error> {
        let rows = self
            .read(|reader| {
                let select = change::specs_of_type(id, after, Some(up_to), limit);
                Box::pin(async move { select?.fetch_all(reader).await })
            })
            .await?;
        rows.iter().map(change::to_spec).collect()
    }

    /// What the last reconciliation left behind for its users; empty before the first.
    pub async fn outputs(&self, scope: &Scope, id: ResourceId) -> Result<Value, Error> {
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(
                        "SELECT outputs FROM resources WHERE id = $1 AND tenant_id + 0 = $2 AND deleted_at IS NULL",
                    )
                    .bind(id.0)
                    .bind(scope.id.0)
                    .fetch_optional(reader),
                )
            })
            .await?
            .ok_or_else(|| Error::not_found(format!("resource {id}")))?;
        Ok(row.optional_json("outputs")?.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
    }
}

fn select(
    columns: &str,
    scope: &Scope,
    filter: &ResourceFilter,
    after: i64,
    limit: usize,
) -> Result<Select, sqlx::Error> {
    let mut select = Select::new("SELECT ");
    select.push(columns);
    select.with(" FROM resources WHERE deleted_at IS NULL AND tenant_id = ", scope.id.0)?;
    select.with(" AND id > ", after)?;
    if let Some(name) = &filter.resource_type_name {
        select.with(" AND resource_type_name = ", name.as_str())?;
    }
    if let Some(plugin) = &filter.action_plugin {
        select.with(" AND action_plugin = ", plugin.as_str())?;
    }
    if let Some(name) = &filter.name {
        select.with(" AND name = ", name.as_str())?;
    }
    if let Some(status) = filter.status {
        select.push(" AND lifecycle IN ");
        select.push_list(status.lifecycles().map(Lifecycle::as_str))?;
    }
    for requirement in &filter.selector.requirements {
        require(&mut select, scope, requirement)?;
    }
    select.with(" ORDER BY id LIMIT ", limit as i64 + 1)?;
    Ok(select)
}

fn require(select: &mut Select, scope: &Scope, requirement: &Requirement) -> Result<(), sqlx::Error> {
    let (negated, key, values) = match requirement {
        Requirement::In { key, values } => (false, key, Some(values)),
        Requirement::NotIn { key, values } => (true, key, Some(values)),
        Requirement::Exists { key } => (false, key, None),
        Requirement::Absent { key } => (true, key, None),
    };
    // A wanted label leads to its resources by index; an unwanted one is looked up for each candidate.
    if negated {
        select.with(
            " AND NOT EXISTS (SELECT 1 FROM resource_labels WHERE resource_id = resources.id AND key = ",
            key.as_str(),
        )?;
    } else {
        select.with(" AND id IN (SELECT resource_id FROM resource_labels WHERE tenant_id = ", scope.id.0)?;
        select.with(" AND key = ", key.as_str())?;
    }
    if let Some(values) = values {
        select.push(" AND value IN ");
        select.push_list(values.iter().map(String::as_str))?;
    }
    select.push(")");
    Ok(())
}
