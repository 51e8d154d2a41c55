//! The append-only sequence of changes: what watch, audit and wake-ups read.
//!
//! A reader that has seen event N never later finds a new one at or below N. `dialect` says how that is kept without
//! making writers wait for each other.

use jiff::Timestamp;
use model::{Action, Actor, Event, EventSeq, Kind, Scope, TenantId};
use serde::Serialize;
use serde_json::Value;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::Error;
use crate::row::Cells;
use crate::select::Select;
use crate::writer::Tx;

/// An event about to be appended.
pub(crate) struct NewEvent {
    pub seq: EventSeq,
    pub tenant: TenantId,
    pub at: Timestamp,
    pub kind: Kind,
    pub object_id: i64,
    pub object_name: String,
    pub action: Action,
    pub actor: String,
    pub request_id: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The object that an event tells of.
pub(crate) struct Subject<'a, T> {
    pub seq: EventSeq,
    pub tenant: TenantId,
    pub kind: Kind,
    pub id: i64,
    pub name: &'a str,
    pub before: Option<&'a T>,
    pub after: Option<&'a T>,
}

impl Tx {
    pub(crate) fn tell<T: Serialize>(
        &mut self,
        actor: &Actor,
        action: Action,
        subject: Subject<'_, T>,
    ) -> Result<(), Error> {
        let event = NewEvent {
            seq: subject.seq,
            tenant: subject.tenant,
            at: self.now,
            kind: subject.kind,
            object_id: subject.id,
            object_name: subject.name.into(),
            action,
            actor: actor.name.clone(),
            request_id: actor.request_id.clone(),
            before: subject.before.map(to_text).transpose()?,
            after: subject.after.map(to_text).transpose()?,
        };
        self.emit(event);
        Ok(())
    }
}

fn to_text<T: Serialize>(object: &T) -> Result<String, Error> {
    serde_json::to_string(object)
        .map_err(|error| Error::Corrupt { what: format!("an object that is no JSON: {error}") })
}

/// Rows per INSERT: few different texts, so that each is prepared once.
const CHUNKS: [usize; 4] = [64, 16, 4, 1];

/// Write all events of a transaction, in few statements.
pub(crate) async fn append(tx: &mut Tx) -> Result<(), sqlx::Error> {
    let events = std::mem::take(&mut tx.events);
    let mut rest = events.as_slice();
    for chunk in CHUNKS {
        while rest.len() >= chunk {
            let (rows, after) = rest.split_at(chunk);
            insert(tx, rows).await?;
            rest = after;
        }
    }
    Ok(())
}

async fn insert(tx: &mut Tx, rows: &[NewEvent]) -> Result<(), sqlx::Error> {
    let mut insert = Select::of_many(
        "INSERT INTO events (seq, tenant_id, at, kind, object_id, object_name, action, actor, request_id, before, after) VALUES ",
        tx.dialect,
    );
    for (at, event) in rows.iter().enumerate() {
        insert.with(if at == 0 { "(" } else { ", (" }, event.seq.0)?;
        insert.with(", ", event.tenant.0)?;
        insert.with(", ", event.at.as_microsecond())?;
        insert.with(", ", event.kind.as_str())?;
        insert.with(", ", event.object_id)?;
        insert.with(", ", event.object_name.as_str())?;
        insert.with(", ", event.action.as_str())?;
        insert.with(", ", event.actor.as_str())?;
        insert.with(", ", event.request_id.as_deref())?;
        insert.with(", ", event.before.as_deref())?;
        insert.with(", ", event.after.as_deref())?;
        insert.push(")");
    }
    insert.execute(tx.connection()).await
}

/// Which events to read.
#[derive(Debug, Clone)]
pub struct EventFilter {
    pub scope: Scope,
    pub kinds: Vec<Kind>,
    pub object_id: Option<i64>,
    /// Types of the fleet are every tenant's to see.
    pub with_fleet: bool,
}

#[derive(Debug, Clone)]
pub struct EventPage {
    pub events: Vec<Event>,
    /// All events up to here have been read or filtered out: the place to go on from.
    pub read_to: EventSeq,
    /// There is more to read at once.
    pub more: bool,
    /// A transaction is under way that holds later events back: look again soon, nobody will ring for it.
    pub held_back: bool,
}

