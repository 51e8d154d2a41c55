//! Group commit. All writes of a process go to one queue; what has arrived while a commit was under way makes up the
//! next group, and each group is one transaction. A write is acknowledged after its group is on disk, never before.
//! SQLite has one writer; on PostgreSQL a few scribes take turns at the queue, so that one's round trips fill another's
//! wait for the disk.
//!
//! A write decides before it changes anything: where it returns a refusal it has changed nothing, so that the rest of
//! its group can be committed. Where the database itself fails, the group is rolled back and its writes are tried
//! one by one, so that none suffers for another.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use model::{Actor, EventSeq, Resource, Scope};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, Row};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tracing::{error, warn};

use crate::Store;
use crate::bell::Bell;
use crate::clock::Clock;
use crate::connect::is_lost;
use crate::dialect::{Dialect, EVENTS_PER_TRANSACTION};
use crate::error::Error;
use crate::events::NewEvent;
use crate::resources::{Creation, Made, NewResource};

/// Enough to make the disk's share of a write small, few enough that the first of them does not wait long.
const MAX_GROUP: usize = 128;
/// How many writes may wait before callers do.
const QUEUE: usize = 1024;
/// How long a database may be silent during a write.
const SILENCE: Duration = Duration::from_secs(15);
/// How often a write is tried again after a lost connection, a deadlock or a busy database.
const TRIES: usize = 4;
/// How often a write begins again because another got ahead of it. Each time somebody else got through; so often in a row
/// means that the row's version comes from another server, and that the database was not migrated when it was moved.
const MAX_OVERTAKEN: usize = 64;

/// An instant at which a process might die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    BeforeCommit,
    AfterCommit,
}

/// Called at such an instant; tests end the process there.
pub type Probe = Arc<dyn Fn(Moment) + Send + Sync>;

/// A transaction under way, as a write sees it.
pub struct Tx {
    connection: PoolConnection<Any>,
    pub(crate) dialect: Dialect,
    /// One time for all that is written together.
    pub(crate) now: Timestamp,
    base: i64,
    used: i64,
    overtaken: bool,
    pub(crate) events: Vec<NewEvent>,
    /// What was inserted ahead for the write under way.
    pub(crate) made: Option<Made>,
}

impl Tx {
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }

    /// The number of the next event of this transaction; also the new version of the object it tells of.
    pub(crate) fn next_seq(&mut self) -> Result<EventSeq, sqlx::Error> {
        self.used += 1;
        if self.dialect == Dialect::Postgres && self.used > EVENTS_PER_TRANSACTION {
            return Err(sqlx::Error::Protocol("too many events in one transaction".into()));
        }
        Ok(EventSeq(self.base + self.used))
    }

    /// Build on a row that is at this version. On PostgreSQL a transaction that began after this one may have changed the
    /// row and ended before it: then the sequence would tell of the two changes in the wrong order, so this one has to
    /// begin again.
    pub(crate) fn follow(&mut self, version: i64) -> Result<(), Error> {
        self.overtaken |= version > self.base + self.used;
        if self.overtaken {
            return Err(Error::Unavailable(sqlx::Error::Protocol("overtaken by a later transaction".into())));
        }
        Ok(())
    }

    pub(crate) fn emit(&mut self, event: NewEvent) {
        self.events.push(event);
    }
}

type Work<T> = Box<dyn for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>> + Send + Sync>;

struct Job {
    step: Box<dyn Step>,
    terms: Terms,
}

/// How a write is to be done.
#[derive(Default)]
struct Terms {
    /// Roll back instead of committing.
    dry_run: bool,
    /// Writes of a group are done in this order, so that two processes lock rows in the same order.
    order: i64,
    /// Nobody but readers of logs waits for it.
    quiet: bool,
    /// What the write creates and does nothing besides: it may be inserted ahead, together with others'.
    creation: Option<Arc<Creation>>,
}

/// A write whose result type is forgotten.
trait Step: Send {
    /// Only a failure of the database is an error here; a refusal is an answer.
    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Result<(), sqlx::Error>>;
    fn answer(self: Box<Self>, commit: Result<(), Error>);
}

