//! Changing resources. Each change checks first and writes after, so that a refusal has changed nothing.

use std::time::Duration;

use model::plugin::ON_CHANGE;
use model::reconcile::{Record, Terms};
use model::{
    Action, Actor, Desired, EventSeq, Happening, Kind, Ladder, Lifecycle, Reason, Resource, ResourceId, Scope,
    TenantId, TypeId,
};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::{BY_ID, COLUMNS, Change, StoredResource, to_resource};
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::row::Cells;
use crate::rows::json;
use crate::select::Select;
use crate::writer::Tx;

impl Tx {
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
        let mut record = held.record();
        let after = &mut record.resource;
        after.resource_type_version = desired.resource_type_version.clone();
        after.action_plugin = desired.action_plugin.clone();
        after.plugin_config = desired.plugin_config.clone();
        after.spec = desired.spec.clone();
        after.labels = desired.labels.clone();
        after.annotations = desired.annotations.clone();
        after.drift_policy = desired.drift_policy;
        after.updated_at = self.now;
        let terms = self.terms();
        if current.asks_for_other_reality(desired) {
            if let Some(operation) = before.operation_id {
                self.keep_desired(operation, &current).await?;
            }
            after.generation += 1;
            let message = after.status_message.clone();
            record.want(Reason::Updated);
            record.happen(Happening::SpecChanged, &message, &terms);
            // What waits for a person may have no reason to any more; what waits for anything else is not hurried.
            if record.lease.is_none() && self.waits_for(before.operation_id, ON_CHANGE).await? {
                record.resource.next_reconcile_at = Some(self.now);
            }
        }
        if desired.drift_policy != current.drift_policy && record.resource.lifecycle == Lifecycle::Active {
            // Look again: the controller decides what the new policy means.
            record.resource.next_reconcile_at = Some(self.now);
        }
        let after = &record.resource;
        sqlx::query(
            "UPDATE resources SET type_id = $1, resource_type_version = $2, action_plugin = $3, plugin_config = $4, \
             spec = $5, labels = $6, annotations = $7, drift_policy = $8, generation = $9 WHERE id = $10",
        )
        .bind(type_id.0)
        .bind(&after.resource_type_version)
        .bind(&after.action_plugin)
        .bind(json(&after.plugin_config)?)
        .bind(json(&after.spec)?)
        .bind(json(&after.labels)?)
        .bind(json(&after.annotations)?)
        .bind(after.drift_policy.as_str())
        .bind(after.generation)
        .bind(before.id.0)
        .execute(self.connection())
        .await?;
        if before.labels != after.labels {
            self.erase_labels(before.id).await?;
            self.write_labels([(scope, before.id, &after.labels)]).await?;
        }
        self.change(scope, actor, Action::Updated, before, record).await
    }

    /// Ask for a held resource to be reconciled now.
    pub async fn request_reconcile(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
    ) -> Result<Resource, Error> {
        let mut record = held.record();
        let (message, since) = (record.resource.status_message.clone(), record.resource.updated_at);
        record.want(Reason::Requested);
        record.happen(Happening::ReconcileRequested, &message, &self.terms());
        record.resource.reconcile_requested_at = Some(self.now);
        record.resource.updated_at = since;
        self.change(scope, actor, Action::ReconcileRequested, &held.body, record).await
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
        let mut record = held.record();
        let held_by = &before.finalizers;
        let message = match before.lifecycle {
            _ if !held_by.is_empty() => format!("Waiting for finalizers: {}", held_by.join(", ")),
            Lifecycle::Pending => "Deleted before anything was created".into(),
            _ => "Waiting to be destroyed".into(),
        };
        let untouched = before.lifecycle == Lifecycle::Failed
            && before.observed_generation == 0
            && held_by.is_empty()
            && self.is_untouched(before.id).await?;
        let happening = if untouched {
            Happening::DroppedUntouched
        } else {
            Happening::DeleteRequested { held: !held_by.is_empty() }
        };
        record.happen(happening, &message, &self.terms());
        record.resource.deletion_requested_at = Some(self.now);
        let action = if record.released { Action::Deleted } else { Action::DeleteRequested };
        self.change(scope, actor, action, before, record).await
    }

    /// Let a held resource go without destroying what it stands for: a person's way out.
    pub async fn forget(&mut self, scope: &Scope, actor: &Actor, held: &StoredResource) -> Result<Resource, Error> {
        let mut record = held.record();
        record.happen(Happening::Forgotten, "Forgotten: what it stood for may still exist", &self.terms());
        record.fencing_token += 1;
        record.resource.deletion_requested_at.get_or_insert(self.now);
        self.erase_sealed_outputs(held.body.id).await?;
        self.supersede_operation(held.body.operation_id, "The resource was forgotten").await?;
        self.change(scope, actor, Action::Forgotten, &held.body, record).await
    }

    /// Say who keeps a held resource from being deleted. While it goes, they can only become fewer.
    pub async fn set_finalizers(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
        finalizers: &[String],
    ) -> Result<Resource, Error> {
        let before = &held.body;
        if before.finalizers == finalizers {
            return Ok(before.clone());
        }
        let going = before.lifecycle.is_going();
        if going && finalizers.iter().any(|name| !before.finalizers.contains(name)) {
            return Err(Refusal::Going { what: format!("resource {}", before.name) }.into());
        }
        let mut record = held.record();
        record.resource.finalizers = finalizers.to_vec();
        record.resource.updated_at = self.now;
        if going && finalizers.is_empty() {
            record.happen(Happening::LetGo, "Waiting to be destroyed", &self.terms());
        } else if going {
            let message = format!("Waiting for finalizers: {}", finalizers.join(", "));
            record.resource.stand(before.lifecycle, message, self.now);
        }
        self.change(scope, actor, Action::Updated, before, record).await
    }

    /// Write a changed resource back, and tell of it.
    pub(super) async fn change(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        action: Action,
        before: &Resource,
        mut record: Record,
    ) -> Result<Resource, Error> {
        let seq = self.advance(&mut record)?;
        let change = Change { before, after: &record, with_memory: false, with_outputs: false };
        self.write_standing(&[change]).await?;
        let after = (!record.released).then_some(&record.resource);
        self.tell_of_resource(scope.id, actor, action, seq, Some(before), after)?;
        Ok(record.resource)
    }

    /// A person's writes depend on no setting: what follows from the ladder or the drift interval is not theirs.
    pub(super) fn terms(&self) -> Terms {
        Terms { now: self.now, ladder: Ladder::default(), drift_interval: Duration::ZERO, chance: 0.0 }
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
    pub(super) async fn hold_type_version(
        &mut self,
        scope: &Scope,
        type_id: TypeId,
        seen_at: i64,
    ) -> Result<(), Error> {
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

    pub(super) async fn erase_labels(&mut self, id: ResourceId) -> Result<(), Error> {
        sqlx::query("DELETE FROM resource_labels WHERE resource_id = $1").bind(id.0).execute(self.connection()).await?;
        Ok(())
    }

    pub(crate) fn tell_of_resource(
        &mut self,
        tenant: TenantId,
        actor: &Actor,
        action: Action,
        seq: EventSeq,
        before: Option<&Resource>,
        after: Option<&Resource>,
    ) -> Result<(), Error> {
        let Some(body) = after.or(before) else { return Ok(()) };
        let subject = Subject { seq, tenant, kind: Kind::Resource, id: body.id.0, name: &body.name, before, after };
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
