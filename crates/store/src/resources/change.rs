//! Changing resources. Each change checks first and writes after, so that a refusal has changed nothing.

use model::{Action, Actor, Desired, EventSeq, Kind, Lifecycle, Resource, ResourceId, Scope, TypeId};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::{BY_ID, COLUMNS, StoredResource, fresh, to_resource};
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::row::Cells;
use crate::select::Select;
use crate::writer::Tx;

pub(super) const WAITING: &str = "Waiting for the first reconciliation";

#[derive(Debug, Clone)]
pub struct NewResource {
    pub name: String,
    pub resource_type_name: String,
    pub desired: Desired,
    /// The type whose schema the spec satisfies, and the version of it that was looked at.
    pub type_id: TypeId,
    pub type_seen_at: i64,
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Corrupt { what: format!("a value that is no JSON: {error}") })
}

impl Tx {
    pub async fn create_resource(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        new: &NewResource,
    ) -> Result<Resource, Error> {
        let seq = self.next_seq()?;
        let now = self.now;
        let text = format!(
            "INSERT INTO resources (tenant_id, type_id, resource_type_name, resource_type_version, name, action_plugin, \
             plugin_config, spec, labels, annotations, lifecycle, lifecycle_since, status_message, generation, \
             observed_generation, created_at, updated_at, next_reconcile_at, resource_version) \
             SELECT $1, type.id, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $11, 1, 0, $10, $10, $10, $12 \
             FROM resource_types type JOIN tenants tenant ON tenant.id = $1 AND tenant.deleted_at IS NULL \
             WHERE type.id = $13 AND type.resource_version = $14 AND type.deleted_at IS NULL \
             AND type.tenant_id IN ($1, 0){} ON CONFLICT DO NOTHING RETURNING id",
            self.dialect.for_share()
        );
        let id: Option<i64> = sqlx::query_scalar(AssertSqlSafe(text))
            .bind(scope.id.0)
            .bind(&new.resource_type_name)
            .bind(&new.desired.resource_type_version)
            .bind(&new.name)
            .bind(&new.desired.action_plugin)
            .bind(json(&new.desired.plugin_config)?)
            .bind(json(&new.desired.spec)?)
            .bind(json(&new.desired.labels)?)
            .bind(json(&new.desired.annotations)?)
            .bind(now.as_microsecond())
            .bind(WAITING)
            .bind(seq.0)
            .bind(new.type_id.0)
            .bind(new.type_seen_at)
            .fetch_optional(self.connection())
            .await?;
        let Some(id) = id.map(ResourceId) else {
            self.hold_tenant(scope).await?;
            self.hold_type_version(scope, new.type_id, new.type_seen_at).await?;
            let what = format!("a resource {} of type {}", new.name, new.resource_type_name);
            return Err(Refusal::Exists { what }.into());
        };
        let created = fresh(id, scope, new, seq, now);
        self.write_labels(scope, &created).await?;
        self.tell_of_resource(scope, actor, Action::Created, seq, None, Some(&created))?;
        Ok(created)
    }

    /// The resource as it is now, kept so until the commit.
    pub async fn hold_resource(&mut self, scope: &Scope, id: ResourceId) -> Result<StoredResource, Error> {
        let text = format!("SELECT {COLUMNS} FROM resources WHERE {BY_ID}{}", self.dialect.for_update());
        let row =
            sqlx::query(AssertSqlSafe(text)).bind(id.0).bind(scope.id.0).fetch_optional(self.connection()).await?;
        let held = to_resource(&row.ok_or_else(|| Error::not_found(format!("resource {id}")))?, &scope.name)?;
        self.follow(held.body.resource_version)?;
        Ok(held)
    }

