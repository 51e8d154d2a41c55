//! Logs to many readers: a long one whose readers disconnect at random and resume by offset, each byte once; and how long a
//! line takes to a reader, beside a bare broadcast of the same lines to as many readers at the same time, while applies run.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message as Frame, WebSocketUpgrade};
use axum::routing::get;
use futures::StreamExt;
use futures::future::try_join_all;
use serde_json::json;
use sha2::{Digest, Sha256};
use sqlx::AnyConnection;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::broadcast;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::applies::{declare_type, now, open, standing};
use crate::child::Server;
use crate::database::{Database, Kind};
use crate::ground::{Ground, resource};
use crate::http::Connection;
use crate::requests;
use crate::table::{Table, quantiles};

const READERS: usize = 50;
/// Applies under way meanwhile.
const APPLIES: usize = 50;

pub async fn measure(lines: usize, paced: usize, table: &mut Table) -> anyhow::Result<()> {
    let ground = Ground::prepare()?;
    let database = Database::fresh(Kind::Sqlite, "logs").await?;
    let server = ground.server(&database, APPLIES + 4, &ground.terraform).await?;
    declare_type(&server).await?;
    whole(&ground, &server, &database, lines, table).await?;
    latency(&ground, &server, &database, paced, table).await?;
    server.stop().await
}

