//! Watch streams: every change after a place in the sequence, once, in order, for as long as the client listens. A client
//! that comes back with the last `seq` it saw goes on there, whichever server it meets.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use model::{EventSeq, Kind, Scope, TokenId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Error, EventFilter, EventPage};
use tokio::sync::watch::Receiver;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;

/// Events read at a time.
const BATCH: usize = 200;
/// A quiet stream says so this often: the client sees that it lives, and gets a later place to resume from.
const BOOKMARK_EVERY: Duration = Duration::from_secs(10);
/// How soon to look again while another's transaction holds events back.
const HELD_BACK: Duration = Duration::from_millis(20);
/// A stream ends after this by itself, so that clients spread anew over servers; they come back with `since`.
const LONGEST: Duration = Duration::from_secs(3600);

/// One line of a watch stream.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WatchEvent {
    #[serde(rename = "type")]
    pub change: Change,
    /// Resume from here: `?watch=true&since=SEQ`. Null for what was there before the watch began.
    #[schema(required)]
    pub seq: Option<EventSeq>,
    #[schema(required)]
    pub time: Option<Timestamp>,
    /// What kind of object it is.
    #[schema(required)]
    pub kind: Option<Kind>,
    /// Who changed it.
    #[schema(required)]
    pub actor: Option<String>,
    /// The object after the change; before it, where it was deleted or no longer matches.
    #[schema(value_type = Option<Object>, required)]
    pub object: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Change {
    Added,
    Modified,
    Deleted,
    /// Nothing happened; everything up to `seq` has been sent.
    Bookmark,
}

/// What a stream shows: which events, which objects, and what was there before.
pub trait Source: Send + Sync + 'static {
    fn filter(&self, scope: &Scope) -> EventFilter;
    fn matches(&self, object: &Value) -> bool;
    /// A page of what exists, and the cursor of the next.
    fn existing(
        &self,
        app: &App,
        scope: &Scope,
        after: i64,
    ) -> impl Future<Output = Result<(Vec<Value>, Option<i64>), Error>> + Send;
}

/// Where and how long to watch.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    /// From the beginning of what exists, where absent.
    pub seq: Option<EventSeq>,
    pub timeout: Option<Duration>,
}

/// Longest stream a client may ask for.
const MAX_TIMEOUT: u32 = 3600;

impl Since {
    pub fn parse(since: Option<i64>, timeout_seconds: Option<u32>) -> Result<Since, Problem> {
        if since.is_some_and(|seq| seq < 0) {
            return Err(Problem::bad_request("since: expected a seq from an earlier answer, 0 for the very beginning"));
        }
        if timeout_seconds.is_some_and(|seconds| seconds > MAX_TIMEOUT) {
            return Err(Problem::bad_request(format!("timeout_seconds: expected 0 to {MAX_TIMEOUT}")));
        }
        let timeout = timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        Ok(Since { seq: since.map(EventSeq), timeout })
    }
}

/// What differs on the wire.
#[derive(Clone, Copy)]
enum Framing {
    Lines,
    ServerSentEvents,
}

