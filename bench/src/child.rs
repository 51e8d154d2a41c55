//! The servers under measurement: processes of their own, started, looked at and stopped.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::database::Database;
use crate::http::Connection;
use crate::requests;

pub struct Server {
    child: Child,
    pub port: u16,
    /// From the start of the process until it said that it is ready.
    pub start: Duration,
}

impl Server {
    /// Terrane as it comes, its log going to a file.
    pub async fn terrane(database: &Database) -> anyhow::Result<Server> {
        Server::role("server", database, &[]).await
    }

    /// Any role of it.
    pub async fn role(role: &str, database: &Database, flags: &[&str]) -> anyhow::Result<Server> {
        let port = free_port()?;
        let listen = format!("127.0.0.1:{port}");
        let arguments = [&[role, "--database", &database.url, "--listen", &listen, "--log", "warn"], flags].concat();
        Server::start(&terrane()?, &arguments, port, database.folder.path()).await
    }

    pub async fn bare(database: &Database, pool: u32) -> anyhow::Result<Server> {
        let port = free_port()?;
        let listen = format!("127.0.0.1:{port}");
        let pool = pool.to_string();
        let arguments = ["bare", "--database", &database.url, "--listen", &listen, "--pool", &pool];
        Server::start(&std::env::current_exe()?, &arguments, port, database.folder.path()).await
    }

    async fn start(program: &Path, arguments: &[&str], port: u16, folder: &Path) -> anyhow::Result<Server> {
        let log = File::options().create(true).append(true).open(folder.join("log"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("{} cannot be started", program.display()))?;
        let mut server = Server { child, port, start: Duration::ZERO };
        let ready = requests::get("/ready");
        while started.elapsed() < Duration::from_secs(60) {
            if let Ok(mut connection) = Connection::open(port).await
                && connection.send(&ready).await.is_ok_and(|status| status == 200)
            {
                server.start = started.elapsed();
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("{} ended with {status}: {}", program.display(), std::fs::read_to_string(folder.join("log"))?);
            }
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        bail!("{} does not become ready", program.display())
    }

    /// Resident memory in MB.
    pub fn resident(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("Linux says what is resident")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// Seconds of a processor that it has used.
    pub fn cpu(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(')').context("Linux says what was used")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().unwrap_or(0.0));
        Ok(ticks.sum::<f64>() / 100.0)
    }

    /// kill -9.
    pub fn kill(self) {
        drop(self);
    }

    /// Stop it in good order, so that the next start has nothing to repair.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let sent = Command::new("/bin/sh").args(["-c", &format!("kill -TERM {}", self.child.id())]).status()?;
        ensure!(sent.success(), "the server is gone already");
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(asked.elapsed() < Duration::from_secs(30), "the server does not stop");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program of the same build as this one.
fn terrane() -> anyhow::Result<PathBuf> {
    let binary = std::env::current_exe()?.with_file_name("terrane");
    ensure!(binary.is_file(), "{} is not there: build it with `cargo build --release -p terrane`", binary.display());
    Ok(binary)
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
