//! A watch that does not end: it comes back after a lost connection or a server's restart, and goes on where it was.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::api_client::ApiClient;
use super::failure::{Code, Failure};
use super::print;

/// The longest rest between two attempts to come back.
const LONGEST_REST: Duration = Duration::from_secs(5);
const FIRST_REST: Duration = Duration::from_millis(100);
/// No object is this large; a stream that says so is not one of ours.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

#[derive(Debug, Deserialize)]
pub struct Change {
    #[serde(rename = "type")]
    pub kind: ChangeKind,
    pub seq: Option<i64>,
    pub object: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// All up to here has been told; at first: all that exists has been told.
    Bookmark,
}

pub struct Watch<'a> {
    client: &'a ApiClient,
    path: &'a str,
    query: Vec<(&'a str, String)>,
    /// Where to go on; none before the first bookmark.
    seq: Option<i64>,
    stream: Option<reqwest::Response>,
    partial: Vec<u8>,
    changes: VecDeque<Change>,
    rest: Duration,
}

impl<'a> Watch<'a> {
    /// Begin, at the first attempt that reaches the server; a server that is not there is a failure now, but not later.
    pub async fn begin(
        client: &'a ApiClient,
        path: &'a str,
        query: &[(&'a str, String)],
        since: Option<i64>,
    ) -> Result<Self, Failure> {
        let mut watch = Watch {
            client,
            path,
            query: query.to_vec(),
            seq: since,
            stream: None,
            partial: vec![],
            changes: VecDeque::new(),
            rest: FIRST_REST,
        };
        watch.connect().await?;
        Ok(watch)
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        let mut query = self.query.clone();
        query.push(("watch", "true".into()));
        query.extend(self.seq.map(|seq| ("since", seq.to_string())));
        self.partial.clear();
        self.stream = Some(self.client.open(self.path, &query).await?);
        Ok(())
    }

    /// The next change, whenever it comes.
    pub async fn next(&mut self) -> Result<Change, Failure> {
        loop {
            if let Some(change) = self.changes.pop_front() {
                self.seq = change.seq.or(self.seq);
                return Ok(change);
            }
            let chunk = match &mut self.stream {
                Some(stream) => stream.chunk().await.ok().flatten(),
                None => None,
            };
            match chunk {
                Some(bytes) => self.take(&bytes)?,
                None => self.come_back().await?,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.partial.extend_from_slice(bytes);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            let change = serde_json::from_slice(&line).map_err(|_| {
                Failure::new(Code::NotReachable, format!("{} does not answer as Terrane does", self.client.server()))
            })?;
            self.changes.push_back(change);
            self.rest = FIRST_REST;
        }
        if self.partial.len() > LONGEST_LINE {
            return Err(Failure::failed("the server sends a line without end"));
        }
        Ok(())
    }

    async fn come_back(&mut self) -> Result<(), Failure> {
        self.stream = None;
        // An ordinary end (the server limits a stream's life) is not worth a word; a server that is away is.
        let mut told = false;
        loop {
            tokio::time::sleep(self.rest).await;
            self.rest = (self.rest * 2).min(LONGEST_REST);
            match self.connect().await {
                Ok(()) if told => {
                    print::note("connected again");
                    return Ok(());
                }
                Ok(()) => return Ok(()),
                Err(failure) if failure.code != Code::NotReachable => return Err(failure),
                Err(failure) if !told => {
                    print::note(&format!("{}; trying again…", failure.message));
                    told = true;
                }
                Err(_) => {}
            }
        }
    }
}