impl Store {
    /// The place in the sequence up to which everything has happened.
    pub async fn horizon(&self) -> Result<EventSeq, Error> {
        let row = self.read(|reader| Box::pin(sqlx::query(self.dialect().horizon()).fetch_one(reader))).await?;
        Ok(EventSeq(row.int("horizon")?))
    }

    /// The events after `since`, in order.
    pub async fn events(&self, filter: &EventFilter, since: EventSeq, limit: usize) -> Result<EventPage, Error> {
        let row = self.read(|reader| Box::pin(sqlx::query(self.dialect().horizon()).fetch_one(reader))).await?;
        let (horizon, newest) = (row.int("horizon")?, row.int("newest")?);
        let mut events = Vec::new();
        let parts = parts(filter);
        if newest > since.0 && !parts.is_empty() {
            let rows = self
                .read(|reader| {
                    let select = select(&parts, filter.object_id, since.0, horizon, limit);
                    Box::pin(async move { select?.fetch_all(reader).await })
                })
                .await?;
            for row in &rows {
                events.push(to_event(row, &filter.scope)?);
            }
        }
        let more = events.len() == limit;
        // An event below the horizon may be newer than the newest: its transaction ended between the two statements.
        let last = events.last().map_or(since, |event| event.seq);
        let read_to = if more { last } else { last.max(EventSeq(horizon.min(newest))) };
        Ok(EventPage { events, read_to, more, held_back: newest > horizon })
    }
}

/// Whose events of which kind a filter asks for. Of the fleet's, only those of types are every tenant's to see.
fn parts(filter: &EventFilter) -> Vec<(TenantId, Kind)> {
    let mut parts: Vec<_> = filter.kinds.iter().map(|kind| (filter.scope.id, *kind)).collect();
    let fleets = (TenantId::FLEET, Kind::ResourceType);
    if filter.with_fleet && filter.kinds.contains(&fleets.1) && !parts.contains(&fleets) {
        parts.push(fleets);
    }
    parts
}

/// One index range for each kind and tenant, merged: the cost is what is read, not what there is.
fn select(
    parts: &[(TenantId, Kind)],
    object_id: Option<i64>,
    since: i64,
    horizon: i64,
    limit: usize,
) -> Result<Select, sqlx::Error> {
    let mut select = Select::new("SELECT * FROM (");
    for (at, (tenant, kind)) in parts.iter().enumerate() {
        select.push(if at == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
        select.with("SELECT * FROM events WHERE tenant_id = ", tenant.0)?;
        select.with(" AND kind = ", kind.as_str())?;
        if let Some(id) = object_id {
            select.with(" AND object_id = ", id)?;
        }
        select.with(" AND seq > ", since)?;
        select.with(" AND seq <= ", horizon)?;
        select.with(" ORDER BY seq LIMIT ", limit as i64)?;
        select.push(") AS part");
    }
    select.with(") AS merged ORDER BY seq LIMIT ", limit as i64)?;
    Ok(select)
}

fn to_event(row: &AnyRow, scope: &Scope) -> Result<Event, Error> {
    let after: Option<Value> = row.optional_json("after")?;
    Ok(Event {
        seq: EventSeq(row.int("seq")?),
        time: row.time("at")?,
        tenant: scope.name_of(TenantId(row.int("tenant_id")?)).into(),
        kind: row.word("kind", Kind::parse)?,
        object_id: row.int("object_id")?,
        object_name: row.text("object_name")?,
        action: row.word("action", Action::parse)?,
        actor: row.text("actor")?,
        request_id: row.optional_text("request_id")?,
        before: before_of(row.optional_json("before")?, after.as_ref()),
        after,
    })
}

/// An object as it was. Where the controllers changed it, only what they change is written down; the rest was as it is
/// after.
fn before_of(written: Option<Value>, after: Option<&Value>) -> Option<Value> {
    let (Some(Value::Object(changed)), Some(Value::Object(after))) = (&written, after) else { return written };
    if changed.contains_key("id") {
        return written;
    }
    let mut whole = after.clone();
    whole.extend(changed.clone());
    Some(Value::Object(whole))
}
