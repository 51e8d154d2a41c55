//! Holding rows for the controllers: locked until the commit, and read whole. A row comes as two cells: to the driver, each
//! cell of a row is work.

use model::reconcile::{Lease, Record};
use model::{
    Condition, Drift, DriftPolicy, Failure, Labels, Lifecycle, OperationId, Reason, Resource, ResourceId, TenantId,
};
use serde::Deserialize;
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::to_ids;
use crate::dialect::{Cell, Dialect};
use crate::error::Error;
use crate::row::{from_json, to_time};
use crate::writer::Tx;

/// A resource held for the controllers.
pub(super) struct Held {
    pub tenant: TenantId,
    pub record: Record,
    pub type_config: Value,
}

impl Tx {
    /// Hold those of `ids` that are there; with `due`, those whose time has come and that nobody else holds.
    pub(super) async fn hold_for_controllers(&mut self, ids: &[ResourceId], due: bool) -> Result<Vec<Held>, Error> {
        let text = format!(
            "SELECT {} FROM resources WHERE id IN (SELECT v.id FROM {}) AND deleted_at IS NULL{} ORDER BY id{}",
            columns(self.dialect),
            self.dialect.rows(&[("id", Cell::Int)]),
            if due { " AND next_reconcile_at <= $2 AND (lease_until IS NULL OR lease_until <= $2)" } else { "" },
            if due { self.dialect.for_update_of_free() } else { self.dialect.for_update() },
        );
        let mut query = sqlx::query(AssertSqlSafe(text)).bind(to_ids(ids.iter().map(|id| id.0))?);
        if due {
            query = query.bind(self.now.as_microsecond());
        }
        let held = query.fetch_all(self.connection()).await?.iter().map(to_held).collect::<Result<Vec<_>, _>>()?;
        for held in &held {
            self.follow(held.record.resource.resource_version)?;
        }
        Ok(held)
    }
}

fn columns(dialect: Dialect) -> String {
    format!(
        "CAST({}(id, tenant_id, (SELECT name FROM tenants WHERE tenants.id = resources.tenant_id), name, \
         resource_type_name, resource_type_version, action_plugin, lifecycle, status_message, generation, \
         observed_generation, created_at, updated_at, last_reconcile_time, resource_version, deletion_requested_at, \
         reconcile_requested_at, next_reconcile_at, operation_id, drift_policy, failures, begun_generation, wanted, \
         fencing_token, lease_holder, lease_until) AS TEXT), \
         '[' || spec || ',' || plugin_config || ',' || labels || ',' || annotations || ',' || conditions || ',' || \
         coalesce(drift, 'null') || ',' || coalesce(failure, 'null') || ',' || finalizers || ',' || holds || ',' || \
         coalesce(memory, 'null') || ',' || coalesce(outputs, '{{}}') || ',' || \
         (SELECT plugin_config FROM resource_types WHERE resource_types.id = resources.type_id) || ']'",
        dialect.list()
    )
}

/// The first of `columns`, in its order.
#[derive(Deserialize)]
struct Known {
    id: i64,
    tenant_id: i64,
    tenant: String,
    name: String,
    resource_type_name: String,
    resource_type_version: String,
    action_plugin: String,
    lifecycle: Lifecycle,
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
    begun_generation: i64,
    wanted: Option<Reason>,
    fencing_token: i64,
    lease_holder: Option<String>,
    lease_until: Option<i64>,
}

/// The second.
#[derive(Deserialize)]
struct Written {
    spec: Value,
    plugin_config: Value,
    labels: Labels,
    annotations: Labels,
    conditions: Vec<Condition>,
    drift: Option<Drift>,
    failure: Option<Failure>,
    finalizers: Vec<String>,
    holds: Vec<String>,
    memory: Value,
    outputs: Value,
    type_config: Value,
}

fn to_held(row: &AnyRow) -> Result<Held, Error> {
    let known: Known = from_json("resource", row.try_get(0)?)?;
    let written: Written = from_json("spec", row.try_get(1)?)?;
    let time = |at: Option<i64>| at.map(to_time).transpose();
    let lease = match (known.lease_holder, time(known.lease_until)?) {
        (Some(holder), Some(until)) => Some(Lease { holder, until }),
        _ => None,
    };
    let resource = Resource {
        id: ResourceId(known.id),
        name: known.name,
        resource_type_name: known.resource_type_name,
        resource_type_version: known.resource_type_version,
        action_plugin: known.action_plugin,
        status: known.lifecycle.status(),
        conditions: written.conditions,
        status_message: known.status_message,
        generation: known.generation,
        observed_generation: known.observed_generation,
        created_at: to_time(known.created_at)?,
        updated_at: to_time(known.updated_at)?,
        last_reconcile_time: time(known.last_reconcile_time)?,
        lifecycle: known.lifecycle,
        spec: written.spec,
        plugin_config: written.plugin_config,
        labels: written.labels,
        annotations: written.annotations,
        tenant: known.tenant,
        resource_version: known.resource_version,
        deletion_requested_at: time(known.deletion_requested_at)?,
        reconcile_requested_at: time(known.reconcile_requested_at)?,
        next_reconcile_at: time(known.next_reconcile_at)?,
        operation_id: known.operation_id.map(OperationId),
        drift_policy: known.drift_policy,
        drift: written.drift,
        failure: written.failure,
        failures: known.failures,
        finalizers: written.finalizers,
        holds: written.holds,
    };
    let record = Record {
        resource,
        begun_generation: known.begun_generation,
        wanted: known.wanted,
        fencing_token: known.fencing_token,
        lease,
        memory: written.memory,
        outputs: written.outputs,
        released: false,
    };
    Ok(Held { tenant: TenantId(known.tenant_id), record, type_config: written.type_config })
}
