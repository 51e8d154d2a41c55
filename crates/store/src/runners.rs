//! Enrolled runners: found by the public part of their token, proven by a hash of the secret part, which is stored nowhere.
//! Whose jobs they may do is decided here, by the rows of their enrolment; the runner inside of a server is none of these, and
//! does whatever asks for no labels.

use jiff::Timestamp;
use model::{Action, Actor, Kind, Labels, Runner, RunnerId, TenantId};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::Store;
use crate::dialect::Cell;
use crate::error::{Error, Refusal};
use crate::events::Subject;
use crate::page::Page;
use crate::row::Cells;
use crate::rows::list;
use crate::writer::Tx;

#[derive(Debug, Clone)]
pub struct NewRunner {
    pub name: String,
    /// The names of those it serves.
    pub tenants: Vec<String>,
    pub labels: Labels,
    /// The public part of its token.
    pub prefix: String,
    /// A digest of the secret part.
    pub hash: Vec<u8>,
}

/// A runner as authentication needs it.
#[derive(Debug, Clone)]
pub struct StoredRunner {
    pub id: RunnerId,
    pub name: String,
    pub hash: Vec<u8>,
}

/// What runner `$3` may do: jobs of its tenants which ask for no label that it does not have.
pub(crate) const MAY_DO: &str = "($3 = 0 OR tenant_id IN (SELECT tenant_id FROM runner_tenants WHERE runner_id = $3)) \
    AND NOT EXISTS (SELECT 1 FROM job_labels asked WHERE asked.job_id = jobs.id AND NOT EXISTS ( \
    SELECT 1 FROM runner_labels had WHERE had.runner_id = $3 AND had.key = asked.key AND had.value = asked.value))";

const COLUMNS: &str = "id, name, created_at, last_seen_at, \
    (SELECT count(*) FROM jobs WHERE jobs.runner = runners.name AND state = 'running') AS jobs";

/// What is fixed for the runners of a range of ids.
const TENANTS: &str = "SELECT runner_id, 'tenant' AS what, name, '' AS value FROM runner_tenants JOIN tenants ON tenants.id = tenant_id \
    WHERE runner_id BETWEEN $1 AND $2 AND tenants.deleted_at IS NULL ORDER BY runner_id, name";
const LABELS: &str =
    "SELECT runner_id, 'label' AS what, key AS name, value FROM runner_labels WHERE runner_id BETWEEN $1 AND $2";

