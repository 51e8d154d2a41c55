//! A running server: started, killed, stopped and started again on the same port and data.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::api::Api;
use crate::database::Database;
use crate::program::program;
use crate::wait::eventually;

/// How often another port is tried where somebody was quicker.
const TRIES: usize = 5;

pub struct Server {
    pub port: u16,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    folder: TempDir,
    child: Child,
    tls: bool,
}

impl Server {
    /// `terrane server` on this database, ready for requests.
    pub async fn start(database: &Database, flags: &[&str]) -> Server {
        let mut server = Server::launch(database, flags);
        server.ready().await;
        server
    }

    /// The same without waiting for it to be ready.
    pub fn launch(database: &Database, flags: &[&str]) -> Server {
        Server::spawn("server", &[&["--database", &database.url], flags].concat(), &[])
    }

    /// Any role, flags and variables; `--listen` is added.
    pub fn spawn(role: &str, flags: &[&str], variables: &[(&str, &str)]) -> Server {
        let port = free_port();
        let mut arguments = vec![role.to_string(), "--listen".into(), format!("127.0.0.1:{port}")];
        arguments.extend(flags.iter().map(ToString::to_string));
        let variables: Vec<_> = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let folder = TempDir::new().expect("a temporary folder");
        let tls = flags.contains(&"--tls-cert");
        let child = execute(&folder, &arguments, &variables);
        Server { port, arguments, variables, folder, child, tls }
    }

    /// Wait until it says that it is ready. Where it lost its port to another process, it starts on another.
    pub async fn ready(&mut self) {
        let api = self.api();
        for _ in 0..TRIES {
            let ended = eventually("the server to be ready", async || {
                if let Some(status) = self.ended() {
                    return Some(Some(status));
                }
                (api.ready().await == Some(200)).then_some(None)
            });
            match ended.await {
                None => return,
                Some(status) => {
                    assert!(self.log().contains("cannot listen"), "the server ended with {status}: {}", self.log());
                    self.run_again();
                }
            }
        }
        panic!("port {} stays taken", self.port);
    }

    /// A client of it, without a token.
    pub fn api(&self) -> Api {
        Api::at(&self.url())
    }

    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", if self.tls { "https" } else { "http" }, self.port)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// kill -9: no farewell.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// Ask it to stop.
    pub fn term(&self) {
        let sent = Command::new("/bin/sh").args(["-c", &format!("kill -TERM {}", self.child.id())]).status();
        assert!(sent.expect("sh is there").success(), "the server is there to be told");
    }

    /// How it ended, where it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be asked")
    }

    /// Wait for its end.
    pub async fn end(&mut self) -> ExitStatus {
        eventually("the server to end", async || self.ended()).await
    }

    /// Start it again with the same flags, on the same port and data, and wait until it is ready.
    pub async fn restart(&mut self) {
        self.run_again();
        self.ready().await;
    }

    fn run_again(&mut self) {
        self.child = execute(&self.folder, &self.arguments, &self.variables);
    }

    /// All it has written so far to both streams, over all its starts.
    pub fn log(&self) -> String {
        let read = |name| std::fs::read(self.folder.path().join(name)).expect("its output is kept");
        ["stdout", "stderr"].map(|name| String::from_utf8_lossy(&read(name)).into_owned()).concat()
    }

    /// Bytes it has read by system calls so far.
    pub fn bytes_read(&self) -> u64 {
        let io =
            std::fs::read_to_string(format!("/proc/{}/io", self.pid())).expect("Linux counts what a process reads");
        let count = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("the count of bytes read");
        count.parse().expect("a number")
    }
}

/// What a server holds on to.
#[derive(Debug)]
pub struct Holdings {
    pub tasks: u64,
    pub sockets: usize,
    pub resident_kb: u64,
}

impl Server {
    pub async fn holdings(&self) -> Holdings {
        let metrics = self.api().text("/metrics").await;
        let number = |line: &str| line.rsplit(' ').next().and_then(|word| word.parse().ok());
        let tasks = metrics.lines().find(|line| line.starts_with("terrane_tasks ")).and_then(number);
        let folder = format!("/proc/{}", self.pid());
        let links = std::fs::read_dir(format!("{folder}/fd")).expect("Linux lists what is open");
        let is_socket = |path: &std::path::Path| {
            std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
        };
        let sockets = links.flatten().filter(|entry| is_socket(&entry.path())).count();
        let status = std::fs::read_to_string(format!("{folder}/status")).expect("Linux says what is resident");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = resident.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
        Holdings {
            tasks: tasks.expect("the number of tasks is a metric"),
            sockets,
            resident_kb: resident.expect("a number"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn execute(folder: &TempDir, arguments: &[String], variables: &[(String, String)]) -> Child {
    let open = |name| -> File {
        let path: PathBuf = folder.path().join(name);
        File::options().create(true).append(true).open(path).expect("a file for its output")
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = program(folder.path(), &arguments);
    command.envs(variables.iter().map(|(name, value)| (name, value))).stdout(open("stdout")).stderr(open("stderr"));
    command.spawn().expect("the program can be started")
}

/// A port that nobody listens on. Below those that the kernel hands to clients, so that none of them takes it while a
/// server is down between two starts; never the same twice in one process.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    let mut given = GIVEN.lock().expect("nobody panics with the lock");
    let given = given.get_or_insert_default();
    for attempt in 0..1000_u32 {
        let port = 10_000 + (RandomState::new().hash_one(attempt) % 20_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() && given.insert(port) {
            return port;
        }
    }
    panic!("no port is free");
}
