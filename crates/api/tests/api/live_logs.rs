//! Logs as they are written: over a WebSocket, as server-sent events and as plain bytes, from any offset, by any server.

use std::sync::Arc;
use std::time::Duration;

use api::{Access, App, Engine};
use controller::{Dispatcher, Leases, Seat, Who};
use futures::{SinkExt, StreamExt};
use link::{Assigned, Handing, Holding, Link};
use model::Role;
use model::job::{JobEnd, JobReport};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::harness::{Server, keyring, stories};

stories!(
    a_log_is_followed_over_a_socket_until_its_job_is_over,
    what_is_shown_is_seen_before_it_is_kept,
    another_server_tells_what_it_finds_in_the_store,
    whoever_is_cut_off_comes_back_with_the_offset_and_gets_every_byte_once,
    a_reader_that_takes_nothing_costs_nothing_and_misses_nothing,
    server_sent_events_carry_the_offset_and_never_half_a_character,
    what_was_shown_and_never_kept_is_taken_back,
    a_socket_is_as_guarded_as_every_other_request,
    a_reader_that_says_too_much_is_shown_the_door,
    a_server_that_stops_says_so_to_its_readers,
);

const LOG: &str = "/api/v1/jobs/77/log";
const LEASES: Leases = Leases { before: Duration::from_secs(3600), applying: Duration::from_secs(3600) };

/// A job that waits for a runner.
async fn queued(server: &Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    server
        .sql(
            "INSERT INTO operations (id, tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, \
             message, fencing_token, holder, trace_id, resources_created, resources_updated, resources_deleted, started_at, \
             updated_at) SELECT 77, tenant_id, id, 'reconcile', 'created', 1, 'waiting', 'applying', 'apply', 1, '', 1, '', \
             '', 0, 0, 0, 1, 1 FROM resources",
        )
        .await;
    server
        .sql(
            r#"INSERT INTO jobs (id, tenant_id, resource_id, operation_id, state, request, created_at)
            SELECT 77, tenant_id, id, 77, 'queued',
            '{"work":{"kind":"terraform","goal":"apply","source":{"path":"/m"},"variables":{},"approval":"auto"}}', 1
            FROM resources"#,
        )
        .await;
}

/// A runner beside this server, and its job.
struct Worker {
    link: Seat,
    holding: Holding,
    log_from: u64,
}

impl Worker {
    async fn begin(server: &Server) -> Worker {
        queued(server).await;
        Worker::take(server).await
    }

    async fn take(server: &Server) -> Worker {
        let (store, live) = (server.app.store.clone(), server.app.live.clone());
        let link = Dispatcher::new(store, Some(Arc::new(keyring())), LEASES, live).seat(Who::Embedded("runner".into()));
        let Assigned { assignment, .. } = link.claim(1).await.expect("an answer").pop().expect("a job");
        let holding = Holding { job: assignment.job, fencing_token: assignment.fencing_token };
        Worker { link, holding, log_from: assignment.log_from }
    }

    async fn show(&self, start: usize, text: &str) {
        self.link.show(self.holding, start as u64, text.into()).await;
    }

    async fn keep(&self, start: usize, text: &str) -> u64 {
        let handed = self.link.log(self.holding, start as u64, text.into(), Handing::Sure).await;
        handed.expect("it is ours").until
    }

    async fn finish(&self) {
        self.link.finish(self.holding, JobReport::ended(JobEnd::Succeeded)).await.expect("it is ours");
    }
}

/// A WebSocket to a log.
struct Reader(WebSocketStream<MaybeTlsStream<TcpStream>>);

#[derive(Debug, PartialEq)]
enum Frame {
    Bytes(String),
    Told(Value),
    Closed(u16),
}

impl Reader {
    async fn at(server: &Server, from: usize) -> Reader {
        let mut reader = Reader::open(server, &format!("{LOG}?from={from}"), &[]).await.expect("a socket");
        assert_eq!(reader.next().await, Frame::Told(json!({ "offset": from })));
        reader
    }

