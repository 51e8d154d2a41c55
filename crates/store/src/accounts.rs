//! Cloud accounts of tenants. Their credentials are secrets, by name.

use model::{Account, Action, Actor, Credentials, Kind, Provider, Scope, TenantId};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::page::Page;
use crate::row::Cells;
use crate::rows::json;
use crate::writer::Tx;

#[derive(Debug, Clone)]
pub struct NewAccount {
    pub name: String,
    pub provider: Provider,
    pub credentials: Credentials,
    pub region: Option<String>,
}

const COLUMNS: &str = "id, name, provider, credentials, region, resource_version, created_at, updated_at";

fn to_account(row: &AnyRow) -> Result<Account, Error> {
    Ok(Account {
        id: row.int("id")?,
        name: row.text("name")?,
        provider: row.word("provider", Provider::parse)?,
        credentials: row.json("credentials")?,
        region: row.optional_text("region")?,
        resource_version: row.int("resource_version")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

fn missing(name: &str) -> Error {
    Error::not_found(format!("account {name}"))
}

impl Store {
    pub async fn account(&self, scope: &Scope, name: &str) -> Result<Account, Error> {
        self.account_of(scope.id, name).await?.ok_or_else(|| missing(name))
    }

    /// An account of a tenant, if it has one of that name.
    pub async fn account_of(&self, tenant: TenantId, name: &str) -> Result<Option<Account>, Error> {
        let text = format!("SELECT {COLUMNS} FROM accounts WHERE tenant_id = $1 AND name = $2");
        let row = self
            .read(|reader| {
                Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(tenant.0).bind(name).fetch_optional(reader))
            })
            .await?;
        row.as_ref().map(to_account).transpose()
    }

    /// The tenant's accounts, in the order of their ids.
    pub async fn accounts(&self, scope: &Scope, after: i64, limit: usize) -> Result<Page<Account>, Error> {
        let text = format!("SELECT {COLUMNS} FROM accounts WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3");
        let rows = self
            .read(|reader| {
                let query = sqlx::query(AssertSqlSafe(text.clone())).bind(scope.id.0).bind(after);
                Box::pin(query.bind(limit as i64 + 1).fetch_all(reader))
            })
            .await?;
        let found = rows.iter().map(to_account).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(found, limit, |account| account.id))
    }
}

impl Tx {
    pub async fn create_account(&mut self, scope: &Scope, actor: &Actor, new: &NewAccount) -> Result<Account, Error> {
        self.hold_tenant(scope).await?;
        let seq = self.next_seq()?;
        let text = format!(
            "INSERT INTO accounts (tenant_id, name, provider, credentials, region, resource_version, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (tenant_id, name) DO NOTHING RETURNING {COLUMNS}"
        );
        let row = sqlx::query(AssertSqlSafe(text))
            .bind(scope.id.0)
            .bind(&new.name)
            .bind(new.provider.as_str())
            .bind(json(&new.credentials)?)
            .bind(&new.region)
            .bind(seq.0)
            .bind(self.now.as_microsecond())
            .fetch_optional(self.connection())
            .await?;
        let Some(row) = row else { return Err(Refusal::Exists { what: format!("account {}", new.name) }.into()) };
        let account = to_account(&row)?;
        let (id, name) = (account.id, &account.name);
        let after = Some(&account);
        let subject = Subject { seq, tenant: scope.id, kind: Kind::Account, id, name, before: None, after };
        self.tell(actor, Action::Created, subject)?;
        Ok(account)
    }

    /// What is known of an account, kept so until the commit.
    pub async fn hold_account(&mut self, scope: &Scope, name: &str) -> Result<Account, Error> {
        let text =
            format!("SELECT {COLUMNS} FROM accounts WHERE tenant_id = $1 AND name = $2{}", self.dialect.for_update());
        let row =
            sqlx::query(AssertSqlSafe(text)).bind(scope.id.0).bind(name).fetch_optional(self.connection()).await?;
        let account = to_account(&row.ok_or_else(|| missing(name))?)?;
        self.follow(account.resource_version)?;
        Ok(account)
    }

    /// Delete a held account that nothing names any more.
    pub async fn delete_account(&mut self, scope: &Scope, actor: &Actor, held: &Account) -> Result<(), Error> {
        let names = self.dialect.field("plugin_config", "account");
        // A fleet's type may name the accounts of its users.
        let text = format!(
            "SELECT 'resource ' || resource_type_name || '/' || name AS what FROM resources \
             WHERE tenant_id = $1 AND deleted_at IS NULL AND {names} = $2 \
             UNION ALL SELECT 'resource type ' || name || '/' || version AS what FROM resource_types \
             WHERE tenant_id IN ($1, 0) AND deleted_at IS NULL AND {names} = $2 LIMIT 1"
        );
        let user: Option<String> = sqlx::query_scalar(AssertSqlSafe(text))
            .bind(scope.id.0)
            .bind(&held.name)
            .fetch_optional(self.connection())
            .await?;
        if let Some(users) = user {
            return Err(Refusal::InUse { what: format!("account {}", held.name), users }.into());
        }
        sqlx::query("DELETE FROM accounts WHERE id = $1").bind(held.id).execute(self.connection()).await?;
        let (seq, id, name) = (self.next_seq()?, held.id, &held.name);
        let before = Some(held);
        let subject = Subject { seq, tenant: scope.id, kind: Kind::Account, id, name, before, after: None };
        self.tell(actor, Action::Deleted, subject)
    }
}
