//! Tokens: found by the public part, proven by a hash of the secret part, which is stored nowhere.

use jiff::Timestamp;
use model::{Action, Actor, EventSeq, Kind, Role, Scope, TenantId, Token, TokenId};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::Store;
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::page::Page;
use crate::row::Cells;
use crate::writer::Tx;

#[derive(Debug, Clone)]
pub struct NewToken {
    pub name: String,
    pub role: Role,
    pub expires_at: Option<Timestamp>,
    /// The public part.
    pub prefix: String,
    /// A digest of the secret part.
    pub hash: Vec<u8>,
}

/// A token as authentication needs it.
#[derive(Debug, Clone)]
pub struct StoredToken {
    pub hash: Vec<u8>,
    pub scope: Scope,
    pub body: Token,
}

fn to_token(row: &AnyRow, tenant: &str) -> Result<Token, Error> {
    Ok(Token {
        id: TokenId(row.int("id")?),
        name: row.text("name")?,
        role: row.word("role", Role::parse)?,
        tenant: tenant.into(),
        created_at: row.time("created_at")?,
        expires_at: row.optional_time("expires_at")?,
        last_used_at: row.optional_time("last_used_at")?,
    })
}

impl Store {
    pub async fn token_by_prefix(&self, prefix: &str) -> Result<Option<StoredToken>, Error> {
        let text = "SELECT tokens.*, tenants.name AS tenant_name FROM tokens JOIN tenants ON tenants.id = tokens.tenant_id \
             WHERE prefix = $1 AND tokens.deleted_at IS NULL";
        let row = self.read(|reader| Box::pin(sqlx::query(text).bind(prefix).fetch_optional(reader))).await?;
        let Some(row) = row else { return Ok(None) };
        let scope = Scope { id: TenantId(row.int("tenant_id")?), name: row.text("tenant_name")? };
        let hash = row.try_get("hash")?;
        let body = to_token(&row, &scope.name)?;
        Ok(Some(StoredToken { hash, scope, body }))
    }

    pub async fn token(&self, scope: &Scope, id: TokenId) -> Result<Token, Error> {
        let text = "SELECT * FROM tokens WHERE id = $1 AND tenant_id = $2 AND deleted_at IS NULL";
        let row =
            self.read(|reader| Box::pin(sqlx::query(text).bind(id.0).bind(scope.id.0).fetch_optional(reader))).await?;
        to_token(&row.ok_or_else(|| Error::not_found(format!("token {id}")))?, &scope.name)
    }

    pub async fn tokens(&self, scope: &Scope, after: i64, limit: usize) -> Result<Page<Token>, Error> {
        let text = "SELECT * FROM tokens WHERE tenant_id = $1 AND id > $2 AND deleted_at IS NULL ORDER BY id LIMIT $3";
        let rows = self
            .read(|reader| {
                Box::pin(sqlx::query(text).bind(scope.id.0).bind(after).bind(limit as i64 + 1).fetch_all(reader))
            })
            .await?;
        let tokens = rows.iter().map(|row| to_token(row, &scope.name)).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(tokens, limit, |token| token.id.0))
    }

    /// Whether anybody could sign in.
    pub async fn has_tokens(&self) -> Result<bool, Error> {
        let text = "SELECT 1 FROM tokens WHERE deleted_at IS NULL AND (expires_at IS NULL OR expires_at > $1) LIMIT 1";
        let now = Timestamp::now().as_microsecond();
        let row = self.read(|reader| Box::pin(sqlx::query(text).bind(now).fetch_optional(reader))).await?;
        Ok(row.is_some())
    }

    /// Whether a token still lets its bearer in.
    pub async fn is_token_good(&self, id: TokenId) -> Result<bool, Error> {
        let text =
            "SELECT 1 FROM tokens WHERE id = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";
        let now = Timestamp::now().as_microsecond();
        let row = self.read(|reader| Box::pin(sqlx::query(text).bind(id.0).bind(now).fetch_optional(reader))).await?;
        Ok(row.is_some())
    }

    /// Note when tokens were last used; many at a time, as nobody needs it to the second.
    pub async fn note_token_use(&self, uses: Vec<(TokenId, Timestamp)>) -> Result<(), Error> {
        self.write(0, move |tx| {
            let uses = uses.clone();
            Box::pin(async move {
                for (id, at) in uses {
                    sqlx::query("UPDATE tokens SET last_used_at = $1 WHERE id = $2")
                        .bind(at.as_microsecond())
                        .bind(id.0)
                        .execute(tx.connection())
                        .await?;
                }
                Ok(())
            })
        })
        .await
    }
}

impl Tx {
    pub async fn create_token(&mut self, scope: &Scope, actor: &Actor, new: &NewToken) -> Result<Token, Error> {
        self.hold_tenant(scope).await?;
        let now = self.now;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO tokens (tenant_id, name, prefix, hash, role, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(scope.id.0)
        .bind(&new.name)
        .bind(&new.prefix)
        .bind(new.hash.clone())
        .bind(new.role.as_str())
        .bind(now.as_microsecond())
        .bind(new.expires_at.map(Timestamp::as_microsecond))
        .fetch_optional(self.connection())
        .await?;
        let id = id.ok_or_else(|| Refusal::Exists { what: format!("token {}", new.name) })?;
        let created = Token {
            id: TokenId(id),
            name: new.name.clone(),
            role: new.role,
            tenant: scope.name.clone(),
            created_at: now,
            expires_at: new.expires_at,
            last_used_at: None,
        };
        let seq = self.next_seq()?;
        self.tell_of_token(scope, actor, Action::Created, seq, None, Some(&created))?;
        Ok(created)
    }

    pub async fn delete_token(&mut self, scope: &Scope, actor: &Actor, id: TokenId) -> Result<(), Error> {
        let text = format!(
            "SELECT * FROM tokens WHERE id = $1 AND tenant_id = $2 AND deleted_at IS NULL{}",
            self.dialect.for_update()
        );
        let row =
            sqlx::query(AssertSqlSafe(text)).bind(id.0).bind(scope.id.0).fetch_optional(self.connection()).await?;
        let token = to_token(&row.ok_or_else(|| Error::not_found(format!("token {id}")))?, &scope.name)?;
        self.bury_token(scope, actor, &token).await
    }

    /// With their tenant all its tokens go, each as if it had been revoked.
    pub(crate) async fn delete_all_tokens(&mut self, scope: &Scope, actor: &Actor) -> Result<(), Error> {
        let rows = sqlx::query("SELECT * FROM tokens WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id")
            .bind(scope.id.0)
            .fetch_all(self.connection())
            .await?;
        for row in &rows {
            self.bury_token(scope, actor, &to_token(row, &scope.name)?).await?;
        }
        Ok(())
    }

    async fn bury_token(&mut self, scope: &Scope, actor: &Actor, token: &Token) -> Result<(), Error> {
        let now = self.now.as_microsecond();
        sqlx::query("UPDATE tokens SET deleted_at = $1 WHERE id = $2")
            .bind(now)
            .bind(token.id.0)
            .execute(self.connection())
            .await?;
        let seq = self.next_seq()?;
        self.tell_of_token(scope, actor, Action::Deleted, seq, Some(token), None)
    }

    fn tell_of_token(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        action: Action,
        seq: EventSeq,
        before: Option<&Token>,
        after: Option<&Token>,
    ) -> Result<(), Error> {
        let Some(body) = after.or(before) else { return Ok(()) };
        let subject =
            Subject { seq, tenant: scope.id, kind: Kind::Token, id: body.id.0, name: &body.name, before, after };
        self.tell(actor, action, subject)
    }
}
