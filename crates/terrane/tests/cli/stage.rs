//! Where a story plays: a server of its own on a port of its own, a home folder of its own, and nothing of the
//! machine's environment.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_terrane");
/// Only so that a broken story ends; none measures time.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Stage {
    pub dir: TempDir,
    pub port: u16,
    flags: Vec<String>,
    server: Option<Child>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Run {
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Both streams and the code, as a snapshot shows them.
    pub fn all(&self) -> String {
        format!("{}---\n{}--- {}", self.stdout, self.stderr, self.code.unwrap_or(-1))
    }
}

impl Stage {
    /// With a server.
    pub fn new() -> Stage {
        let mut stage = Stage::empty();
        stage.serve(&[]);
        stage
    }

    /// With a server that has the example of a database.
    pub fn with_database() -> Stage {
        let stage = Stage::new();
        stage.terrane(&["apply", "-f", &example("database.yaml")]).ok();
        stage
    }

    /// Without a server.
    pub fn empty() -> Stage {
        Stage { dir: TempDir::new().unwrap(), port: free_port(), flags: vec![], server: None }
    }

    pub fn serve(&mut self, flags: &[&str]) {
        self.flags = flags.iter().map(ToString::to_string).collect();
        // Another process may have taken the port in the meantime.
        for _ in 0..10 {
            if self.start() {
                return;
            }
            self.port = free_port();
        }
        panic!("no server would start");
    }

    /// Start a server where the last one was.
    pub fn start(&mut self) -> bool {
        let mut child = self
            .command(&["up", "--no-controller", "--listen", &format!("127.0.0.1:{}", self.port), "--log", "error"])
            .args(&self.flags)
            .env_remove("TERRANE_SERVER")
            .env("TERRANE_DATA_DIR", self.data_dir())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut first).unwrap();
        if !first.starts_with("Terrane is up") {
            child.wait().unwrap();
            return false;
        }
        std::thread::spawn(move || stdout.read_to_string(&mut String::new()));
        self.server = Some(child);
        true
    }

    /// As kill -9 does.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("HOME", self.dir.path())
            .env("XDG_CONFIG_HOME", self.dir.path().join("config"))
            .env("PATH", "/usr/bin:/bin")
            .env("TERRANE_SERVER", self.url())
            .stdin(Stdio::null());
        command
    }

    pub fn terrane(&self, args: &[&str]) -> Run {
        finish(self.command(args))
    }

    pub fn terrane_with(&self, args: &[&str], env: &[(&str, &str)]) -> Run {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        finish(command)
    }

    /// With something on standard input.
    pub fn fed(&self, args: &[&str], input: &str) -> Run {
        let mut child =
            self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_string();
        let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let _ = feeder.join();
        run_of(output)
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        name.to_string()
    }

    /// A resource of the example's type.
    pub fn database(&self, name: &str, labels: &str) -> String {
        let text = format!(
            "{{name: {name}, resource_type_name: DatabaseCluster, resource_type_version: v1, action_plugin: github_actions, \
             labels: {{{labels}}}, spec: {{engine: mysql, engine_version: '8', instance_class: db.small, storage_gb: 10}}}}"
        );
        let run = self.fed(&["apply", "-f", "-"], &text);
        run.ok()
    }

    /// What the controller will do one day: change what is known of resources.
    pub fn sql(&self, text: &'static str) {
        let file = self.data_dir().join("terrane.db");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut connection = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
            sqlx::query(text).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        });
    }

    /// Start a command that goes on, and read its lines as they come.
    pub fn follow(&self, args: &[&str]) -> Follower {
        let mut child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        Follower { child, lines }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill();
    }
}

pub struct Follower {
    pub child: Child,
    lines: Receiver<String>,
}

impl Follower {
    pub fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line in time")
    }

    pub fn end(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

pub fn finish(mut command: Command) -> Run {
    run_of(command.output().unwrap())
}

fn run_of(output: std::process::Output) -> Run {
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).display().to_string()
}
