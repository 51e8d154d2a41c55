//! Secrets as they are kept: sealed. This crate never sees one open.

use jiff::Timestamp;
use model::{Action, Actor, Kind, Scope, SecretInfo, TenantId};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::Error;
use crate::events::Subject;
use crate::page::Page;
use crate::row::Cells;
use crate::rows::json;
use crate::writer::Tx;

/// A secret as it is stored.
#[derive(Debug, Clone)]
pub struct SealedSecret {
    pub id: i64,
    pub tenant: TenantId,
    pub name: String,
    pub sealed: Vec<u8>,
    /// The key that opens it.
    pub key_id: String,
    pub hosts: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct NewSecret {
    pub name: String,
    pub sealed: Vec<u8>,
    pub key_id: String,
    pub hosts: Vec<String>,
}

fn to_info(row: &AnyRow) -> Result<SecretInfo, Error> {
    Ok(SecretInfo {
        id: row.int("id")?,
        name: row.text("name")?,
        hosts: row.json("hosts")?,
        resource_version: row.int("resource_version")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

fn to_sealed(row: &AnyRow) -> Result<SealedSecret, Error> {
    Ok(SealedSecret {
        id: row.int("id")?,
        tenant: TenantId(row.int("tenant_id")?),
        name: row.text("name")?,
        sealed: row.try_get("sealed")?,
        key_id: row.text("key_id")?,
        hosts: row.json("hosts")?,
    })
}

const INFO: &str = "SELECT id, name, hosts, resource_version, created_at, updated_at FROM secrets";
const SEALED: &str = "SELECT id, tenant_id, name, sealed, key_id, hosts FROM secrets";

impl Store {
    pub async fn secret(&self, scope: &Scope, name: &str) -> Result<SecretInfo, Error> {
        let text = format!("{INFO} WHERE tenant_id = $1 AND name = $2");
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(sqlx::AssertSqlSafe(text.clone())).bind(scope.id.0).bind(name).fetch_optional(reader),
                )
            })
            .await?;
        to_info(&row.ok_or_else(|| Error::not_found(format!("secret {name}")))?)
    }

    /// What there is to know of the tenant's secrets, in the order of their ids.
    pub async fn secrets(&self, scope: &Scope, after: i64, limit: usize) -> Result<Page<SecretInfo>, Error> {
        let text = format!("{INFO} WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3");
        let rows = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(sqlx::AssertSqlSafe(text.clone()))
                        .bind(scope.id.0)
                        .bind(after)
                        .bind(limit as i64 + 1)
                        .fetch_all(reader),
                )
            })
            .await?;
        let found = rows.iter().map(to_info).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(found, limit, |secret| secret.id))
    }

    /// One sealed secret of a tenant.
    pub async fn sealed_secret(&self, tenant: TenantId, name: &str) -> Result<Option<SealedSecret>, Error> {
        let text = format!("{SEALED} WHERE tenant_id = $1 AND name = $2");
        let row = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(sqlx::AssertSqlSafe(text.clone())).bind(tenant.0).bind(name).fetch_optional(reader),
                )
            })
            .await?;
        row.as_ref().map(to_sealed).transpose()
    }

    /// Secrets that were not sealed with this key, a few at a time.
    pub async fn secrets_of_other_keys(&self, key_id: &str, limit: usize) -> Result<Vec<SealedSecret>, Error> {
        let text = format!("{SEALED} WHERE key_id < $1 OR key_id > $1 ORDER BY id LIMIT $2");
        let rows = self
            .read(|reader| {
                Box::pin(
                    sqlx::query(sqlx::AssertSqlSafe(text.clone())).bind(key_id).bind(limit as i64).fetch_all(reader),
                )
            })
            .await?;
        rows.iter().map(to_sealed).collect()
    }

    /// Replace what was sealed with an old key, unless the secret has been set anew meanwhile.
    pub async fn reseal(&self, old: SealedSecret, sealed: Vec<u8>, key_id: String) -> Result<(), Error> {
        self.write(0, move |tx| {
            let (old, sealed, key_id) = (old.clone(), sealed.clone(), key_id.clone());
            Box::pin(async move {
                sqlx::query(
                    "UPDATE secrets SET sealed = $1, key_id = $2 WHERE id = $3 AND key_id = $4 AND sealed = $5",
                )
                .bind(sealed)
                .bind(key_id)
                .bind(old.id)
                .bind(old.key_id)
                .bind(old.sealed)
                .execute(tx.connection())
                .await?;
                Ok(())
            })
        })
        .await
    }
}

impl Tx {
    /// Set a secret, whether or not there was one of that name.
    pub async fn put_secret(&mut self, scope: &Scope, actor: &Actor, new: &NewSecret) -> Result<SecretInfo, Error> {
        self.hold_tenant(scope).await?;
        let before = self.find_secret(scope, &new.name).await?;
        let seq = self.next_seq()?;
        let now = self.now;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO secrets (tenant_id, name, sealed, key_id, hosts, resource_version, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (tenant_id, name) DO UPDATE SET sealed = $3, key_id = $4, \
             hosts = $5, resource_version = $6, updated_at = $7 RETURNING id",
        )
        .bind(scope.id.0)
        .bind(&new.name)
        .bind(new.sealed.clone())
        .bind(&new.key_id)
        .bind(json(&new.hosts)?)
        .bind(seq.0)
        .bind(now.as_microsecond())
        .fetch_one(self.connection())
        .await?;
        let created_at: Timestamp = before.as_ref().map_or(now, |before| before.created_at);
        let after = SecretInfo {
            id,
            name: new.name.clone(),
            hosts: new.hosts.clone(),
            resource_version: seq.0,
            created_at,
            updated_at: now,
        };
        let action = if before.is_some() { Action::Updated } else { Action::Created };
        let before = before.as_ref();
        let subject =
            Subject { seq, tenant: scope.id, kind: Kind::Secret, id, name: &new.name, before, after: Some(&after) };
        self.tell(actor, action, subject)?;
        Ok(after)
    }

    pub async fn delete_secret(&mut self, scope: &Scope, actor: &Actor, name: &str) -> Result<(), Error> {
        let found = self.find_secret(scope, name).await?;
        let before = found.ok_or_else(|| Error::not_found(format!("secret {name}")))?;
        let id = before.id;
        sqlx::query("DELETE FROM secrets WHERE id = $1").bind(id).execute(self.connection()).await?;
        let seq = self.next_seq()?;
        let subject =
            Subject { seq, tenant: scope.id, kind: Kind::Secret, id, name, before: Some(&before), after: None };
        self.tell(actor, Action::Deleted, subject)
    }

    /// What is known of a secret, kept so until the commit; nothing where there is none.
    pub async fn find_secret(&mut self, scope: &Scope, name: &str) -> Result<Option<SecretInfo>, Error> {
        let text = format!("{INFO} WHERE tenant_id = $1 AND name = $2{}", self.dialect.for_update());
        let row = sqlx::query(sqlx::AssertSqlSafe(text)).bind(scope.id.0).bind(name);
        let row = row.fetch_optional(self.connection()).await?;
        let Some(row) = row else { return Ok(None) };
        let found = to_info(&row)?;
        self.follow(found.resource_version)?;
        Ok(Some(found))
    }
}