    /// Give a held resource another desired state. One that changes nothing changes nothing: no event, no new version.
    pub async fn update_resource(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
        desired: &Desired,
        type_id: TypeId,
        type_seen_at: i64,
    ) -> Result<Resource, Error> {
        let before = &held.body;
        if before.lifecycle.is_going() {
            return Err(Refusal::Going { what: format!("resource {}", before.name) }.into());
        }
        let current = before.desired();
        if current == *desired && held.type_id == type_id {
            return Ok(before.clone());
        }
        self.hold_type_version(scope, type_id, type_seen_at).await?;
        let seq = self.next_seq()?;
        let now = self.now;
        let other_reality = current.asks_for_other_reality(desired);
        let after = Resource {
            resource_type_version: desired.resource_type_version.clone(),
            action_plugin: desired.action_plugin.clone(),
            plugin_config: desired.plugin_config.clone(),
            spec: desired.spec.clone(),
            labels: desired.labels.clone(),
            annotations: desired.annotations.clone(),
            generation: before.generation + i64::from(other_reality),
            updated_at: now,
            resource_version: seq.0,
            ..before.clone()
        };
        sqlx::query(
            "UPDATE resources SET type_id = $1, resource_type_version = $2, action_plugin = $3, plugin_config = $4, \
             spec = $5, labels = $6, annotations = $7, generation = $8, updated_at = $9, resource_version = $10, \
             next_reconcile_at = CASE WHEN $11 = 1 THEN $9 ELSE next_reconcile_at END WHERE id = $12",
        )
        .bind(type_id.0)
        .bind(&after.resource_type_version)
        .bind(&after.action_plugin)
        .bind(json(&after.plugin_config)?)
        .bind(json(&after.spec)?)
        .bind(json(&after.labels)?)
        .bind(json(&after.annotations)?)
        .bind(after.generation)
        .bind(now.as_microsecond())
        .bind(seq.0)
        .bind(i64::from(other_reality))
        .bind(before.id.0)
        .execute(self.connection())
        .await?;
        if before.labels != after.labels {
            self.erase_labels(before.id).await?;
            self.write_labels(scope, &after).await?;
        }
        self.tell_of_resource(scope, actor, Action::Updated, seq, Some(before), Some(&after))?;
        Ok(after)
    }

    /// Ask for a held resource to be reconciled now.
    pub async fn request_reconcile(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
    ) -> Result<Resource, Error> {
        let seq = self.next_seq()?;
        let now = self.now;
        let before = &held.body;
        let after = Resource { reconcile_requested_at: Some(now), resource_version: seq.0, ..before.clone() };
        sqlx::query(
            "UPDATE resources SET reconcile_requested_at = $1, next_reconcile_at = $1, resource_version = $2 WHERE id = $3",
        )
        .bind(now.as_microsecond())
        .bind(seq.0)
        .bind(before.id.0)
        .execute(self.connection())
        .await?;
        self.tell_of_resource(scope, actor, Action::ReconcileRequested, seq, Some(before), Some(&after))?;
        Ok(after)
    }

    /// Ask for a held resource to go. One that has never touched anything outside is gone at once; any other stays
    /// visible as `deleting` until what it stands for is destroyed.
    pub async fn request_delete(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
    ) -> Result<Resource, Error> {
        let before = &held.body;
        if before.lifecycle.is_going() {
            return Ok(before.clone());
        }
        let gone = before.lifecycle.has_touched_nothing();
        let (lifecycle, message) = if gone {
            (Lifecycle::Deleted, "Deleted before anything was created")
        } else {
            (Lifecycle::Deleting, "Waiting to be destroyed")
        };
        let seq = self.next_seq()?;
        let now = self.now;
        let after = Resource {
            lifecycle,
            status: lifecycle.status(),
            status_message: message.into(),
            conditions: lifecycle.conditions(message, now),
            deletion_requested_at: Some(now),
            updated_at: now,
            resource_version: seq.0,
            ..before.clone()
        };
        sqlx::query(
            "UPDATE resources SET lifecycle = $1, lifecycle_since = $2, status_message = $3, deletion_requested_at = $2, \
             updated_at = $2, next_reconcile_at = $4, deleted_at = $5, resource_version = $6 WHERE id = $7",
        )
        .bind(lifecycle.as_str())
        .bind(now.as_microsecond())
        .bind(message)
        .bind((!gone).then_some(now.as_microsecond()))
        .bind(gone.then_some(now.as_microsecond()))
        .bind(seq.0)
        .bind(before.id.0)
        .execute(self.connection())
        .await?;
        if gone {
            self.erase_labels(before.id).await?;
            self.tell_of_resource(scope, actor, Action::Deleted, seq, Some(before), None)?;
        } else {
            self.tell_of_resource(scope, actor, Action::DeleteRequested, seq, Some(before), Some(&after))?;
        }
        Ok(after)
    }

