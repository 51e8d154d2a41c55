//! Terrane in its two profiles: one process with everything inside, or a control plane and runners apart.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::broker::Broker;
use crate::cloud::Cloud;
use crate::database::Database;
use crate::program::program;
use crate::server::Server;
use crate::wait::eventually;

pub struct House {
    pub server: Server,
    pub runners: Vec<Runner>,
}

impl House {
    /// Embedded on SQLite; on PostgreSQL a control plane that runs nothing itself, a runner, and RabbitMQ between them.
    pub async fn build(cloud: &Cloud, database: &Database, flags: &[&str]) -> House {
        if !database.is_postgres() {
            return House { server: cloud.server(database, flags).await, runners: Vec::new() };
        }
        let broker = Broker::of_its_own();
        let mut house = House::apart(cloud, database, &[flags, &["--broker", &broker]].concat()).await;
        house.hire(cloud, "one", json!({ "tenants": ["default"] }), &["--broker", &broker]).await;
        house
    }

    /// A control plane that runs nothing itself.
    pub async fn apart(cloud: &Cloud, database: &Database, flags: &[&str]) -> House {
        let flags = [flags, &["--runner-capacity", "0"]].concat();
        House { server: cloud.server(database, &flags).await, runners: Vec::new() }
    }

    /// A runner on what would be another machine: it shares nothing with others but the cloud.
    pub async fn hire(&mut self, cloud: &Cloud, name: &str, enrolment: Value, flags: &[&str]) {
        let token = self.enrol(name, enrolment).await;
        let runner = self.start(cloud, name, &token, flags);
        self.runners.push(runner);
    }

    /// Its token.
    pub async fn enrol(&self, name: &str, mut enrolment: Value) -> String {
        enrolment["name"] = json!(name);
        let made = self.api().post("/api/v1/runners", &enrolment).await.ok();
        made["token"].as_str().expect("a token").to_owned()
    }

    pub fn start(&self, cloud: &Cloud, name: &str, token: &str, flags: &[&str]) -> Runner {
        let server = format!("http://127.0.0.1:{}", self.server.port);
        let own = cloud.runner_flags(&format!("workspaces-{name}"));
        let own: Vec<&str> = own.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        Runner::start(&server, token, &own)
    }

    pub fn api(&self) -> Api {
        self.server.api()
    }

    /// kill -9 of every process.
    pub fn kill(&mut self) {
        self.runners.iter_mut().for_each(Runner::kill);
        self.server.kill();
    }

    /// All of them again, where they were.
    pub async fn restart(&mut self) {
        self.server.restart().await;
        self.runners.iter_mut().for_each(Runner::run_again);
    }
}

/// `terrane runner`, as a process.
pub struct Runner {
    arguments: Vec<String>,
    folder: TempDir,
    child: Child,
}

impl Runner {
    pub fn start(server: &str, token: &str, flags: &[&str]) -> Runner {
        let folder = TempDir::new().expect("a temporary folder");
        let file = folder.path().join("token");
        fs::write(&file, token).expect("a token");
        let file = file.display().to_string();
        let own = ["runner", "--server", server, "--token-file", &file];
        let arguments: Vec<String> = own.iter().chain(flags).map(ToString::to_string).collect();
        let child = execute(folder.path(), &arguments);
        Runner { arguments, folder, child }
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// TERM asks it to stop; STOP freezes it, and CONT lets it go on.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("/bin/sh").args(["-c", &format!("kill -{signal} {}", self.child.id())]).status();
        assert!(sent.expect("sh is there").success(), "the runner is there to be told");
    }

    pub fn run_again(&mut self) {
        self.child = execute(self.folder.path(), &self.arguments);
    }

    /// Wait for its end.
    pub async fn end(&mut self) -> ExitStatus {
        eventually("the runner to end", async || self.child.try_wait().expect("a child can be asked")).await
    }

    /// All it has written so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.path().join("log")).unwrap_or_default()).into_owned()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn execute(folder: &Path, arguments: &[String]) -> Child {
    let open = || File::options().create(true).append(true).open(folder.join("log")).expect("a file for its output");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    program(folder, &arguments).stdout(open()).stderr(open()).spawn().expect("the program can be started")
}