    async fn open(server: &Server, path: &str, headers: &[(&'static str, String)]) -> Result<Reader, u16> {
        let mut request = server.url(path).replace("http://", "ws://").into_client_request().expect("a request");
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().expect("a header"));
        }
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Reader(socket)),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    async fn next(&mut self) -> Frame {
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(60), self.0.next()).await;
            match frame.expect("a frame within a minute").expect("no end without a word").expect("a whole frame") {
                Message::Binary(bytes) => return Frame::Bytes(String::from_utf8_lossy(&bytes).into_owned()),
                Message::Text(text) => return Frame::Told(serde_json::from_str(&text).expect("JSON")),
                Message::Close(frame) => return Frame::Closed(frame.map_or(0, |frame| frame.code.into())),
                _ => {}
            }
        }
    }

    /// The next so many bytes, in however many frames they come.
    async fn read(&mut self, length: usize) -> String {
        let mut read = String::new();
        while read.len() < length {
            match self.next().await {
                Frame::Bytes(bytes) => read.push_str(&bytes),
                other => panic!("after {read:?}: {other:?}"),
            }
        }
        read
    }

    async fn ends_at(&mut self, length: usize) {
        assert_eq!(self.next().await, Frame::Told(json!({ "state": "finished", "log_bytes": length })));
        assert_eq!(self.next().await, Frame::Closed(1000));
    }
}

async fn a_log_is_followed_over_a_socket_until_its_job_is_over(server: Server) {
    queued(&server).await;
    let mut early = Reader::at(&server, 0).await;
    let worker = Worker::take(&server).await;
    assert_eq!(worker.keep(0, "hello ").await, 6);
    assert_eq!(early.read(6).await, "hello ");
    assert_eq!(worker.keep(6, "world\n").await, 12);
    assert_eq!(early.read(6).await, "world\n");
    worker.finish().await;
    early.ends_at(12).await;
    let mut late = Reader::at(&server, 8).await;
    assert_eq!(late.read(4).await, "rld\n");
    late.ends_at(12).await;
    let mut at_the_end = Reader::at(&server, 12).await;
    at_the_end.ends_at(12).await;
    assert_eq!(server.get(&format!("{LOG}?from=6&follow=true")).await.text, "world\n");
}

async fn what_is_shown_is_seen_before_it_is_kept(server: Server) {
    let worker = Worker::begin(&server).await;
    let mut readers = [Reader::at(&server, 0).await, Reader::at(&server, 0).await];
    worker.keep(0, "one\n").await;
    for reader in &mut readers {
        assert_eq!(reader.read(4).await, "one\n");
    }
    worker.show(4, "two\n").await;
    worker.show(8, "three\n").await;
    for reader in &mut readers {
        assert_eq!(reader.read(10).await, "two\nthree\n", "though nothing of it is kept yet");
    }
    assert_eq!(server.get(LOG).await.text, "one\n", "who does not follow is told what is kept");
    worker.keep(4, "two\nthree\n").await;
    worker.finish().await;
    for reader in &mut readers {
        reader.ends_at(14).await;
    }
}

async fn another_server_tells_what_it_finds_in_the_store(server: Server) {
    let worker = Worker::begin(&server).await;
    let engine = Engine { keyring: Some(Arc::new(keyring())), ..Engine::default() };
    let store = store::Store::open(&server.location).await.expect("the same database");
    let other = server.with_app(App::new(store, Access::Open, engine)).await;
    let mut reader = Reader::at(&other, 0).await;
    worker.show(0, "a line\n").await;
    worker.keep(0, "a line\n").await;
    assert_eq!(reader.read(7).await, "a line\n");
    worker.keep(7, "another\n").await;
    assert_eq!(reader.read(8).await, "another\n");
    worker.finish().await;
    reader.ends_at(15).await;
}