struct Typed<T> {
    work: Work<T>,
    result: Option<Result<T, Error>>,
    caller: oneshot::Sender<Result<T, Error>>,
}

impl<T: Send + 'static> Step for Typed<T> {
    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Result<(), sqlx::Error>> {
        Box::pin(async move {
            match AssertUnwindSafe(async { (self.work)(tx).await }).catch_unwind().await {
                Ok(Err(Error::Unavailable(error))) => Err(error),
                Ok(result) => {
                    self.result = Some(result);
                    Ok(())
                }
                // The writer outlives it; whoever asked for it is told that it failed.
                Err(_) => Err(sqlx::Error::InvalidArgument("the write panicked".into())),
            }
        })
    }

    fn answer(self: Box<Self>, commit: Result<(), Error>) {
        let Typed { result, caller, .. } = *self;
        // A caller that went away does not undo its write.
        let _ = caller.send(commit.and_then(|()| result.unwrap_or(Err(Error::Closing))));
    }
}

/// How the writer has fared since the start.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriterStats {
    pub groups: u64,
    pub writes: u64,
    pub waiting: u64,
    /// How many groups can be under way at once.
    pub scribes: u64,
}

pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    sender: mpsc::WeakSender<Job>,
    tasks: Mutex<JoinSet<()>>,
    scribes: u32,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Counters {
    /// Counted once the job is in the queue for a scribe to take.
    queued: AtomicU64,
    taken: AtomicU64,
    groups: AtomicU64,
    writes: AtomicU64,
}

impl Writer {
    pub fn start(pool: AnyPool, dialect: Dialect, bell: Bell, clock: Clock, probe: Option<Probe>) -> Writer {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let jobs = Arc::new(Mutex::new(jobs));
        let counters = Arc::new(Counters::default());
        let sender = queue.downgrade();
        let mut tasks = JoinSet::new();
        let scribes = pool.options().get_max_connections();
        for _ in 0..scribes {
            let scribe = Scribe {
                pool: pool.clone(),
                dialect,
                bell: bell.clone(),
                clock: clock.clone(),
                probe: probe.clone(),
                counters: counters.clone(),
            };
            tasks.spawn(scribe.serve(jobs.clone()));
        }
        Writer { queue: Mutex::new(Some(queue)), sender, tasks: Mutex::new(tasks), scribes, counters }
    }

    pub fn stats(&self) -> WriterStats {
        let taken = self.counters.taken.load(Ordering::Relaxed);
        WriterStats {
            groups: self.counters.groups.load(Ordering::Relaxed),
            writes: self.counters.writes.load(Ordering::Relaxed),
            waiting: self.counters.queued.load(Ordering::Relaxed).saturating_sub(taken),
            scribes: self.scribes.into(),
        }
    }

    pub async fn stop(&self) {
        self.queue.lock().await.take();
        let mut tasks = self.tasks.lock().await;
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                error!(%error, "a scribe ended badly");
            }
        }
    }
}

impl Store {
    /// Do `work` in a transaction, together with other writes. `order` is the id of the row it changes, 0 for none.
    pub async fn write<T, F>(&self, order: i64, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        self.submit(Terms { order, ..Terms::default() }, Box::new(work)).await
    }

    /// The same for what nobody but readers of logs waits for.
    pub async fn write_quietly<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        self.submit(Terms { quiet: true, ..Terms::default() }, Box::new(work)).await
    }

    /// Do `work` and undo it: the answer is what the write would have given.
    pub async fn rehearse<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        self.submit(Terms { dry_run: true, ..Terms::default() }, Box::new(work)).await
    }

    /// Create a resource. Those that arrive together are inserted together.
    pub async fn create_resource(&self, scope: Scope, actor: Actor, new: NewResource) -> Result<Resource, Error> {
        let creation = Arc::new(Creation { scope, new });
        let wanted = creation.clone();
        let work: Work<Resource> = Box::new(move |tx| {
            let (wanted, actor) = (wanted.clone(), actor.clone());
            Box::pin(async move { tx.create_resource(&wanted.scope, &actor, &wanted.new).await })
        });
        self.submit(Terms { creation: Some(creation), ..Terms::default() }, work).await
    }

    async fn submit<T: Send + 'static>(&self, terms: Terms, work: Work<T>) -> Result<T, Error> {
        let (caller, answer) = oneshot::channel();
        let step = Box::new(Typed { work, result: None, caller });
        let queue = self.0.writer.sender.upgrade().ok_or(Error::Closing)?;
        queue.send(Job { step, terms }).await.map_err(|_| Error::Closing)?;
        self.0.writer.counters.queued.fetch_add(1, Ordering::Relaxed);
        drop(queue);
        answer.await.map_err(|_| Error::Closing)?
    }
}