impl Store {
    pub async fn runner_by_prefix(&self, prefix: &str) -> Result<Option<StoredRunner>, Error> {
        let text = "SELECT id, name, hash FROM runners WHERE prefix = $1 AND deleted_at IS NULL";
        let row = self.read(|reader| Box::pin(sqlx::query(text).bind(prefix).fetch_optional(reader))).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(StoredRunner { id: RunnerId(row.int("id")?), name: row.text("name")?, hash: row.try_get("hash")? }))
    }

    pub async fn runner(&self, name: &str) -> Result<Runner, Error> {
        let text = format!("SELECT {COLUMNS} FROM runners WHERE name = $1 AND deleted_at IS NULL");
        let row = self
            .read(|reader| Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(name).fetch_optional(reader)))
            .await?;
        let found = self.with_what_is_fixed(&[row.ok_or_else(|| missing(name))?]).await?;
        found.into_iter().next().ok_or_else(|| missing(name))
    }

    pub async fn runners(&self, after: i64, limit: usize) -> Result<Page<Runner>, Error> {
        let text = format!("SELECT {COLUMNS} FROM runners WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2");
        let rows = self
            .read(|reader| {
                Box::pin(sqlx::query(AssertSqlSafe(text.clone())).bind(after).bind(limit as i64 + 1).fetch_all(reader))
            })
            .await?;
        Ok(Page::cut(self.with_what_is_fixed(&rows).await?, limit, |runner| runner.id.0))
    }

    /// Runners in the order of their ids, with their tenants and labels.
    async fn with_what_is_fixed(&self, rows: &[AnyRow]) -> Result<Vec<Runner>, Error> {
        let mut runners = rows.iter().map(to_runner).collect::<Result<Vec<_>, _>>()?;
        let (Some(first), Some(last)) = (runners.first(), runners.last()) else { return Ok(runners) };
        let (first, last) = (first.id.0, last.id.0);
        for text in [TENANTS, LABELS] {
            let found = self.read(|reader| Box::pin(sqlx::query(text).bind(first).bind(last).fetch_all(reader)));
            fix(&mut runners, &found.await?)?;
        }
        Ok(runners)
    }

    /// Note when runners were last heard of; many at a time, as nobody needs it to the second.
    pub async fn note_runners_seen(&self, seen: Vec<(RunnerId, Timestamp)>) -> Result<(), Error> {
        self.write(0, move |tx| {
            let seen = seen.clone();
            Box::pin(async move {
                for (id, at) in seen {
                    sqlx::query("UPDATE runners SET last_seen_at = $1 WHERE id = $2")
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
    /// Runners are the fleet's affair, as tenants are.
    pub async fn create_runner(&mut self, actor: &Actor, new: &NewRunner) -> Result<Runner, Error> {
        let mut tenants = Vec::new();
        for name in &new.tenants {
            tenants.push(self.hold_tenant_by_name(name).await?);
        }
        let now = self.now;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO runners (name, prefix, hash, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(&new.name)
        .bind(&new.prefix)
        .bind(new.hash.clone())
        .bind(now.as_microsecond())
        .fetch_optional(self.connection())
        .await?;
        let id = id.ok_or_else(|| Refusal::Exists { what: format!("runner {}", new.name) })?;
        for tenant in tenants {
            sqlx::query("INSERT INTO runner_tenants (runner_id, tenant_id) VALUES ($1, $2)")
                .bind(id)
                .bind(tenant.0)
                .execute(self.connection())
                .await?;
        }
        for (key, value) in &new.labels {
            sqlx::query("INSERT INTO runner_labels (runner_id, key, value) VALUES ($1, $2, $3)")
                .bind(id)
                .bind(key)
                .bind(value)
                .execute(self.connection())
                .await?;
        }
        let created = Runner {
            id: RunnerId(id),
            name: new.name.clone(),
            tenants: new.tenants.clone(),
            labels: new.labels.clone(),
            jobs: 0,
            created_at: now,
            last_seen_at: None,
        };
        self.tell_of_runner(actor, Action::Created, None, Some(&created))?;
        Ok(created)
    }

    /// From now on its token opens nothing. Its jobs go to others when their leases end.
    pub async fn delete_runner(&mut self, actor: &Actor, name: &str) -> Result<(), Error> {
        let text = format!(
            "SELECT {COLUMNS} FROM runners WHERE name = $1 AND deleted_at IS NULL{}",
            self.dialect.for_update()
        );
        let row = sqlx::query(AssertSqlSafe(text)).bind(name).fetch_optional(self.connection()).await?;
        let mut runner = [to_runner(&row.ok_or_else(|| missing(name))?)?];
        let id = runner[0].id.0;
        for text in [TENANTS, LABELS] {
            fix(&mut runner, &sqlx::query(text).bind(id).bind(id).fetch_all(self.connection()).await?)?;
        }
        sqlx::query("UPDATE runners SET deleted_at = $1 WHERE id = $2")
            .bind(self.now.as_microsecond())
            .bind(id)
            .execute(self.connection())
            .await?;
        self.tell_of_runner(actor, Action::Deleted, Some(&runner[0]), None)
    }

    fn tell_of_runner(
        &mut self,
        actor: &Actor,
        action: Action,
        before: Option<&Runner>,
        after: Option<&Runner>,
    ) -> Result<(), Error> {
        let Some(body) = after.or(before) else { return Ok(()) };
        let (seq, tenant, kind) = (self.next_seq()?, TenantId::FLEET, Kind::Runner);
        self.tell(actor, action, Subject { seq, tenant, kind, id: body.id.0, name: &body.name, before, after })
    }

    /// What these jobs ask of their runners.
    pub(crate) async fn insert_job_labels(&mut self, labels: &[(i64, &Labels)]) -> Result<(), Error> {
        let rows: Vec<_> = labels
            .iter()
            .flat_map(|(job, labels)| labels.iter().map(move |label| (job, label)))
            .map(|(job, (key, value))| serde_json::json!({ "job_id": job, "key": key, "value": value }))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let columns = [("job_id", Cell::Int), ("key", Cell::Text), ("value", Cell::Text)];
        let text = format!(
            "INSERT INTO job_labels (job_id, key, value) SELECT v.job_id, v.key, v.value FROM {} WHERE true",
            self.dialect.rows(&columns)
        );
        sqlx::query(AssertSqlSafe(text)).bind(list(&rows)?).execute(self.connection()).await?;
        Ok(())
    }
}

fn to_runner(row: &AnyRow) -> Result<Runner, Error> {
    Ok(Runner {
        id: RunnerId(row.int("id")?),
        name: row.text("name")?,
        tenants: Vec::new(),
        labels: Labels::new(),
        jobs: row.int("jobs")?,
        created_at: row.time("created_at")?,
        last_seen_at: row.optional_time("last_seen_at")?,
    })
}

fn fix(runners: &mut [Runner], rows: &[AnyRow]) -> Result<(), Error> {
    for row in rows {
        let id = RunnerId(row.int("runner_id")?);
        let Some(runner) = runners.iter_mut().find(|runner| runner.id == id) else { continue };
        match row.text("what")?.as_str() {
            "tenant" => runner.tenants.push(row.text("name")?),
            _ => drop(runner.labels.insert(row.text("name")?, row.text("value")?)),
        }
    }
    Ok(())
}

fn missing(name: &str) -> Error {
    Error::not_found(format!("runner {name}"))
}