async fn whoever_is_cut_off_comes_back_with_the_offset_and_gets_every_byte_once(server: Server) {
    let worker = Worker::begin(&server).await;
    let lines: Vec<String> =
        (0..600).map(|line| format!("line {line} of a log that is written as it is read\n")).collect();
    let whole = lines.concat();
    let writing = async {
        let mut at = 0;
        for (number, piece) in lines.chunks(7).enumerate() {
            let text = piece.concat();
            worker.show(at, &text).await;
            // Some of it is shown long before it is kept, some is never shown at all.
            if number % 3 != 1 {
                let kept = worker.keep(0, &whole[..at + text.len()]).await;
                assert_eq!(kept, (at + text.len()) as u64);
            }
            at += text.len();
        }
        worker.keep(0, &whole).await;
        worker.finish().await;
    };
    let reading = futures::future::join_all((1..6).map(async |patience: usize| {
        let mut read = String::new();
        loop {
            let mut reader = Reader::at(&server, read.len()).await;
            for _ in 0..patience * 3 {
                match reader.next().await {
                    Frame::Bytes(bytes) => read.push_str(&bytes),
                    Frame::Told(end) => {
                        assert_eq!(end["log_bytes"], whole.len());
                        return read;
                    }
                    closed => panic!("{closed:?}"),
                }
            }
        }
    }));
    let ((), read) = tokio::join!(writing, reading);
    for read in read {
        assert!(read == whole, "{} bytes of {}", read.len(), whole.len());
    }
}

async fn a_reader_that_takes_nothing_costs_nothing_and_misses_nothing(server: Server) {
    let worker = Worker::begin(&server).await;
    let mut slow = Reader::at(&server, 0).await;
    let piece = "0123456789abcde\n".repeat(16 << 10);
    let mut at = 0;
    // Far more than the sockets and the newest bytes hold.
    for _ in 0..60 {
        worker.show(at, &piece).await;
        at += piece.len();
        assert_eq!(worker.keep(at - piece.len(), &piece).await, at as u64);
    }
    worker.finish().await;
    let read = slow.read(at).await;
    assert!(read == piece.repeat(60), "every byte, in order");
    slow.ends_at(at).await;
}

async fn server_sent_events_carry_the_offset_and_never_half_a_character(server: Server) {
    let worker = Worker::begin(&server).await;
    let text = "─ ä 𝄞 \u{7f}\r\n{\"quoted\"}\n";
    worker.keep(0, text).await;
    let bytes = text.as_bytes();
    // In the middle of its first character.
    worker.link.log(worker.holding, bytes.len() as u64, bytes[..2].to_vec(), Handing::Sure).await.expect("kept");
    let request = || server.request(Method::GET, LOG).header("accept", "text/event-stream");
    let mut stream = request().send().await.expect("a stream");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut heard = String::new();
    while !heard.ends_with("\n\n") {
        heard
            .push_str(std::str::from_utf8(&stream.chunk().await.expect("a piece").expect("no end yet")).expect("text"));
    }
    assert_eq!(heard, format!("id: {}\ndata: {}\n\n", bytes.len(), json!(text)));
    worker.link.log(worker.holding, bytes.len() as u64 + 2, bytes[2..].to_vec(), Handing::Sure).await.expect("kept");
    worker.finish().await;
    let end = format!("event: end\ndata: {}\n\n", json!({ "state": "finished", "log_bytes": 2 * bytes.len() }));
    let rest = stream.text().await.expect("the rest");
    assert_eq!(rest, format!("id: {}\ndata: {}\n\n{end}", 2 * bytes.len(), json!(text)));
    let again = server.send(request().header("last-event-id", bytes.len().to_string())).await;
    assert_eq!(again.text, rest, "a browser that reconnects goes on where it was");
    for wrong in ["-1", "x", "99999999999999999999"] {
        assert_eq!(server.send(request().header("last-event-id", wrong)).await.status, 400, "{wrong}");
    }
}