/// A task that writes.
struct Scribe {
    pool: AnyPool,
    dialect: Dialect,
    bell: Bell,
    clock: Clock,
    probe: Option<Probe>,
    counters: Arc<Counters>,
}

impl Scribe {
    fn probe(&self, moment: Moment) {
        if let Some(probe) = &self.probe {
            probe(moment);
        }
    }

    async fn serve(self, jobs: Arc<Mutex<mpsc::Receiver<Job>>>) {
        loop {
            let mut group = Vec::new();
            let taken = jobs.lock().await.recv_many(&mut group, MAX_GROUP).await;
            if taken == 0 {
                return;
            }
            self.counters.taken.fetch_add(taken as u64, Ordering::Relaxed);
            let (rehearsals, mut writes): (Vec<_>, Vec<_>) = group.into_iter().partition(|job| job.terms.dry_run);
            writes.sort_by_key(|job| job.terms.order);
            self.write_group(writes).await;
            self.write_each(rehearsals).await;
        }
    }

    async fn write_group(&self, mut group: Vec<Job>) {
        if group.is_empty() {
            return;
        }
        match self.attempt(&mut group).await {
            Ok(()) => answer_all(group, || Ok(())),
            Err(Failure::Unknown(error)) => {
                let text = error.to_string();
                answer_all(group, || Err(Error::Unknown(sqlx::Error::Protocol(text.clone()))));
            }
            Err(Failure::Away(error)) if !may_pass(&error) => tell_away(group, error),
            Err(Failure::Away(error) | Failure::Undone(error) | Failure::Overtaken(error)) => {
                warn!(%error, writes = group.len(), "a group of writes was rolled back; trying them one by one");
                self.write_each(group).await;
            }
        }
    }

    /// One by one, until the database is found to be away: the rest need not wait to find that out each for itself.
    async fn write_each(&self, group: Vec<Job>) {
        let mut rest = group.into_iter();
        while let Some(mut job) = rest.next() {
            match self.write_one(&mut job).await {
                Ok(()) => job.step.answer(Ok(())),
                Err(Failure::Unknown(error)) => job.step.answer(Err(Error::Unknown(error))),
                Err(Failure::Undone(error) | Failure::Overtaken(error)) => {
                    error!(%error, "a write failed");
                    job.step.answer(Err(Error::Unavailable(error)));
                }
                Err(Failure::Away(error)) => return tell_away(std::iter::once(job).chain(rest), error),
            }
        }
    }

    async fn write_one(&self, job: &mut Job) -> Result<(), Failure> {
        let (mut tries, mut overtaken) = (1, 0);
        loop {
            match self.attempt(std::slice::from_mut(job)).await {
                Err(Failure::Overtaken(_)) if overtaken < MAX_OVERTAKEN => overtaken += 1,
                Err(Failure::Away(error) | Failure::Undone(error)) if tries < TRIES && may_pass(&error) => tries += 1,
                outcome => return outcome,
            }
        }
    }

    /// Begin a transaction, in one trip with the question where its events begin and what time it is.
    async fn begin(&self, connection: &mut AnyConnection) -> Result<(i64, Timestamp), sqlx::Error> {
        let text = format!("{}; {}", self.dialect.begin(), self.dialect.sequence_base());
        let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(connection).await?;
        let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        if let Some(theirs) = row.try_get(1)? {
            self.clock.set(theirs);
        }
        Ok((row.try_get(0)?, self.clock.now()))
    }

