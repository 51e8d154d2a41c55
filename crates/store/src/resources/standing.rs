//! Writing down where resources stand: many at once, in one statement.

use std::collections::HashSet;

use jiff::Timestamp;
use model::reconcile::Record;
use model::{
    Action, Actor, Condition, Drift, EventSeq, Failure, Kind, Lifecycle, OperationId, Resource, ResourceId, Status,
    TenantId,
};
use serde::Serialize;
use sqlx::AssertSqlSafe;

use crate::dialect::Cell;
use crate::error::Error;
use crate::events::NewEvent;
use crate::row::Cells;
use crate::rows::{json, list};
use crate::writer::Tx;

/// A row of the statement below. JSON is text here as in the table; what is absent stays as it is.
#[derive(Serialize)]
struct Row<'a> {
    id: i64,
    seen_version: i64,
    lifecycle: &'a str,
    lifecycle_since: Option<i64>,
    status_message: &'a str,
    conditions: String,
    failure: Option<String>,
    failures: i64,
    drift: Option<String>,
    finalizers: String,
    holds: String,
    memory: Option<String>,
    outputs: Option<String>,
    wanted: Option<&'a str>,
    observed_generation: i64,
    begun_generation: i64,
    last_reconcile_time: Option<i64>,
    deletion_requested_at: Option<i64>,
    reconcile_requested_at: Option<i64>,
    next_reconcile_at: Option<i64>,
    operation_id: Option<i64>,
    fencing_token: i64,
    lease_holder: Option<&'a str>,
    lease_until: Option<i64>,
    updated_at: i64,
    resource_version: i64,
    deleted_at: Option<i64>,
}

const COLUMNS: &[(&str, Cell)] = &[
    ("id", Cell::Int),
    ("seen_version", Cell::Int),
    ("lifecycle", Cell::Text),
    ("lifecycle_since", Cell::Int),
    ("status_message", Cell::Text),
    ("conditions", Cell::Text),
    ("failure", Cell::Text),
    ("failures", Cell::Int),
    ("drift", Cell::Text),
    ("finalizers", Cell::Text),
    ("holds", Cell::Text),
    ("memory", Cell::Text),
    ("outputs", Cell::Text),
    ("wanted", Cell::Text),
    ("observed_generation", Cell::Int),
    ("begun_generation", Cell::Int),
    ("last_reconcile_time", Cell::Int),
    ("deletion_requested_at", Cell::Int),
    ("reconcile_requested_at", Cell::Int),
    ("next_reconcile_at", Cell::Int),
    ("operation_id", Cell::Int),
    ("fencing_token", Cell::Int),
    ("lease_holder", Cell::Text),
    ("lease_until", Cell::Int),
    ("updated_at", Cell::Int),
    ("resource_version", Cell::Int),
    ("deleted_at", Cell::Int),
];

/// Kept as they are where the row says nothing.
const SPARSE: &[&str] = &["lifecycle_since", "memory", "outputs"];

/// A held resource, changed.
#[derive(Clone, Copy)]
pub(crate) struct Change<'a> {
    pub before: &'a Resource,
    pub after: &'a Record,
    pub with_memory: bool,
    pub with_outputs: bool,
}

