//! Creating resources. Those of a group are inserted together, each on its own conditions; one whose row did not come
//! back is looked at by itself, to tell why.

use std::collections::HashMap;

use jiff::Timestamp;
use model::{Action, Actor, Desired, EventSeq, Labels, Lifecycle, Resource, ResourceId, Scope, Standing, TypeId};
use serde::Serialize;
use sqlx::{AssertSqlSafe, Row};

use crate::dialect::Cell;
use crate::error::{Error, Refusal};
use crate::rows::{json, lists};
use crate::writer::Tx;

const WAITING: &str = "Waiting for the first reconciliation";

#[derive(Debug, Clone)]
pub struct NewResource {
    pub name: String,
    pub resource_type_name: String,
    pub desired: Desired,
    /// The type whose schema the spec satisfies, and the version of it that was looked at.
    pub type_id: TypeId,
    pub type_seen_at: i64,
}

/// A resource that a write is about to create, and where.
#[derive(Debug, Clone)]
pub(crate) struct Creation {
    pub scope: Scope,
    pub new: NewResource,
}

impl Creation {
    pub fn wanted(&self) -> (&Scope, &NewResource) {
        (&self.scope, &self.new)
    }
}

/// A resource that is inserted, and not told of yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    id: ResourceId,
    seq: EventSeq,
}

#[derive(Serialize)]
struct ResourceRow<'a> {
    tenant_id: i64,
    type_id: i64,
    type_seen_at: i64,
    resource_type_name: &'a str,
    resource_type_version: &'a str,
    name: &'a str,
    action_plugin: &'a str,
    plugin_config: String,
    spec: String,
    labels: String,
    annotations: String,
    drift_policy: &'static str,
    conditions: String,
    seq: i64,
}

const RESOURCE_ROW: &[(&str, Cell)] = &[
    ("tenant_id", Cell::Int),
    ("type_id", Cell::Int),
    ("type_seen_at", Cell::Int),
    ("resource_type_name", Cell::Text),
    ("resource_type_version", Cell::Text),
    ("name", Cell::Text),
    ("action_plugin", Cell::Text),
    ("plugin_config", Cell::Text),
    ("spec", Cell::Text),
    ("labels", Cell::Text),
    ("annotations", Cell::Text),
    ("drift_policy", Cell::Text),
    ("conditions", Cell::Text),
    ("seq", Cell::Int),
];

#[derive(Serialize)]
struct LabelRow<'a> {
    resource_id: i64,
    tenant_id: i64,
    key: &'a str,
    value: &'a str,
}

const LABEL_ROW: &[(&str, Cell)] =
    &[("resource_id", Cell::Int), ("tenant_id", Cell::Int), ("key", Cell::Text), ("value", Cell::Text)];

impl Tx {
    pub async fn create_resource(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        new: &NewResource,
    ) -> Result<Resource, Error> {
        let made = match self.made.take() {
            Some(made) => Some(made),
            None => self.insert_resources(&[(scope, new)]).await?.pop().flatten(),
        };
        let Some(Made { id, seq }) = made else {
            self.hold_tenant(scope).await?;
            self.hold_type_version(scope, new.type_id, new.type_seen_at).await?;
            let what = format!("a resource {} of type {}", new.name, new.resource_type_name);
            return Err(Refusal::Exists { what }.into());
        };
        let created = fresh(id, scope, new, seq, self.now);
        self.tell_of_resource(scope.id, actor, Action::Created, seq, None, Some(&created))?;
        Ok(created)
    }

