//! Tenants.

use model::{Action, Actor, EventSeq, Kind, Scope, Tenant, TenantId};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::page::Page;
use crate::row::Cells;
use crate::writer::Tx;

#[derive(Debug, Clone)]
pub struct NewTenant {
    pub name: String,
    pub description: String,
}

fn to_tenant(row: &AnyRow) -> Result<Tenant, Error> {
    Ok(Tenant {
        id: TenantId(row.int("id")?),
        name: row.text("name")?,
        description: row.text("description")?,
        created_at: row.time("created_at")?,
    })
}

fn missing(name: &str) -> Error {
    Error::not_found(format!("tenant {name}"))
}

impl Store {
    /// A tenant's scope by its name; `fleet` is one too.
    pub async fn scope(&self, name: &str) -> Result<Scope, Error> {
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query("SELECT id FROM tenants WHERE name = $1 AND deleted_at IS NULL")
                        .bind(name)
                        .fetch_optional(reader),
                )
            })
            .await?
            .ok_or_else(|| missing(name))?;
        Ok(Scope { id: TenantId(row.int("id")?), name: name.into() })
    }

    pub async fn tenant(&self, name: &str) -> Result<Tenant, Error> {
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query("SELECT * FROM tenants WHERE name = $1 AND id > 0 AND deleted_at IS NULL")
                        .bind(name)
                        .fetch_optional(reader),
                )
            })
            .await?;
        to_tenant(&row.ok_or_else(|| missing(name))?)
    }

    pub async fn tenants(&self, after: i64, limit: usize) -> Result<Page<Tenant>, Error> {
        let rows = self
            .read(|reader| {
                Box::pin(
                    sqlx::query("SELECT * FROM tenants WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2")
                        .bind(after.max(0))
                        .bind(limit as i64 + 1)
                        .fetch_all(reader),
                )
            })
            .await?;
        let tenants = rows.iter().map(to_tenant).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(tenants, limit, |tenant| tenant.id.0))
    }
}

impl Tx {
    pub async fn create_tenant(&mut self, actor: &Actor, new: &NewTenant) -> Result<Tenant, Error> {
        let now = self.now;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO tenants (name, description, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(&new.name)
        .bind(&new.description)
        .bind(now.as_microsecond())
        .fetch_optional(self.connection())
        .await?;
        let id = id.ok_or_else(|| Refusal::Exists { what: format!("tenant {}", new.name) })?;
        let created =
            Tenant { id: TenantId(id), name: new.name.clone(), description: new.description.clone(), created_at: now };
        let seq = self.next_seq()?;
        self.tell_of_tenant(actor, Action::Created, seq, None, Some(&created))?;
        Ok(created)
    }

    /// Refuse where the tenant is gone, and keep it from going until the commit.
    pub(crate) async fn hold_tenant(&mut self, scope: &Scope) -> Result<(), Error> {
        let text = format!("SELECT 1 FROM tenants WHERE id = $1 AND deleted_at IS NULL{}", self.dialect.for_share());
        let found = sqlx::query(AssertSqlSafe(text)).bind(scope.id.0).fetch_optional(self.connection()).await?;
        found.map(drop).ok_or_else(|| missing(&scope.name))
    }

    /// The same, by its name.
    pub(crate) async fn hold_tenant_by_name(&mut self, name: &str) -> Result<TenantId, Error> {
        let share = self.dialect.for_share();
        let text = format!("SELECT id FROM tenants WHERE name = $1 AND id > 0 AND deleted_at IS NULL{share}");
        let row = sqlx::query(AssertSqlSafe(text)).bind(name).fetch_optional(self.connection()).await?;
        Ok(TenantId(row.ok_or_else(|| missing(name))?.int("id")?))
    }

    /// Delete a tenant that has nothing left but tokens; those go with it.
    pub async fn delete_tenant(&mut self, actor: &Actor, name: &str) -> Result<(), Error> {
        let text = format!(
            "SELECT * FROM tenants WHERE name = $1 AND id > 0 AND deleted_at IS NULL{}",
            self.dialect.for_update()
        );
        let row = sqlx::query(AssertSqlSafe(text)).bind(name).fetch_optional(self.connection()).await?;
        let tenant = to_tenant(&row.ok_or_else(|| missing(name))?)?;
        for (table, things) in [("resources", "resources"), ("resource_types", "resource types")] {
            let text = format!("SELECT 1 FROM {table} WHERE tenant_id = $1 AND deleted_at IS NULL LIMIT 1");
            if sqlx::query(AssertSqlSafe(text)).bind(tenant.id.0).fetch_optional(self.connection()).await?.is_some() {
                return Err(Refusal::InUse { what: format!("tenant {name}"), users: format!("its {things}") }.into());
            }
        }
        self.delete_all_tokens(&Scope { id: tenant.id, name: tenant.name.clone() }, actor).await?;
        let now = self.now.as_microsecond();
        sqlx::query("UPDATE tenants SET deleted_at = $1 WHERE id = $2")
            .bind(now)
            .bind(tenant.id.0)
            .execute(self.connection())
            .await?;
        let seq = self.next_seq()?;
        self.tell_of_tenant(actor, Action::Deleted, seq, Some(&tenant), None)
    }

    /// Tenants are the fleet's affair: their events are the fleet's.
    fn tell_of_tenant(
        &mut self,
        actor: &Actor,
        action: Action,
        seq: EventSeq,
        before: Option<&Tenant>,
        after: Option<&Tenant>,
    ) -> Result<(), Error> {
        let Some(body) = after.or(before) else { return Ok(()) };
        let subject = Subject {
            seq,
            tenant: TenantId::FLEET,
            kind: Kind::Tenant,
            id: body.id.0,
            name: &body.name,
            before,
            after,
        };
        self.tell(actor, action, subject)
    }
}