impl Tx {
    /// Write down where held resources stand now.
    pub(crate) async fn write_standing(&mut self, changes: &[Change<'_>]) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        let text = self.update("");
        sqlx::query(AssertSqlSafe(text)).bind(self.rows_of(changes)?).execute(self.connection()).await?;
        for change in changes.iter().filter(|change| change.after.released) {
            self.erase_labels(change.before.id).await?;
        }
        self.keep_alerts(changes).await
    }

    /// The same for resources that are not held: of those that were changed meanwhile, or claimed, nothing is written. Says
    /// which were not.
    pub(crate) async fn write_standing_of_unchanged(
        &mut self,
        changes: &[Change<'_>],
    ) -> Result<HashSet<ResourceId>, Error> {
        if changes.is_empty() {
            return Ok(HashSet::new());
        }
        let text = self.update(
            " AND resources.resource_version = v.seen_version AND resources.fencing_token = v.fencing_token \
             AND resources.deleted_at IS NULL RETURNING resources.id AS id",
        );
        let rows = sqlx::query(AssertSqlSafe(text)).bind(self.rows_of(changes)?).fetch_all(self.connection()).await?;
        let unchanged = rows.iter().map(|row| Ok(ResourceId(row.int("id")?))).collect::<Result<HashSet<_>, Error>>()?;
        let written: Vec<_> = changes.iter().filter(|change| unchanged.contains(&change.before.id)).copied().collect();
        self.keep_alerts(&written).await?;
        Ok(unchanged)
    }

    fn update(&self, condition: &str) -> String {
        let sets: Vec<_> = COLUMNS
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !["id", "seen_version"].contains(name))
            .map(|name| {
                if SPARSE.contains(&name) {
                    format!("{name} = coalesce(v.{name}, resources.{name})")
                } else {
                    format!("{name} = v.{name}")
                }
            })
            .collect();
        let rows = self.dialect.rows(COLUMNS);
        format!("UPDATE resources SET {} FROM {rows} WHERE resources.id = v.id{condition}", sets.join(", "))
    }

    fn rows_of(&self, changes: &[Change<'_>]) -> Result<String, Error> {
        let now = self.now.as_microsecond();
        Ok(list(&changes.iter().map(|change| to_row(change, now)).collect::<Result<Vec<_>, _>>()?)?)
    }

    /// Tell where a resource stands now. Of how it stood before, only what the controllers change is written down: the rest
    /// is as it is after.
    pub(crate) fn tell_of_standing(
        &mut self,
        tenant: TenantId,
        action: Action,
        seq: EventSeq,
        before: &Resource,
        after: &Resource,
    ) -> Result<(), Error> {
        self.emit(NewEvent {
            seq,
            tenant,
            at: self.now,
            kind: Kind::Resource,
            object_id: after.id.0,
            object_name: after.name.clone(),
            action,
            actor: Actor::system().name,
            request_id: None,
            before: Some(json(&Stood::of(before))?),
            after: Some(json(after)?),
        });
        Ok(())
    }

    /// The version that a change of this row leads to.
    pub(crate) fn advance(&mut self, record: &mut Record) -> Result<EventSeq, Error> {
        let seq = self.next_seq()?;
        record.resource.resource_version = seq.0;
        Ok(seq)
    }
}

fn to_row<'a>(change: &Change<'a>, now: i64) -> Result<Row<'a>, Error> {
    let Record { resource, begun_generation, wanted, fencing_token, lease, memory, outputs, released } = change.after;
    let time = |time: Option<jiff::Timestamp>| time.map(|time| time.as_microsecond());
    Ok(Row {
        id: resource.id.0,
        seen_version: change.before.resource_version,
        lifecycle: resource.lifecycle.as_str(),
        lifecycle_since: (change.before.lifecycle != resource.lifecycle).then_some(now),
        status_message: &resource.status_message,
        conditions: json(&resource.conditions)?,
        failure: resource.failure.as_ref().map(json).transpose()?,
        failures: resource.failures,
        drift: resource.drift.as_ref().map(json).transpose()?,
        finalizers: json(&resource.finalizers)?,
        holds: json(&resource.holds)?,
        memory: change.with_memory.then(|| json(memory)).transpose()?,
        outputs: change.with_outputs.then(|| json(outputs)).transpose()?,
        wanted: wanted.map(|reason| reason.as_str()),
        observed_generation: resource.observed_generation,
        begun_generation: *begun_generation,
        last_reconcile_time: time(resource.last_reconcile_time),
        deletion_requested_at: time(resource.deletion_requested_at),
        reconcile_requested_at: time(resource.reconcile_requested_at),
        next_reconcile_at: time(resource.next_reconcile_at),
        operation_id: resource.operation_id.map(|id| id.0),
        fencing_token: *fencing_token,
        lease_holder: lease.as_ref().map(|lease| lease.holder.as_str()),
        lease_until: lease.as_ref().map(|lease| lease.until.as_microsecond()),
        updated_at: resource.updated_at.as_microsecond(),
        resource_version: resource.resource_version,
        deleted_at: released.then_some(now),
    })
}

/// What the controllers change of a resource, as it is shown.
#[derive(Serialize)]
struct Stood<'a> {
    status: Status,
    status_message: &'a str,
    observed_generation: i64,
    updated_at: Timestamp,
    last_reconcile_time: Option<Timestamp>,
    lifecycle: Lifecycle,
    conditions: &'a [Condition],
    resource_version: i64,
    next_reconcile_at: Option<Timestamp>,
    operation_id: Option<OperationId>,
    drift: Option<&'a Drift>,
    failure: Option<&'a Failure>,
    failures: i64,
    holds: &'a [String],
}

impl Stood<'_> {
    fn of(resource: &Resource) -> Stood<'_> {
        Stood {
            status: resource.status,
            status_message: &resource.status_message,
            observed_generation: resource.observed_generation,
            updated_at: resource.updated_at,
            last_reconcile_time: resource.last_reconcile_time,
            lifecycle: resource.lifecycle,
            conditions: &resource.conditions,
            resource_version: resource.resource_version,
            next_reconcile_at: resource.next_reconcile_at,
            operation_id: resource.operation_id,
            drift: resource.drift.as_ref(),
            failure: resource.failure.as_ref(),
            failures: resource.failures,
            holds: &resource.holds,
        }
    }
}