/// Each reader gets every byte once, however often it is cut off.
async fn whole(
    ground: &Ground,
    server: &Server,
    database: &Database,
    lines: usize,
    table: &mut Table,
) -> anyhow::Result<()> {
    let speech = format!("seq -f 'line %.0f of a log that many read while it is written' {lines}");
    let job = talk(ground, server, database, "whole", &speech).await?;
    eprintln!("{lines} lines to {READERS} readers");
    let started = Instant::now();
    let reading =
        try_join_all((0..READERS).map(|number| read_whole(server.port, job, number as u64 + 1, lines as u64 * 40)));
    let mut most: f64 = 0.0;
    let watching = async {
        loop {
            most = most.max(server.resident().unwrap_or(0.0));
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let read = tokio::select! {
        read = reading => read?,
        () = watching => bail!("unreachable"),
    };
    let seconds = started.elapsed().as_secs_f64();
    let (length, digest, _) = read.first().context("a reader")?.clone();
    ensure!(length > lines as u64 * 40, "a log of {length} bytes");
    ensure!(read.iter().all(|(bytes, sha, _)| (*bytes, sha) == (length, &digest)), "not all read the same");
    let stored = fetch(server.port, job).await?;
    ensure!(stored == (length, digest), "what was read live is what is kept");
    let cuts: usize = read.iter().map(|(.., cuts)| cuts).sum();
    eprintln!("each of {READERS} readers got all {length} bytes once, over {cuts} cuts, in {seconds:.1} s");
    let megabytes = length as f64 * READERS as f64 / 1e6;
    table.alone(format!("log of {lines} lines to {READERS} readers, all whole"), seconds, "s", None);
    table.alone("  sent to them all".into(), megabytes / seconds, "MB/s", None);
    table.alone("  control plane resident, most".into(), most, "MB", Some(200.0));
    Ok(())
}

/// The number of bytes, their digest, and how often it was cut off: after `longest` bytes, or fewer.
async fn read_whole(port: u16, job: i64, seed: u64, longest: u64) -> anyhow::Result<(u64, Vec<u8>, usize)> {
    let (mut at, mut digest, mut cuts, mut chance) = (0_u64, Sha256::new(), 0, seed);
    loop {
        let (mut socket, _) = connect_async(format!("ws://127.0.0.1:{port}/api/v1/jobs/{job}/log?from={at}")).await?;
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let patience = (chance >> 24) % longest;
        let mut had = 0;
        while had < patience {
            match socket.next().await.context("no end without a word")?? {
                Message::Binary(bytes) => {
                    digest.update(&bytes);
                    at += bytes.len() as u64;
                    had += bytes.len() as u64;
                }
                Message::Text(text) => {
                    let told: serde_json::Value = serde_json::from_str(&text)?;
                    if told["log_bytes"].is_number() {
                        ensure!(told["log_bytes"] == at, "{told} after {at} bytes");
                        return Ok((at, digest.finalize().to_vec(), cuts));
                    }
                    ensure!(told["offset"] == at, "{told} instead of {at}");
                }
                Message::Close(_) => break,
                _ => {}
            }
        }
        cuts += 1;
    }
}

async fn fetch(port: u16, job: i64) -> anyhow::Result<(u64, Vec<u8>)> {
    let (length, digest, _) = read_whole(port, job, 0, u64::MAX).await?;
    Ok((length, digest))
}

/// A job that says this, and nothing else.
async fn talk(ground: &Ground, server: &Server, database: &Database, name: &str, speech: &str) -> anyhow::Result<i64> {
    let command = serde_json::to_string(speech)?;
    let module = ground.module(
        name,
        &format!("resource \"terraform_data\" \"it\" {{\n  provisioner \"local-exec\" {{\n    command = {command}\n  }}\n}}\n"),
    )?;
    declare(server, name, &module).await?;
    let mut eye = open(database).await?;
    let started = Instant::now();
    loop {
        let text = "SELECT jobs.id FROM jobs JOIN resources ON resources.id = resource_id WHERE resources.name = $1";
        let job: Option<i64> = sqlx::query_scalar(text).bind(name).fetch_optional(&mut eye).await?;
        if let Some(job) = job {
            return Ok(job);
        }
        ensure!(started.elapsed() < Duration::from_secs(60), "there is no job for {name}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn declare(server: &Server, name: &str, module: &std::path::Path) -> anyhow::Result<()> {
    let made = resource(name, module, json!({}));
    let status = Connection::open(server.port).await?.send(&requests::post("/api/v1/resources", &made)).await?;
    ensure!(status == 201, "not made: {status}");
    Ok(())
}

async fn latency(
    ground: &Ground,
    server: &Server,
    database: &Database,
    lines: usize,
    table: &mut Table,
) -> anyhow::Result<()> {
    let slow = ground.thing("slow", 60)?;
    let mut connection = Connection::open(server.port).await?;
    for number in 0..APPLIES {
        let made = resource(&format!("meanwhile-{number}"), &slow, json!({ "name": "${resource.name}" }));
        let status = connection.send(&requests::post("/api/v1/resources", &made)).await?;
        ensure!(status == 201, "not made: {status}");
    }
    // One line in ten milliseconds: what it takes is not the queue's, but the way's.
    let speech = format!("sleep 2; for i in $(seq {lines}); do echo \"at $(date +%s%N) \"; sleep 0.01; done");
    eprintln!("{lines} lines to {READERS} readers, as they are written, while {APPLIES} applies begin");
    let job = talk(ground, server, database, "paced", &speech).await?;
    let bare = Broadcast::begin(&speech).await?;
    let live = format!("ws://127.0.0.1:{}/api/v1/jobs/{job}/log", server.port);
    let (bare, terrane) = tokio::try_join!(read_paced(bare.url(), lines), read_paced(live, lines))?;
    let ((bare_p50, bare_p99), (p50, p99)) = (quantiles(bare), quantiles(terrane));
    table.delays(format!("line to {READERS} readers, p50, {APPLIES} applies"), bare_p50, p50, None);
    table.delays(format!("line to {READERS} readers, p99, {APPLIES} applies"), bare_p99, p99, Some(3.0));
    let mut eye: AnyConnection = open(database).await?;
    let (_, failed) = standing(&mut eye).await?;
    ensure!(failed == 0, "{failed} applies failed");
    Ok(())
}

/// Milliseconds from each line to each reader.
async fn read_paced(url: String, lines: usize) -> anyhow::Result<Vec<f64>> {
    let delays = try_join_all((0..READERS).map(|_| read_lines(url.clone(), lines))).await?;
    Ok(delays.into_iter().flatten().collect())
}

async fn read_lines(url: String, lines: usize) -> anyhow::Result<Vec<f64>> {
    let (mut socket, _) = connect_async(url).await?;
    let (mut text, mut found) = (Vec::new(), Vec::new());
    while found.len() < lines {
        let Message::Binary(bytes) = socket.next().await.context("an end before the last line")?? else { continue };
        let arrived = now()?;
        text.extend_from_slice(&bytes);
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = text.split_off(whole);
        for line in String::from_utf8_lossy(&std::mem::replace(&mut text, rest)).lines() {
            let written = line.split_once(": at ").map_or(line.strip_prefix("at "), |(_, at)| Some(at));
            if let Some(written) = written.and_then(|at| at.trim().parse::<u128>().ok()) {
                found.push(arrived.saturating_sub(written) as f64 / 1e6);
            }
        }
    }
    Ok(found)
}

/// The measure of things: a program's lines, a channel, and a WebSocket for each reader.
struct Broadcast(SocketAddr);

impl Broadcast {
    async fn begin(speech: &str) -> anyhow::Result<Broadcast> {
        let (sender, _) = broadcast::channel::<String>(1024);
        let mut child = tokio::process::Command::new("sh")
            .args(["-c", speech])
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("its output")?).lines();
        let speaking = sender.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let _ = speaking.send(line + "\n");
            }
            child.wait().await
        });
        let router = Router::new().route("/", get(follow)).with_state(sender);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Broadcast(address))
    }

    fn url(&self) -> String {
        format!("ws://{}/", self.0)
    }
}

async fn follow(
    State(sender): State<broadcast::Sender<String>>,
    upgrade: WebSocketUpgrade,
) -> axum::response::Response {
    let mut lines = sender.subscribe();
    upgrade.on_upgrade(async move |mut socket| {
        while let Ok(line) = lines.recv().await {
            if socket.send(Frame::Binary(line.into())).await.is_err() {
                return;
            }
        }
    })
}
