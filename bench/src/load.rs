//! Many connections, each with one request under way at a time, for a while or for so many requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::http::Connection;
use crate::requests::Creates;

/// What to send.
#[derive(Clone)]
pub enum Work {
    Same(Arc<Vec<u8>>),
    /// One of these after the other, from different places for different connections.
    OneOf(Arc<Vec<Vec<u8>>>),
    Create(Arc<Creates>),
}

#[derive(Clone, Copy)]
pub enum Until {
    Seconds(f64),
    Requests(usize),
}

/// What was done; all of it succeeded, since any other answer ends the benchmark.
pub struct Done {
    pub requests: usize,
    pub per_second: f64,
}

pub async fn run(port: u16, connections: usize, work: &Work, until: Until) -> anyhow::Result<Done> {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(Connection::open(port).await?);
    }
    let started = Instant::now();
    let done = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for (number, connection) in open.into_iter().enumerate() {
        tasks.push(tokio::spawn(client(number, connection, work.clone(), until, started, done.clone())));
    }
    for task in tasks {
        task.await??;
    }
    let requests = done.load(Ordering::Relaxed);
    Ok(Done { requests, per_second: requests as f64 / started.elapsed().as_secs_f64() })
}

async fn client(
    number: usize,
    mut connection: Connection,
    work: Work,
    until: Until,
    started: Instant,
    done: Arc<AtomicUsize>,
) -> anyhow::Result<()> {
    let mut request = Vec::new();
    let mut sent = number * 31;
    loop {
        let over = match until {
            Until::Seconds(seconds) => started.elapsed() >= Duration::from_secs_f64(seconds),
            Until::Requests(count) => done.load(Ordering::Relaxed) >= count,
        };
        if over {
            return Ok(());
        }
        let status = match &work {
            Work::Same(bytes) => connection.send(bytes).await?,
            Work::OneOf(many) => connection.send(&many[sent % many.len()]).await?,
            Work::Create(creates) => {
                creates.fill(&mut request);
                connection.send(&request).await?
            }
        };
        ensure!((200..300).contains(&status), "a request was answered with {status}");
        sent += 1;
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if matches!(until, Until::Requests(_)) && count.is_multiple_of(10_000) {
            eprintln!("  {count} resources");
        }
    }
}
