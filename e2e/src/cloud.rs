//! A simulated cloud, and a server whose jobs can reach it and nothing else.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::database::Database;
use crate::program::beside;
use crate::server::Server;
use crate::wait::eventually;

/// A key for sealing, the same at every start.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

pub struct Cloud {
    folder: TempDir,
}

impl Cloud {
    /// An empty one, with the provider that leads to it.
    pub fn open() -> Cloud {
        let folder = TempDir::new().expect("a temporary folder");
        // Jobs run under users of their own.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("the folder can be opened");
        fs::create_dir(folder.path().join("world")).expect("a folder");
        fs::set_permissions(folder.path().join("world"), Permissions::from_mode(0o777)).expect("it can be opened");
        fs::write(folder.path().join("key"), KEY).expect("a key");
        let cloud = Cloud { folder };
        cloud.ask(&["mirror", "--copy", &cloud.path("mirror").display().to_string()]);
        cloud
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let output = Command::new(beside("cloudsim")).args(arguments).output().expect("cloudsim can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    fn told(&self, what: &str) -> Vec<Value> {
        if !self.path("world/ledger.jsonl").exists() {
            return Vec::new();
        }
        let lines = self.ask(&[what, &self.path("world").display().to_string()]);
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// What exists.
    pub fn objects(&self) -> Vec<Value> {
        self.told("objects")
    }

    /// Each effect that providers had on an object, in order.
    pub fn effects(&self, name: &str) -> Vec<String> {
        let effects = self.told("ledger").into_iter().filter(|effect| effect["name"] == name);
        effects.map(|effect| effect["effect"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Change an object behind everybody's back.
    pub fn edit(&self, name: &str, assignment: &str) {
        self.ask(&["edit", &self.path("world").display().to_string(), name, assignment]);
    }

    /// A root module with these contents, after the provider's configuration.
    pub fn module(&self, name: &str, contents: &str) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir_all(&folder).expect("a folder");
        let world = self.path("world").display().to_string();
        let head = format!(
            "terraform {{\n  required_providers {{\n    cloudsim = {{ source = \"terrane/cloudsim\" }}\n  }}\n}}\n\
             provider \"cloudsim\" {{\n  world = {world:?}\n}}\n"
        );
        fs::write(folder.join("main.tf"), head + contents).expect("a module");
        folder
    }

    /// `terrane up` on this database, with Terraform and this cloud, and a type `Thing` to declare.
    pub async fn server(&self, database: &Database, flags: &[&str]) -> Server {
        let key = self.path("key").display().to_string();
        let own = self.runner_flags("workspaces");
        let mut own: Vec<&str> = own.iter().map(String::as_str).collect();
        own.extend(["--database", &database.url, "--secrets-key-file", &key]);
        let mut server = Server::spawn("up", &[&own[..], flags].concat(), &[]);
        server.ready().await;
        let kind = json!({ "name": "Thing", "version": "v1", "schema": { "type": "object" } });
        server.api().post("/api/v1/resource-types", &kind).await.ok();
        server
    }

    /// Where the jobs of its server have their workspaces.
    pub fn workspaces_folder(&self) -> PathBuf {
        self.path("workspaces")
    }

    /// For a runner whose jobs can reach this cloud and nothing else, with its workspaces in a folder of this name.
    pub fn runner_flags(&self, workspaces: &str) -> Vec<String> {
        let path = |name| self.path(name).display().to_string();
        let flags = [
            ("--workspaces", path(workspaces)),
            ("--provider-mirror", path("mirror")),
            ("--job-folder", path("world")),
            ("--source-root", self.folder.path().display().to_string()),
            ("--terraform", terraform().display().to_string()),
            ("--log", "warn".into()),
        ];
        flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
    }

    /// A folder that jobs can see and write.
    pub fn world(&self) -> PathBuf {
        self.path("world")
    }

    /// Run plain Terraform in a folder, as a person would. What it said; an error where it did not end with 0.
    pub fn terraform(&self, folder: &Path, arguments: &[&str]) -> Result<String, String> {
        let mirror = self.path("mirror").display().to_string();
        let config = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
        fs::write(self.path("terraformrc"), config).expect("a configuration");
        let mut command = Command::new(terraform());
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("TF_IN_AUTOMATION", "1");
        command.env("TF_CLI_CONFIG_FILE", self.path("terraformrc")).env("CHECKPOINT_DISABLE", "1");
        command.env("HOME", self.folder.path()).stdin(Stdio::null());
        let output = command.output().expect("terraform can be started");
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    /// What is left of jobs, with any runner.
    pub fn workspaces(&self) -> usize {
        let folders = fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        let workspaces = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("workspaces"));
        let entries = workspaces.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("job-")).count()
    }
}

/// Declare a resource that Terraform makes.
pub async fn declare(api: &Api, name: &str, module: &Path, spec: Value, config: Value) -> i64 {
    let mut plugin_config = json!({ "source": { "path": module } });
    for (key, value) in config.as_object().into_iter().flatten() {
        plugin_config[key] = value.clone();
    }
    let resource = json!({
        "name": name, "resource_type_name": "Thing", "resource_type_version": "v1",
        "action_plugin": "terraform", "plugin_config": plugin_config, "spec": spec,
    });
    api.post("/api/v1/resources", &resource).await.ok()["id"].as_i64().expect("an id")
}

/// Wait until the resource stands so.
pub async fn stands(api: &Api, id: i64, status: &str, generation: i64) -> Value {
    eventually(&format!("resource {id} to be {status}"), async || {
        let resource = api.get(&format!("/api/v1/resources/{id}")).await.body;
        let at_rest = resource["operation_id"].is_null() && resource["generation"] == generation;
        let observed = status != "ready" || resource["observed_generation"] == generation;
        (resource["status"] == status && at_rest && observed).then_some(resource)
    })
    .await
}

/// The resource's jobs, newest first.
pub async fn jobs(api: &Api, id: i64) -> Vec<Value> {
    let jobs = api.get(&format!("/api/v1/resources/{id}/jobs")).await.ok();
    jobs.as_array().cloned().unwrap_or_default()
}

/// What a job has printed, from this byte on.
pub async fn log(api: &Api, job: &Value, from: usize) -> String {
    let answer = api.get(&format!("/api/v1/jobs/{}/log?from={from}", job["id"])).await;
    answer.ok().as_str().unwrap_or_default().to_owned()
}

fn terraform() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("terraform"));
    found.find(|file| file.is_file()).expect("terraform is on the PATH")
}
