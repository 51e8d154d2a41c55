//! Logs as they are written: what a runner brings is seen here before it is kept. Nothing is held for a reader. Each has a place
//! in the log and reads on from the newest bytes of it, of which a bounded number is here; whoever is slower than that
//! reads from the store.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use model::JobId;
use tokio::sync::watch;

/// Bytes of one log that are here, at most; only of logs that somebody reads.
const LONGEST_TAIL: usize = 1 << 20;

/// The logs that somebody reads now, in this process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Live {
    logs: Arc<Mutex<HashMap<JobId, watch::Sender<Tail>>>>,
}

/// The newest bytes of a log.
#[derive(Debug, Default)]
pub struct Tail {
    fencing_token: i64,
    /// Bytes before the first piece.
    start: u64,
    pieces: VecDeque<Bytes>,
    length: usize,
    is_over: bool,
}

impl Tail {
    /// What comes at this place: one piece, if it is here.
    pub fn at(&self, place: u64) -> Option<Bytes> {
        let mut start = self.start;
        for piece in &self.pieces {
            let end = start + piece.len() as u64;
            if (start..end).contains(&place) {
                return Some(piece.slice(usize::try_from(place - start).ok()?..));
            }
            start = end;
        }
        None
    }

    /// Of the runner that writes it.
    pub fn fencing_token(&self) -> i64 {
        self.fencing_token
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether a reader at this place need not look anywhere else: whatever comes next will come here.
    pub fn leads_on_from(&self, place: u64) -> bool {
        !self.is_over && self.length > 0 && self.end() == place
    }

    fn end(&self) -> u64 {
        self.start + self.length as u64
    }

    /// What is known is not taken twice; after a gap it begins anew.
    fn add(&mut self, fencing_token: i64, start: u64, bytes: &Bytes) -> bool {
        if fencing_token < self.fencing_token {
            return false;
        }
        if fencing_token > self.fencing_token || start > self.end() || self.length == 0 {
            *self = Tail { fencing_token, start, ..Tail::default() };
        }
        let known = usize::try_from(self.end() - start).unwrap_or(usize::MAX);
        if known >= bytes.len() {
            return false;
        }
        let new = bytes.slice(known..);
        self.length += new.len();
        self.pieces.push_back(new);
        while self.length > LONGEST_TAIL
            && let Some(oldest) = self.pieces.pop_front()
        {
            self.start += oldest.len() as u64;
            self.length -= oldest.len();
        }
        true
    }
}

impl Live {
    /// Follow a log from now on. Listen before you ask the store: what comes in between is then in one of the two.
    pub fn listen(&self, job: JobId) -> Listener {
        let tail = self.logs().entry(job).or_default().subscribe();
        Listener { live: self.clone(), job, tail }
    }

    pub(crate) fn show(&self, job: JobId, fencing_token: i64, start: u64, bytes: Bytes) {
        if let Some(tail) = self.logs().get(&job) {
            tail.send_if_modified(|tail| tail.add(fencing_token, start, &bytes));
        }
    }

    /// The job has ended, and its end is written down.
    pub(crate) fn end(&self, job: JobId) {
        if let Some(tail) = self.logs().get(&job) {
            tail.send_modify(|tail| tail.is_over = true);
        }
    }

    fn logs(&self) -> MutexGuard<'_, HashMap<JobId, watch::Sender<Tail>>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader of one log.
pub struct Listener {
    live: Live,
    job: JobId,
    pub tail: watch::Receiver<Tail>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut logs = self.live.logs();
        // The last one out takes the tail along.
        if logs.get(&self.job).is_some_and(|tail| tail.receiver_count() <= 1) {
            logs.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobId = JobId(7);

    fn read(listener: &Listener, mut place: u64) -> Vec<u8> {
        let tail = listener.tail.borrow();
        let mut read = vec![];
        while let Some(piece) = tail.at(place) {
            place += piece.len() as u64;
            read.extend_from_slice(&piece);
        }
        read
    }

    #[test]
    fn what_is_shown_is_read_from_any_place_and_once() {
        let live = Live::default();
        let listener = live.listen(JOB);
        live.show(JOB, 1, 5, Bytes::from_static(b"hello "));
        live.show(JOB, 1, 5, Bytes::from_static(b"hello world"));
        live.show(JOB, 1, 8, Bytes::from_static(b"lo"));
        assert_eq!(read(&listener, 5), b"hello world");
        assert_eq!(read(&listener, 9), b"o world");
        assert_eq!(read(&listener, 4), b"", "that is in the store");
        assert!(listener.tail.borrow().leads_on_from(16));
        assert!(!listener.tail.borrow().leads_on_from(15));
    }

    #[test]
    fn a_gap_is_for_the_store_to_fill() {
        let live = Live::default();
        let listener = live.listen(JOB);
        live.show(JOB, 1, 0, Bytes::from_static(b"one"));
        live.show(JOB, 1, 10, Bytes::from_static(b"two"));
        assert_eq!(read(&listener, 0), b"");
        assert_eq!(read(&listener, 10), b"two");
    }

    #[test]
    fn who_has_lost_the_job_is_not_heard() {
        let live = Live::default();
        let listener = live.listen(JOB);
        live.show(JOB, 2, 0, Bytes::from_static(b"second"));
        live.show(JOB, 1, 6, Bytes::from_static(b"first"));
        assert_eq!(read(&listener, 0), b"second");
        live.show(JOB, 3, 2, Bytes::from_static(b"third"));
        assert_eq!(read(&listener, 2), b"third");
    }

    #[test]
    fn a_slow_reader_costs_no_memory() {
        let live = Live::default();
        let listener = live.listen(JOB);
        let piece = Bytes::from(vec![b'x'; 100_000]);
        for at in 0..100 {
            live.show(JOB, 1, at * 100_000, piece.clone());
        }
        let tail = listener.tail.borrow();
        assert!(tail.length <= LONGEST_TAIL);
        assert_eq!(tail.at(0), None);
        assert_eq!(tail.end(), 10_000_000);
    }

    #[test]
    fn what_nobody_reads_is_not_held() {
        let live = Live::default();
        live.show(JOB, 1, 0, Bytes::from_static(b"unheard"));
        assert!(live.logs().is_empty());
        let (first, second) = (live.listen(JOB), live.listen(JOB));
        drop(first);
        assert_eq!(live.logs().len(), 1);
        drop(second);
        assert!(live.logs().is_empty());
    }
}
