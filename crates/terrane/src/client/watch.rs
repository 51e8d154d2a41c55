//! A watch that does not end: it comes back after a lost connection or a server's restart, and goes on where it was.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use super::api_client::ApiClient;
use super::failure::{Code, Failure};
use super::rest::Rest;

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
    rest: Rest,
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
            rest: Rest::default(),
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
            self.rest.is_over();
        }
        if self.partial.len() > LONGEST_LINE {
            return Err(Failure::failed("the server sends a line without end"));
        }
        Ok(())
    }

    async fn come_back(&mut self) -> Result<(), Failure> {
        self.stream = None;
        self.rest.a_while().await;
        while let Err(failure) = self.connect().await {
            self.rest.after(failure).await?;
        }
        self.rest.tell();
        Ok(())
    }
}