async fn what_was_shown_and_never_kept_is_taken_back(server: Server) {
    let lost = Worker::begin(&server).await;
    let mut reader = Reader::at(&server, 0).await;
    lost.keep(0, "kept\n").await;
    assert_eq!(reader.read(5).await, "kept\n");
    lost.show(5, "never kept\n").await;
    assert_eq!(reader.read(11).await, "never kept\n");
    server.sql("UPDATE jobs SET lease_until = 1").await;
    let next = Worker::take(&server).await;
    assert_eq!(next.log_from, 5, "what its predecessor has left stays");
    assert!(lost.link.log(lost.holding, 5, b"too late".to_vec(), Handing::Sure).await.is_err());
    next.show(5, "begun anew\n").await;
    next.keep(5, "begun anew\n").await;
    let Frame::Told(back) = reader.next().await else { panic!("a word about the offset") };
    let back = usize::try_from(back["offset"].as_u64().expect("an offset")).expect("small");
    assert!(back <= 5, "{back}");
    assert_eq!(reader.read(16 - back).await, "kept\nbegun anew\n"[back..]);
    next.finish().await;
    reader.ends_at(16).await;
    assert_eq!(server.get(LOG).await.text, "kept\nbegun anew\n");
}

async fn a_socket_is_as_guarded_as_every_other_request(server: Server) {
    let worker = Worker::begin(&server).await;
    worker.keep(0, "a secret of the tenant's\n").await;
    for (origin, expected) in [("https://evil.example", 403), ("null", 403), ("http://localhost:1", 403)] {
        let refused = Reader::open(&server, LOG, &[("origin", origin.into())]).await;
        assert_eq!(refused.err(), Some(expected), "{origin}");
    }
    let own = format!("http://localhost:{}", server.address.port());
    assert!(Reader::open(&server, LOG, &[("origin", own)]).await.is_ok());
    assert_eq!(Reader::open(&server, LOG, &[("host", "evil.example".into())]).await.err(), Some(403));

    let guarded = server.asking_for_tokens().await;
    assert_eq!(Reader::open(&guarded, LOG, &[]).await.err(), Some(401));
    server.post("/api/v1/tenants", &json!({"name": "intruder"})).await.expect(201);
    let bearer = async |tenant: &str, role| format!("Bearer {}", server.token(tenant, tenant, role).await);
    let intruder = bearer("intruder", Role::Admin).await;
    assert_eq!(Reader::open(&guarded, LOG, &[("authorization", intruder)]).await.err(), Some(404));
    let viewer = bearer("default", Role::Viewer).await;
    assert!(Reader::open(&guarded, LOG, &[("authorization", viewer)]).await.is_ok());
    let missing = Reader::open(&server, "/api/v1/jobs/78/log", &[]).await;
    assert_eq!(missing.err(), Some(404));
    for wrong in ["from=-1", "from=x", "from=99999999999999999999", "follow=perhaps", "unknown=1"] {
        let refused = Reader::open(&server, &format!("{LOG}?{wrong}"), &[]).await.err();
        assert!(refused.is_some_and(|status| (400..500).contains(&status)), "{wrong}: {refused:?}");
    }
    // It says WebSocket and is none.
    let half = server.request(Method::GET, LOG).header("upgrade", "websocket");
    assert_eq!(server.send(half).await.status, 400);
}

async fn a_reader_that_says_too_much_is_shown_the_door(server: Server) {
    let worker = Worker::begin(&server).await;
    let mut loud = Reader::at(&server, 0).await;
    let mut quiet = Reader::at(&server, 0).await;
    loud.0.send(Message::text("what?")).await.expect("it is taken, and ignored");
    // The server may be gone before it has taken all of it.
    let _ = loud.0.send(Message::binary(vec![0; 1 << 20])).await;
    let ended = tokio::time::timeout(Duration::from_secs(60), async {
        while let Some(Ok(frame)) = loud.0.next().await {
            assert!(!frame.is_binary(), "nothing was written");
        }
    });
    ended.await.expect("the end of the loud one");
    worker.keep(0, "still here\n").await;
    assert_eq!(quiet.read(11).await, "still here\n");
}

async fn a_server_that_stops_says_so_to_its_readers(server: Server) {
    let worker = Worker::begin(&server).await;
    worker.keep(0, "begun\n").await;
    let mut reader = Reader::at(&server, 0).await;
    assert_eq!(reader.read(6).await, "begun\n");
    server.app.drain();
    assert_eq!(reader.next().await, Frame::Closed(1001));
}