    /// Specs of a type that changed after `after`, as of this transaction; hold the type first.
    pub async fn specs_changed_after(
        &mut self,
        id: TypeId,
        after: EventSeq,
    ) -> Result<Vec<(String, i64, Value)>, Error> {
        let rows = specs_of_type(id, after.0, None, i64::MAX as usize)?.fetch_all(self.connection()).await?;
        rows.iter().map(to_spec).collect()
    }

    /// Refuse unless the type is still what the spec was validated against, and keep it so until the commit.
    async fn hold_type_version(&mut self, scope: &Scope, type_id: TypeId, seen_at: i64) -> Result<(), Error> {
        let text = format!(
            "SELECT resource_version FROM resource_types WHERE id = $1 AND tenant_id IN ($2, 0) AND deleted_at IS NULL{}",
            self.dialect.for_share()
        );
        let found: Option<i64> = sqlx::query_scalar(AssertSqlSafe(text))
            .bind(type_id.0)
            .bind(scope.id.0)
            .fetch_optional(self.connection())
            .await?;
        if found == Some(seen_at) { Ok(()) } else { Err(Refusal::TypeChanged { type_id }.into()) }
    }

    async fn write_labels(&mut self, scope: &Scope, resource: &Resource) -> Result<(), Error> {
        for (key, value) in &resource.labels {
            sqlx::query("INSERT INTO resource_labels (resource_id, tenant_id, key, value) VALUES ($1, $2, $3, $4)")
                .bind(resource.id.0)
                .bind(scope.id.0)
                .bind(key)
                .bind(value)
                .execute(self.connection())
                .await?;
        }
        Ok(())
    }

    async fn erase_labels(&mut self, id: ResourceId) -> Result<(), Error> {
        sqlx::query("DELETE FROM resource_labels WHERE resource_id = $1").bind(id.0).execute(self.connection()).await?;
        Ok(())
    }

    fn tell_of_resource(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        action: Action,
        seq: EventSeq,
        before: Option<&Resource>,
        after: Option<&Resource>,
    ) -> Result<(), Error> {
        let Some(body) = after.or(before) else { return Ok(()) };
        let subject =
            Subject { seq, tenant: scope.id, kind: Kind::Resource, id: body.id.0, name: &body.name, before, after };
        self.tell(actor, action, subject)
    }
}

pub(super) fn specs_of_type(
    id: TypeId,
    after: i64,
    up_to: Option<EventSeq>,
    limit: usize,
) -> Result<Select, sqlx::Error> {
    let mut select = Select::new(
        "SELECT r.name, r.spec, r.resource_version, t.name AS tenant FROM resources r JOIN tenants t ON t.id = r.tenant_id",
    );
    select.with(" WHERE r.deleted_at IS NULL AND r.type_id = ", id.0)?;
    select.with(" AND r.resource_version > ", after)?;
    if let Some(up_to) = up_to {
        select.with(" AND r.resource_version <= ", up_to.0)?;
    }
    select.with(" ORDER BY r.resource_version LIMIT ", limit as i64)?;
    Ok(select)
}

pub(super) fn to_spec(row: &AnyRow) -> Result<(String, i64, Value), Error> {
    let name = format!("{}/{}", row.text("tenant")?, row.text("name")?);
    Ok((name, row.int("resource_version")?, row.json("spec")?))
}
