//! The control plane's end of the broker: tells runners that there is work, and takes in what they note. Nothing here is needed for
//! anything to be right; it makes things sooner.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::future::join_all;
use link::message::{Log, Note, Signed};
use link::{Batch, Broker, BrokerError, Desk, Handing, Holding, Link, LinkError};
use model::{JobId, RunnerId};
use store::StoredRunner;
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::dispatch::{Dispatcher, away};
use crate::seat::Who;

/// Between tries to reach the broker: twice as long each time, up to the last.
const REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(10);
/// After a bell, so that one look serves many.
const MOMENT: Duration = Duration::from_millis(10);
/// While the database is away.
const AGAIN: Duration = Duration::from_secs(1);

/// What one runner has noted.
struct Noted {
    runner: StoredRunner,
    is_there: bool,
    pieces: Vec<Piece>,
}

/// Log of one job, as one piece.
struct Piece {
    of: Holding,
    start: u64,
    bytes: Vec<u8>,
}

impl Dispatcher {
    /// Until told to stop.
    pub async fn serve_broker(self, broker: Broker, mut stop: watch::Receiver<bool>) {
        let mut rest = REST;
        while !*stop.borrow() {
            match broker.desk().await {
                Ok(desk) => {
                    rest = REST;
                    info!("the broker is there");
                    match self.attend(desk, &mut stop).await {
                        Ok(()) => return,
                        Err(error) => warn!(%error, "the broker is gone; runners use the API alone meanwhile"),
                    }
                }
                Err(error) => warn!(%error, "cannot reach the broker; runners use the API alone meanwhile"),
            }
            tokio::select! {
                () = tokio::time::sleep(rest) => rest = (rest * 2).min(LONGEST_REST),
                _ = stop.changed() => {}
            }
        }
    }

    async fn attend(&self, mut desk: Desk, stop: &mut watch::Receiver<bool>) -> Result<(), BrokerError> {
        let post = desk.post.clone();
        let mut bell = self.store.bell().listen();
        // What waits already is offered first.
        bell.mark_changed();
        let mut offered = JobId(0);
        loop {
            tokio::select! {
                batch = desk.notes() => self.take_in(batch?).await?,
                _ = bell.changed() => {
                    tokio::time::sleep(MOMENT).await;
                    bell.mark_unchanged();
                    match self.store.waiting_tenants(offered).await {
                        Ok((tenants, newest)) => {
                            for tenant in tenants {
                                post.offer(&tenant).await?;
                            }
                            offered = newest;
                        }
                        Err(error) => debug!(%error, "cannot see what waits; runners look by themselves"),
                    }
                }
                _ = stop.changed() => return Ok(()),
            }
        }
    }

    /// What cannot be believed or is of no use any more is dropped; what cannot be written now comes again.
    async fn take_in(&self, batch: Batch) -> Result<(), BrokerError> {
        let taken = match self.sorted(&batch.notes).await {
            Ok(sorted) => {
                let written = join_all(sorted.into_iter().map(|noted| self.write_down(noted)));
                written.await.into_iter().collect()
            }
            Err(error) => Err(error),
        };
        match taken {
            Ok(()) => batch.done().await,
            Err(error) => {
                warn!(%error, "cannot write down what runners note; trying again");
                tokio::time::sleep(AGAIN).await;
                batch.again().await
            }
        }
    }

    /// By runner: what of the log fits together is one piece.
    async fn sorted(&self, notes: &[Signed]) -> Result<Vec<Noted>, LinkError> {
        let mut known: HashMap<&str, Option<StoredRunner>> = HashMap::new();
        let mut sorted: HashMap<RunnerId, Noted> = HashMap::new();
        for note in notes {
            let name = note.runner.as_str();
            if !known.contains_key(name) && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                known.insert(name, self.store.runner_by_prefix(name).await.map_err(away)?);
            }
            let runner = known.get(name).cloned().flatten();
            let Some((runner, said)) = runner.and_then(|runner| note.open(&runner.hash).map(|said| (runner, said)))
            else {
                warn!("a note that no runner has signed is dropped");
                continue;
            };
            let noted = sorted.entry(runner.id);
            let noted = noted.or_insert_with(|| Noted { runner, is_there: false, pieces: Vec::new() });
            match said {
                Note::Log(log) => append(&mut noted.pieces, log),
                Note::Heartbeat => noted.is_there = true,
                Note::Unknown => {}
            }
        }
        Ok(sorted.into_values().collect())
    }

    async fn write_down(&self, noted: Noted) -> Result<(), LinkError> {
        let Noted { runner, is_there, pieces } = noted;
        if is_there {
            self.store.note_runners_seen(vec![(runner.id, self.store.now())]).await.map_err(away)?;
        }
        let seat = self.seat(Who::Enrolled { id: runner.id, name: runner.name });
        for piece in pieces {
            if let Err(error @ LinkError::Away(_)) = seat.log(piece.of, piece.start, piece.bytes, Handing::Sure).await {
                return Err(error);
            }
        }
        Ok(())
    }
}

fn append(pieces: &mut Vec<Piece>, log: Log) {
    let Ok(bytes) = BASE64_STANDARD.decode(&log.base64) else { return };
    match pieces.iter_mut().rev().find(|piece| piece.of == log.of) {
        Some(piece) if piece.start + piece.bytes.len() as u64 == log.start => piece.bytes.extend(bytes),
        _ => pieces.push(Piece { of: log.of, start: log.start, bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(job: i64, start: u64, text: &str) -> Log {
        Log { of: Holding { job: JobId(job), fencing_token: 1 }, start, base64: BASE64_STANDARD.encode(text) }
    }

    #[test]
    fn what_fits_together_is_written_together() {
        let mut pieces = Vec::new();
        for piece in [log(1, 0, "ab"), log(2, 7, "x"), log(1, 2, "cd"), log(1, 9, "later"), log(1, 2, "again")] {
            append(&mut pieces, piece);
        }
        let told: Vec<_> = pieces.iter().map(|piece| (piece.of.job.0, piece.start, piece.bytes.as_slice())).collect();
        assert_eq!(told, [(1, 0, &b"abcd"[..]), (2, 7, b"x"), (1, 9, b"later"), (1, 2, b"again")]);
    }
}