pub async fn stream<S: Source>(
    app: &Arc<App>,
    caller: Caller,
    source: S,
    since: Since,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let since = Since { seq: last_event_id(headers)?.or(since.seq), ..since };
    if let Some(seq) = since.seq {
        let newest = app.store.horizon().await?;
        if seq > newest {
            return Err(Problem::bad_request(format!(
                "since: {seq} is beyond {newest}, the newest there is: it comes from another database, or from before a restore; list anew and watch from there"
            )));
        }
    }
    let Caller { scope, token, .. } = caller;
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
    let framing = if accept.contains("text/event-stream") { Framing::ServerSentEvents } else { Framing::Lines };
    let watcher = Watcher {
        // Subscribe before the first query.
        bell: app.store.bell().listen(),
        draining: app.draining(),
        filter: source.filter(&scope),
        phase: since.seq.map_or(Phase::Start, |seq| Phase::Follow { seq }),
        lines: VecDeque::new(),
        deadline: Instant::now() + since.timeout.unwrap_or(LONGEST).min(LONGEST),
        token,
        next_check: Instant::now() + BOOKMARK_EVERY,
        framing,
        scope,
        source,
        _open: Open::new(app.clone()),
        app: app.clone(),
    };
    let lines = futures::stream::unfold(watcher, |mut watcher| async move {
        let line = watcher.next().await?;
        Some((Ok::<_, std::convert::Infallible>(line), watcher))
    });
    let kind = match framing {
        Framing::Lines => "application/x-ndjson",
        Framing::ServerSentEvents => "text/event-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// Where a browser that reconnects left off.
fn last_event_id(headers: &HeaderMap) -> Result<Option<EventSeq>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let seq = value.to_str().ok().and_then(|text| text.parse().ok()).filter(|seq| *seq >= 0);
    seq.map(|seq| Some(EventSeq(seq))).ok_or_else(|| Problem::bad_request("Last-Event-ID: expected a seq"))
}

enum Phase {
    Start,
    Existing { after: i64, seq: EventSeq },
    Follow { seq: EventSeq },
    End,
}

struct Watcher<S> {
    app: Arc<App>,
    scope: Scope,
    source: S,
    filter: EventFilter,
    phase: Phase,
    lines: VecDeque<Bytes>,
    bell: Receiver<u64>,
    draining: Receiver<bool>,
    deadline: Instant,
    token: Option<TokenId>,
    next_check: Instant,
    framing: Framing,
    _open: Open,
}

impl<S: Source> Watcher<S> {
    /// The next line, whenever it comes; none at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Some(line);
            }
            if matches!(self.phase, Phase::End) || *self.draining.borrow() {
                return None;
            }
            let advanced = match self.is_still_welcome().await {
                Ok(true) => self.advance().await,
                Ok(false) => return None,
                Err(error) => Err(error),
            };
            if advanced.is_err() {
                // The database is away. The client need not know: the stream goes on when it is back.
                if Instant::now() >= self.deadline {
                    return None;
                }
                self.rest(Duration::from_secs(1)).await;
            }
        }
    }

    /// A token that was revoked or ran out ends the stream it opened.
    async fn is_still_welcome(&mut self) -> Result<bool, Error> {
        let Some(token) = self.token.filter(|_| Instant::now() >= self.next_check) else { return Ok(true) };
        self.next_check = Instant::now() + BOOKMARK_EVERY;
        self.app.store.is_token_good(token).await
    }

    async fn advance(&mut self) -> Result<(), Error> {
        match self.phase {
            Phase::Start => {
                // First the place, then the objects: what changes in between is told again, never missed.
                let seq = self.app.store.horizon().await?;
                self.phase = Phase::Existing { after: 0, seq };
            }
            Phase::Existing { after, seq } => {
                let (objects, next) = self.source.existing(&self.app, &self.scope, after).await?;
                let kind = self.filter.kinds.first().copied();
                for object in objects {
                    let (change, object) = (Change::Added, Some(object));
                    self.send(WatchEvent { change, seq: None, time: None, kind, actor: None, object });
                }
                self.phase = match next {
                    Some(after) => Phase::Existing { after, seq },
                    None => {
                        self.bookmark(seq);
                        Phase::Follow { seq }
                    }
                };
            }
            Phase::Follow { seq } => self.follow(seq).await?,
            Phase::End => {}
        }
        Ok(())
    }

    async fn follow(&mut self, seq: EventSeq) -> Result<(), Error> {
        self.bell.borrow_and_update();
        let EventPage { events, read_to, more, held_back } = self.app.store.events(&self.filter, seq, BATCH).await?;
        self.phase = Phase::Follow { seq: read_to };
        for event in events {
            let was = event.before.filter(|object| self.source.matches(object));
            let is = event.after.filter(|object| self.source.matches(object));
            let (change, object) = match (was, is) {
                (None, None) => continue,
                (None, Some(is)) => (Change::Added, is),
                (Some(_), Some(is)) => (Change::Modified, is),
                (Some(was), None) => (Change::Deleted, was),
            };
            self.send(WatchEvent {
                change,
                seq: Some(event.seq),
                time: Some(event.time),
                kind: Some(event.kind),
                actor: Some(event.actor),
                object: Some(object),
            });
        }
        if more {
            return Ok(());
        }
        // Told all there is: now it may end. A stream that always has more to tell is behind, not done.
        if Instant::now() >= self.deadline {
            self.bookmark(read_to);
            self.phase = Phase::End;
        } else if self.lines.is_empty() {
            self.rest(if held_back { HELD_BACK } else { BOOKMARK_EVERY }).await;
        }
        Ok(())
    }

    /// Wait for the bell, at most this long; a long silence is worth a bookmark.
    async fn rest(&mut self, longest: Duration) {
        let until = (Instant::now() + longest).min(self.deadline);
        tokio::select! {
            _ = self.bell.changed() => {}
            _ = self.draining.changed() => {}
            () = tokio::time::sleep_until(until) => {
                if let (Phase::Follow { seq }, true) = (&self.phase, longest >= BOOKMARK_EVERY) {
                    self.bookmark(*seq);
                }
            }
        }
    }

    fn bookmark(&mut self, seq: EventSeq) {
        let time = Timestamp::now().round(jiff::Unit::Microsecond).ok();
        let change = Change::Bookmark;
        self.send(WatchEvent { change, seq: Some(seq), time, kind: None, actor: None, object: None });
    }

    fn send(&mut self, event: WatchEvent) {
        let Ok(json) = serde_json::to_string(&event) else { return };
        let line = match (self.framing, event.seq) {
            (Framing::Lines, _) => format!("{json}\n"),
            (Framing::ServerSentEvents, Some(seq)) => format!("id: {seq}\ndata: {json}\n\n"),
            (Framing::ServerSentEvents, None) => format!("data: {json}\n\n"),
        };
        self.lines.push_back(line.into());
    }
}

/// Counts open streams.
struct Open(Arc<App>);

impl Open {
    fn new(app: Arc<App>) -> Open {
        app.metrics.watchers.inc();
        Open(app)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.metrics.watchers.dec();
    }
}
