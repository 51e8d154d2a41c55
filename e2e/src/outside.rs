//! An outside system: takes orders over HTTP, honours idempotency keys, and keeps its own record of what it did.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone, Default)]
pub struct Outside {
    record: Arc<Mutex<Record>>,
    address: Option<SocketAddr>,
}

#[derive(Default)]
struct Record {
    /// What was answered to which key: the same again, without doing it again.
    answers: BTreeMap<String, Value>,
    /// How often something was done, by its name.
    done: BTreeMap<String, u32>,
    requests: u64,
    /// When each was first asked for.
    asked: BTreeMap<String, std::time::Instant>,
    /// Names whose answer takes its time.
    slow: BTreeMap<String, Duration>,
}

impl Outside {
    pub async fn open() -> Outside {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let outside = Outside { address: Some(address), ..Outside::default() };
        let serving = outside.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let outside = serving.clone();
                tokio::spawn(async move { outside.serve(stream).await });
            }
        });
        outside
    }

    pub fn address(&self) -> String {
        self.address.map(|address| address.to_string()).unwrap_or_default()
    }

    /// The answer for this name takes its time from now on.
    pub fn slow_down(&self, name: &str, pause: Duration) {
        self.with(|record| record.slow.insert(name.into(), pause));
    }

    /// How often each name was done.
    pub fn done(&self) -> BTreeMap<String, u32> {
        self.with(|record| record.done.clone())
    }

    pub fn requests(&self) -> u64 {
        self.with(|record| record.requests)
    }

    pub fn first_asked(&self, name: &str) -> Option<std::time::Instant> {
        self.with(|record| record.asked.get(name).copied())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Record) -> T) -> T {
        work(&mut self.record.lock().expect("nobody panics with the record"))
    }

    async fn serve(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some((key, body)) = read(&mut stream).await {
            let name = body["name"].as_str().unwrap_or_default().to_string();
            let pause = self.with(|record| {
                record.requests += 1;
                record.asked.entry(name.clone()).or_insert_with(std::time::Instant::now);
                record.slow.get(&name).copied()
            });
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
            let answer = self.with(|record| {
                if let Some(answer) = record.answers.get(&key) {
                    return answer.clone();
                }
                let count = record.done.entry(name.clone()).or_default();
                *count += 1;
                let answer = json!({ "id": format!("{name}-{count}") });
                record.answers.insert(key, answer.clone());
                answer
            });
            let text = answer.to_string();
            let head = format!(
                "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            );
            if stream.get_mut().write_all(head.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

/// One request: its idempotency key and its JSON.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let (mut key, mut length, mut line) = (String::new(), 0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("idempotency-key:") {
            key = value.trim().into();
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((key, serde_json::from_slice(&body).ok()?))
}