    /// Insert resources with their labels, in this order. Nothing is made of one whose name is taken, be it by one before
    /// it, or whose tenant or type is no more what it was.
    pub(crate) async fn insert_resources(
        &mut self,
        wanted: &[(&Scope, &NewResource)],
    ) -> Result<Vec<Option<Made>>, sqlx::Error> {
        // The same for all: nothing has happened to any of them.
        let conditions = json(&pending().conditions(&[], self.now))?;
        let mut rows = Vec::with_capacity(wanted.len());
        for (scope, new) in wanted {
            rows.push(to_row(scope, new, self.next_seq()?, &conditions)?);
        }
        let text = format!(
            "INSERT INTO resources (tenant_id, type_id, resource_type_name, resource_type_version, name, action_plugin, \
             plugin_config, spec, labels, annotations, lifecycle, lifecycle_since, status_message, generation, \
             observed_generation, created_at, updated_at, next_reconcile_at, resource_version, drift_policy, conditions) \
             SELECT v.tenant_id, type.id, v.resource_type_name, v.resource_type_version, v.name, v.action_plugin, \
             v.plugin_config, v.spec, v.labels, v.annotations, 'pending', $2, $3, 1, 0, $2, $2, $2, v.seq, v.drift_policy, \
             v.conditions \
             FROM {} JOIN tenants tenant ON tenant.id = v.tenant_id JOIN resource_types type ON type.id = v.type_id \
             WHERE tenant.deleted_at IS NULL AND type.resource_version = v.type_seen_at AND type.deleted_at IS NULL \
             AND type.tenant_id IN (v.tenant_id, 0) ORDER BY v.seq{} ON CONFLICT DO NOTHING RETURNING id, resource_version",
            self.dialect.rows(RESOURCE_ROW),
            self.dialect.for_share()
        );
        let mut ids = HashMap::new();
        for list in lists(&rows)? {
            let now = self.now.as_microsecond();
            let inserted = sqlx::query(AssertSqlSafe(text.clone())).bind(list).bind(now).bind(WAITING);
            for row in inserted.fetch_all(self.connection()).await? {
                ids.insert(row.try_get::<i64, _>(1)?, ResourceId(row.try_get(0)?));
            }
        }
        let made = |row: &ResourceRow| ids.get(&row.seq).map(|id| Made { id: *id, seq: EventSeq(row.seq) });
        let made: Vec<_> = rows.iter().map(made).collect();
        let labelled = made.iter().zip(wanted);
        self.write_labels(
            labelled.filter_map(|(made, (scope, new))| Some((*scope, made.as_ref()?.id, &new.desired.labels))),
        )
        .await?;
        Ok(made)
    }

    pub(super) async fn write_labels<'a>(
        &mut self,
        labelled: impl IntoIterator<Item = (&'a Scope, ResourceId, &'a Labels)>,
    ) -> Result<(), sqlx::Error> {
        let rows = labelled.into_iter().flat_map(|(scope, id, labels)| {
            labels.iter().map(move |(key, value)| LabelRow { resource_id: id.0, tenant_id: scope.id.0, key, value })
        });
        let text = format!(
            "INSERT INTO resource_labels (resource_id, tenant_id, key, value) \
             SELECT v.resource_id, v.tenant_id, v.key, v.value FROM {}",
            self.dialect.rows(LABEL_ROW)
        );
        for list in lists(rows)? {
            sqlx::query(AssertSqlSafe(text.clone())).bind(list).execute(self.connection()).await?;
        }
        Ok(())
    }
}

/// Where a resource stands before anything was done.
fn pending() -> Standing<'static> {
    Standing { lifecycle: Lifecycle::Pending, message: WAITING, failure: None, drift: None }
}

fn to_row<'a>(
    scope: &Scope,
    new: &'a NewResource,
    seq: EventSeq,
    conditions: &str,
) -> Result<ResourceRow<'a>, sqlx::Error> {
    let desired = &new.desired;
    Ok(ResourceRow {
        tenant_id: scope.id.0,
        type_id: new.type_id.0,
        type_seen_at: new.type_seen_at,
        resource_type_name: &new.resource_type_name,
        resource_type_version: &desired.resource_type_version,
        name: &new.name,
        action_plugin: &desired.action_plugin,
        plugin_config: json(&desired.plugin_config)?,
        spec: json(&desired.spec)?,
        labels: json(&desired.labels)?,
        annotations: json(&desired.annotations)?,
        drift_policy: desired.drift_policy.as_str(),
        conditions: conditions.into(),
        seq: seq.0,
    })
}

/// A resource that has just been asked for.
fn fresh(id: ResourceId, scope: &Scope, new: &NewResource, seq: EventSeq, now: Timestamp) -> Resource {
    let Desired { resource_type_version, action_plugin, plugin_config, spec, labels, annotations, drift_policy } =
        new.desired.clone();
    Resource {
        id,
        name: new.name.clone(),
        resource_type_name: new.resource_type_name.clone(),
        resource_type_version,
        action_plugin,
        status: Lifecycle::Pending.status(),
        conditions: pending().conditions(&[], now),
        status_message: WAITING.into(),
        generation: 1,
        observed_generation: 0,
        created_at: now,
        updated_at: now,
        last_reconcile_time: None,
        lifecycle: Lifecycle::Pending,
        spec,
        plugin_config,
        labels,
        annotations,
        tenant: scope.name.clone(),
        resource_version: seq.0,
        deletion_requested_at: None,
        reconcile_requested_at: None,
        next_reconcile_at: Some(now),
        operation_id: None,
        drift_policy,
        drift: None,
        failure: None,
        failures: 0,
        finalizers: Vec::new(),
        holds: Vec::new(),
    }
}