    /// One transaction for the whole group.
    async fn attempt(&self, group: &mut [Job]) -> Result<(), Failure> {
        let mut connection = self.pool.acquire().await.map_err(Failure::Away)?;
        let (base, now) = match in_time(self.begin(&mut connection)).await {
            Ok(begun) => begun,
            Err(error) => {
                drop(connection.detach());
                return Err(if is_silence(&error) { Failure::Away(error) } else { Failure::Undone(error) });
            }
        };
        let (dialect, events) = (self.dialect, vec![]);
        let mut tx = Tx { connection, dialect, now, base, used: 0, overtaken: false, events, made: None };
        let dry_run = group.iter().any(|job| job.terms.dry_run);
        let done = in_time(run_all(&mut tx, group)).await;
        let (mut connection, overtaken) = (tx.connection, tx.overtaken);
        let end = if done.is_err() || dry_run { "ROLLBACK" } else { "COMMIT" };
        let done = match done {
            Err(error) if is_silence(&error) => {
                drop(connection.detach());
                return Err(Failure::Away(error));
            }
            done => done,
        };
        if end == "COMMIT" {
            self.probe(Moment::BeforeCommit);
        }
        let ended = in_time(sqlx::query(end).execute(&mut *connection)).await;
        match (done, ended) {
            (Err(error), ended) => {
                if ended.is_err() {
                    drop(connection.detach());
                }
                Err(if overtaken { Failure::Overtaken(error) } else { Failure::Undone(error) })
            }
            (Ok(()), Ok(_)) => {
                if !dry_run {
                    self.probe(Moment::AfterCommit);
                    self.counters.groups.fetch_add(1, Ordering::Relaxed);
                    self.counters.writes.fetch_add(group.len() as u64, Ordering::Relaxed);
                    if group.iter().all(|job| job.terms.quiet) {
                        self.bell.murmur();
                    } else {
                        self.bell.ring();
                    }
                }
                Ok(())
            }
            (Ok(()), Err(error)) => {
                // An answer from the database means "not committed"; silence, or a farewell, that nobody knows.
                let refused = error.as_database_error().is_some() && !is_lost(&error);
                drop(connection.detach());
                Err(if refused { Failure::Undone(error) } else { Failure::Unknown(error) })
            }
        }
    }
}

/// A database that says nothing for so long is away: whoever waits is told, rather than kept.
async fn in_time<T>(work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    tokio::time::timeout(SILENCE, work).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

fn is_silence(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::PoolTimedOut)
}

async fn run_all(tx: &mut Tx, group: &mut [Job]) -> Result<(), sqlx::Error> {
    let creations: Vec<_> =
        group.iter().filter_map(|job| job.terms.creation.as_deref()).map(Creation::wanted).collect();
    // One alone gains nothing by being ahead.
    let ahead = if creations.len() > 1 { tx.insert_resources(&creations).await? } else { vec![] };
    let mut ahead = ahead.into_iter();
    for job in group {
        tx.made = job.terms.creation.as_ref().and_then(|_| ahead.next().flatten());
        job.step.run(tx).await?;
    }
    crate::events::append(tx).await
}

enum Failure {
    /// There was no connection to be had.
    Away(sqlx::Error),
    Undone(sqlx::Error),
    /// Undone, since a transaction that began later has changed the same row.
    Overtaken(sqlx::Error),
    Unknown(sqlx::Error),
}

fn tell_away(group: impl IntoIterator<Item = Job>, error: sqlx::Error) {
    error!(%error, "writes failed: the database is away");
    let text = error.to_string();
    answer_all(group, || Err(Error::Unavailable(sqlx::Error::Protocol(text.clone()))));
}

fn answer_all(group: impl IntoIterator<Item = Job>, outcome: impl Fn() -> Result<(), Error>) {
    for job in group {
        job.step.answer(outcome());
    }
}

/// Whether the same write may go through the next time: the connection was lost, or another transaction was in the way.
fn may_pass(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    is_lost(error) || matches!(code.as_deref(), Some("40001" | "40P01" | "5" | "6" | "261" | "517"))
}
