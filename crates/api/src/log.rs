//! A log on its way to a reader, from any byte on: as it is written where a runner brings it to this process, from the store
//! where it is older, where another process has it, or where the reader is slower than the runner. The three forms
//! below differ only in what goes over the wire; none holds more than one piece for a reader.

mod plain;
mod server_sent;
mod socket;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller::Listener;
use model::job::JobState;
use model::{JobId, TokenId};
use serde::Serialize;
use store::{Error, LogStanding};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::app::App;

pub use plain::plain;
pub use server_sent::server_sent;
pub use socket::socket;

/// Bytes that are read from the store at once.
const PIECE: usize = 256 * 1024;
/// A reader for whom there is nothing new hears so this often.
const SILENCE: Duration = Duration::from_secs(10);
/// The store is asked this often, whatever was heard.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Between two questions to the store, however often the bell rings.
const MOMENT: Duration = Duration::from_millis(20);

/// What a reader is told.
pub enum Told {
    Bytes(Bytes),
    /// What was told from this byte on was never kept: its runner lost the job. The log goes on here.
    Back(u64),
    /// Nothing is new.
    Nothing,
    /// The job is over, and the log was told to its end.
    Over(End),
    /// This server stops, or the token is not good any more. Whoever may comes back with the offset.
    Leave,
}

/// How a log ends.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct End {
    pub state: JobState,
    pub log_bytes: i64,
}

pub struct Reading {
    app: Arc<App>,
    job: JobId,
    token: Option<TokenId>,
    listener: Listener,
    bell: watch::Receiver<u64>,
    draining: watch::Receiver<bool>,
    /// The next byte.
    at: u64,
    /// What there is when the reading begins is all that is wanted.
    until: Option<u64>,
    /// What the store had when it was last asked.
    kept: Option<LogStanding>,
    /// Ask the store when there is nothing here.
    ask: bool,
    asked: Instant,
    next_check: Instant,
    spoke: Instant,
}

impl Reading {
    /// From this byte on, until the job is over or `until` is reached.
    pub fn new(app: &Arc<App>, job: JobId, token: Option<TokenId>, from: u64, until: Option<u64>) -> Reading {
        let now = Instant::now();
        Reading {
            listener: app.live.listen(job),
            bell: app.store.bell().listen_closely(),
            draining: app.draining(),
            app: app.clone(),
            job,
            token,
            at: from,
            until,
            kept: None,
            ask: true,
            asked: now,
            next_check: now + SILENCE,
            spoke: now,
        }
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    /// What comes next, whenever it comes. May be dropped on the way: then nothing was told.
    pub async fn next(&mut self) -> Result<Told, Error> {
        loop {
            if *self.draining.borrow() || !self.is_still_welcome().await? {
                return Ok(Told::Leave);
            }
            let told = match self.here() {
                None => self.ask_store().await?,
                here => here,
            };
            if let Some(told) = told {
                if let Told::Bytes(bytes) = &told {
                    self.at += bytes.len() as u64;
                }
                self.spoke = Instant::now();
                return Ok(told);
            }
            if self.rest().await {
                self.spoke = Instant::now();
                return Ok(Told::Nothing);
            }
        }
    }

    /// A token that was revoked or ran out ends what it opened.
    async fn is_still_welcome(&mut self) -> Result<bool, Error> {
        let Some(token) = self.token.filter(|_| Instant::now() >= self.next_check) else { return Ok(true) };
        self.next_check = Instant::now() + SILENCE;
        self.app.store.is_token_good(token).await
    }

    fn here(&mut self) -> Option<Told> {
        let tail = self.listener.tail.borrow_and_update();
        if self.kept.is_none_or(|kept| kept.fencing_token != tail.fencing_token()) {
            // Another runner has begun the job anew: first see from where on.
            self.ask |= !tail.is_empty();
            return None;
        }
        let bytes = tail.at(self.at)?;
        let wanted = self.until.map_or(u64::MAX, |until| until.saturating_sub(self.at));
        let most = usize::try_from(wanted).unwrap_or(usize::MAX).min(bytes.len());
        (most > 0).then(|| Told::Bytes(bytes.slice(..most)))
    }

    async fn ask_store(&mut self) -> Result<Option<Told>, Error> {
        if !self.ask {
            return Ok(None);
        }
        self.bell.mark_unchanged();
        self.asked = Instant::now();
        // First how far it is, then the bytes: what is read after the end is known is complete.
        let Some(standing) = self.app.store.log_standing(self.job).await? else { return Ok(Some(Told::Leave)) };
        let length = u64::try_from(standing.length).unwrap_or(0);
        let before = self.kept.replace(standing);
        let is_anothers = before.is_some_and(|before| before.fencing_token != standing.fencing_token);
        // What the next runner finds is at least what was there when its predecessor was last asked about.
        let certain = before.filter(|_| is_anothers).map_or(length, |before| u64::try_from(before.length).unwrap_or(0));
        if self.at > certain && self.until.is_none() && (is_anothers || standing.is_over()) {
            self.at = certain;
            return Ok(Some(Told::Back(certain)));
        }
        let wanted = self.until.unwrap_or(length).saturating_sub(self.at);
        let most = usize::try_from(wanted).unwrap_or(usize::MAX).min(PIECE);
        let place = i64::try_from(self.at).unwrap_or(i64::MAX);
        let bytes = if most > 0 { self.app.store.log(self.job, place, most).await? } else { Vec::new() };
        if !bytes.is_empty() {
            return Ok(Some(Told::Bytes(bytes.into())));
        }
        if standing.is_over() || self.until.is_some() {
            return Ok(Some(Told::Over(End { state: standing.state, log_bytes: standing.length })));
        }
        self.ask = false;
        Ok(None)
    }

    /// Wait for something to happen. True when nothing has for a while.
    async fn rest(&mut self) -> bool {
        let is_led_on = self.listener.tail.borrow().leads_on_from(self.at);
        let look_again = self.asked + LOOK_AGAIN;
        tokio::select! {
            changed = self.listener.tail.changed() => {
                // What is not here is in the store, or will be.
                let tail = self.listener.tail.borrow();
                self.ask = changed.is_err() || (tail.at(self.at).is_none() && !tail.leads_on_from(self.at));
            }
            _ = self.bell.changed(), if !is_led_on => {
                self.ask = true;
                tokio::time::sleep_until(self.asked + MOMENT).await;
            }
            _ = self.draining.changed() => {}
            () = tokio::time::sleep_until(look_again) => self.ask = true,
        }
        self.spoke.elapsed() >= SILENCE
    }
}
