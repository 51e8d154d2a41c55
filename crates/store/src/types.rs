//! Resource types. A type belongs to a tenant, or to the fleet and so to all; a tenant's own comes first.

use model::{Action, Actor, EventSeq, Kind, ResourceType, Scope, TenantId, TypeId};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::page::Page;
use crate::row::Cells;
use crate::select::Select;
use crate::writer::Tx;

#[derive(Debug, Clone)]
pub struct NewType {
    pub name: String,
    pub version: String,
    pub description: String,
    pub schema: Value,
    pub plugin_config: Value,
}

/// A type, with the tenant that owns it.
#[derive(Debug, Clone)]
pub struct StoredType {
    pub tenant: TenantId,
    pub body: ResourceType,
}

const SELECT: &str = "SELECT * FROM resource_types WHERE deleted_at IS NULL AND tenant_id IN ($1, 0)";

fn what(name: &str, version: &str) -> String {
    format!("resource type {name}/{version}")
}

fn to_type(row: &AnyRow, scope: &Scope) -> Result<StoredType, Error> {
    let tenant = TenantId(row.int("tenant_id")?);
    Ok(StoredType {
        tenant,
        body: ResourceType {
            id: TypeId(row.int("id")?),
            name: row.text("name")?,
            version: row.text("version")?,
            description: row.text("description")?,
            schema: row.json("schema")?,
            plugin_config: row.json("plugin_config")?,
            tenant: scope.name_of(tenant).into(),
            resource_version: row.int("resource_version")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        },
    })
}

fn select(scope: &Scope, name: Option<&str>, after: i64, limit: usize) -> Result<Select, sqlx::Error> {
    let mut select = Select::new("SELECT * FROM resource_types WHERE deleted_at IS NULL");
    select.with(" AND tenant_id IN (", scope.id.0)?;
    select.with(", 0) AND id > ", after)?;
    if let Some(name) = name {
        select.with(" AND name = ", name)?;
    }
    select.with(" ORDER BY id LIMIT ", limit as i64 + 1)?;
    Ok(select)
}

impl Store {
    pub async fn resource_type(&self, scope: &Scope, id: TypeId) -> Result<StoredType, Error> {
        let text = format!("{SELECT} AND id = $2");
        let row = self
            .read(|reader| {
                Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(scope.id.0).bind(id.0).fetch_optional(reader))
            })
            .await?;
        to_type(&row.ok_or_else(|| Error::not_found(format!("resource type {id}")))?, scope)
    }

    pub async fn resource_type_by_name(&self, scope: &Scope, name: &str, version: &str) -> Result<StoredType, Error> {
        let text = format!("{SELECT} AND name = $2 AND version = $3 ORDER BY tenant_id DESC LIMIT 1");
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(AssertSqlSafe(text.clone()))
                        .bind(scope.id.0)
                        .bind(name)
                        .bind(version)
                        .fetch_optional(reader),
                )
            })
            .await?;
        to_type(&row.ok_or_else(|| Error::not_found(what(name, version)))?, scope)
    }

    /// Types that the tenant may use, in the order of their ids.
    pub async fn resource_types(
        &self,
        scope: &Scope,
        name: Option<&str>,
        after: i64,
        limit: usize,
    ) -> Result<Page<ResourceType>, Error> {
        let rows = self
            .read(|reader| {
                let select = select(scope, name, after, limit);
                Box::pin(async move { select?.fetch_all(reader).await })
            })
            .await?;
        let types = rows.iter().map(|row| Ok(to_type(row, scope)?.body)).collect::<Result<Vec<_>, Error>>()?;
        Ok(Page::cut(types, limit, |body| body.id.0))
    }
}

