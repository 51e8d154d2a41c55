//! A watcher of resources that comes back with the last `seq` it saw whenever its stream ends or breaks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use reqwest::Method;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::api::Api;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub seq: i64,
    pub kind: String,
    pub name: String,
}

pub struct Watch {
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    changes: Vec<Change>,
    /// Where to resume.
    since: i64,
    /// Streams that were opened, ended in good order, and broke.
    opened: usize,
    ended: usize,
    broken: usize,
}

impl Watch {
    /// Watch from the very beginning.
    pub fn begin(api: &Api) -> Watch {
        let seen = Arc::<Mutex<Seen>>::default();
        Watch { task: tokio::spawn(follow(api.clone(), seen.clone())), seen }
    }

    pub fn changes(&self) -> Vec<Change> {
        self.look(|seen| seen.changes.clone())
    }

    pub fn count(&self) -> usize {
        self.look(|seen| seen.changes.len())
    }

    pub fn opened(&self) -> usize {
        self.look(|seen| seen.opened)
    }

    /// Streams whose end the server announced.
    pub fn ended(&self) -> usize {
        self.look(|seen| seen.ended)
    }

    /// Streams that broke off.
    pub fn broken(&self) -> usize {
        self.look(|seen| seen.broken)
    }

    fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.seen.lock().expect("nobody panics with the lock"))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(api: Api, seen: Arc<Mutex<Seen>>) {
    let with = |act: &mut dyn FnMut(&mut Seen)| act(&mut seen.lock().expect("nobody panics with the lock"));
    loop {
        let mut since = 0;
        with(&mut |seen| since = seen.since);
        let path = format!("/api/v1/resources?watch=true&since={since}");
        let request = api.request(Method::GET, &path).timeout(Duration::from_secs(600));
        if let Ok(response) = request.send().await
            && response.status().is_success()
        {
            with(&mut |seen| seen.opened += 1);
            let mut stream = response.bytes_stream();
            let mut rest = Vec::new();
            let mut broke = false;
            while let Some(chunk) = stream.next().await {
                let Ok(chunk) = chunk else {
                    broke = true;
                    break;
                };
                rest.extend_from_slice(&chunk);
                with(&mut |seen| take_lines(&mut rest, seen));
            }
            with(&mut |seen| if broke { seen.broken += 1 } else { seen.ended += 1 });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Only whole lines count: half of one means that the rest was lost with the connection.
fn take_lines(rest: &mut Vec<u8>, seen: &mut Seen) {
    let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { return };
    let whole: Vec<u8> = rest.drain(..=end).collect();
    for line in whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_slice(line).expect("a line is JSON");
        let seq = line["seq"].as_i64().expect("a change has its place in the sequence");
        seen.since = seq;
        if line["type"] != "BOOKMARK" {
            let text = |value: &Value| value.as_str().expect("a text").to_string();
            seen.changes.push(Change { seq, kind: text(&line["type"]), name: text(&line["object"]["name"]) });
        }
    }
}