impl Tx {
    pub async fn create_type(&mut self, scope: &Scope, actor: &Actor, new: &NewType) -> Result<ResourceType, Error> {
        self.hold_tenant(scope).await?;
        let seq = self.next_seq()?;
        let now = self.now;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO resource_types (tenant_id, name, version, description, schema, plugin_config, resource_version, \
             created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(scope.id.0)
        .bind(&new.name)
        .bind(&new.version)
        .bind(&new.description)
        .bind(new.schema.to_string())
        .bind(new.plugin_config.to_string())
        .bind(seq.0)
        .bind(now.as_microsecond())
        .fetch_optional(self.connection())
        .await?;
        let id = id.ok_or_else(|| Refusal::Exists { what: what(&new.name, &new.version) })?;
        let created = ResourceType {
            id: TypeId(id),
            name: new.name.clone(),
            version: new.version.clone(),
            description: new.description.clone(),
            schema: new.schema.clone(),
            plugin_config: new.plugin_config.clone(),
            tenant: scope.name.clone(),
            resource_version: seq.0,
            created_at: now,
            updated_at: now,
        };
        self.tell_of_type(scope, actor, Action::Created, seq, None, Some(&created))?;
        Ok(created)
    }

    /// The type as it is now, kept so until the commit. Only its owner may change it.
    pub async fn hold_type(&mut self, scope: &Scope, id: TypeId) -> Result<ResourceType, Error> {
        let text = format!(
            "SELECT * FROM resource_types WHERE deleted_at IS NULL AND tenant_id = $1 AND id = $2{}",
            self.dialect.for_update()
        );
        let row =
            sqlx::query(AssertSqlSafe(text)).bind(scope.id.0).bind(id.0).fetch_optional(self.connection()).await?;
        let held = to_type(&row.ok_or_else(|| Error::not_found(format!("resource type {id}")))?, scope)?.body;
        self.follow(held.resource_version)?;
        Ok(held)
    }

    /// Change a held type: what of `next` is the owner's to set. Resources that failed may fare better with another
    /// configuration, and are tried again.
    pub async fn update_type(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &ResourceType,
        next: &ResourceType,
    ) -> Result<ResourceType, Error> {
        let seq = self.next_seq()?;
        let now = self.now;
        sqlx::query(
            "UPDATE resource_types SET description = $1, schema = $2, plugin_config = $3, resource_version = $4, updated_at = $5 \
             WHERE id = $6",
        )
        .bind(&next.description)
        .bind(next.schema.to_string())
        .bind(next.plugin_config.to_string())
        .bind(seq.0)
        .bind(now.as_microsecond())
        .bind(held.id.0)
        .execute(self.connection())
        .await?;
        if held.plugin_config != next.plugin_config {
            sqlx::query(
                "UPDATE resources SET next_reconcile_at = $1 WHERE type_id = $2 AND lifecycle = 'failed' \
                 AND lease_until IS NULL AND deleted_at IS NULL",
            )
            .bind(now.as_microsecond())
            .bind(held.id.0)
            .execute(self.connection())
            .await?;
        }
        let updated = ResourceType {
            description: next.description.clone(),
            schema: next.schema.clone(),
            plugin_config: next.plugin_config.clone(),
            resource_version: seq.0,
            updated_at: now,
            ..held.clone()
        };
        self.tell_of_type(scope, actor, Action::Updated, seq, Some(held), Some(&updated))?;
        Ok(updated)
    }

    /// Delete a held type, unless resources use it.
    pub async fn delete_type(&mut self, scope: &Scope, actor: &Actor, held: &ResourceType) -> Result<(), Error> {
        let users = self.users_of_type(held.id).await?;
        if !users.is_empty() {
            return Err(Refusal::InUse { what: what(&held.name, &held.version), users: users.join(", ") }.into());
        }
        let seq = self.next_seq()?;
        let now = self.now.as_microsecond();
        sqlx::query("UPDATE resource_types SET deleted_at = $1, resource_version = $2 WHERE id = $3")
            .bind(now)
            .bind(seq.0)
            .bind(held.id.0)
            .execute(self.connection())
            .await?;
        self.tell_of_type(scope, actor, Action::Deleted, seq, Some(held), None)
    }

    /// The first few resources of a type, for a person to find them.
    async fn users_of_type(&mut self, id: TypeId) -> Result<Vec<String>, Error> {
        let rows = sqlx::query("SELECT name FROM resources WHERE type_id = $1 AND deleted_at IS NULL LIMIT 6")
            .bind(id.0)
            .fetch_all(self.connection())
            .await?;
        let mut names = rows.iter().map(|row| row.text("name")).collect::<Result<Vec<_>, _>>()?;
        if names.len() > 5 {
            names.truncate(5);
            names.push("more".into());
        }
        Ok(names)
    }

    fn tell_of_type(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        action: Action,
        seq: EventSeq,
        before: Option<&ResourceType>,
        after: Option<&ResourceType>,
    ) -> Result<(), Error> {
        let Some(body) = after.or(before) else { return Ok(()) };
        let name = format!("{}/{}", body.name, body.version);
        let subject =
            Subject { seq, tenant: scope.id, kind: Kind::ResourceType, id: body.id.0, name: &name, before, after };
        self.tell(actor, action, subject)
    }
}
