//! What both sides run Terraform on: the same program, the same module, the same provider, a simulated cloud that answers at
//! once.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::Server;
use crate::database::Database;

pub struct Ground {
    folder: TempDir,
    pub terraform: PathBuf,
}

impl Ground {
    pub fn prepare() -> anyhow::Result<Ground> {
        let ground = Ground { folder: TempDir::new()?, terraform: terraform()? };
        // Jobs run under users of their own.
        fs::set_permissions(ground.folder.path(), Permissions::from_mode(0o755))?;
        fs::create_dir(ground.path("world"))?;
        fs::set_permissions(ground.path("world"), Permissions::from_mode(0o777))?;
        fs::write(ground.path("key"), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")?;
        let mirror = ground.path("mirror");
        let cloudsim = std::env::current_exe()?.with_file_name("cloudsim");
        let made = Command::new(&cloudsim).args(["mirror", "--copy"]).arg(&mirror).output();
        let made = made.with_context(|| format!("{}: build it with --release -p cloudsim", cloudsim.display()))?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let config = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
        fs::write(ground.path("terraform.rc"), config)?;
        Ok(ground)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A root module of this name with these contents.
    pub fn module(&self, name: &str, contents: &str) -> anyhow::Result<PathBuf> {
        let folder = self.path(name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("main.tf"), contents)?;
        Ok(folder)
    }

    /// A module that makes one thing, so many seconds long.
    pub fn thing(&self, name: &str, seconds: u32) -> anyhow::Result<PathBuf> {
        let world = self.path("world");
        self.module(
            name,
            &format!(
                "terraform {{\n  required_providers {{\n    cloudsim = {{ source = \"terrane/cloudsim\" }}\n  }}\n}}\n\
                 provider \"cloudsim\" {{\n  world = {world:?}\n}}\nvariable \"name\" {{ type = string }}\n\
                 resource \"cloudsim_thing\" \"it\" {{\n  name = var.name\n  create_seconds = {seconds}\n}}\n"
            ),
        )
    }

    /// Everything in one process, with so many jobs at once.
    pub async fn server(&self, database: &Database, jobs: usize, terraform: &Path) -> anyhow::Result<Server> {
        let jobs = jobs.to_string();
        let own = ["workspaces", "mirror", "world", "key"].map(|name| self.path(name).display().to_string());
        let [workspaces, mirror, world, key] = &own;
        let terraform = terraform.display().to_string();
        let flags = [
            "--runner-capacity",
            &jobs,
            "--workspaces",
            workspaces,
            "--provider-mirror",
            mirror,
            "--job-folder",
            world,
            "--secrets-key-file",
            key,
            "--terraform",
            &terraform,
        ];
        Server::role("up", database, &flags).await
    }
}

/// A resource that Terraform makes of this module.
pub fn resource(name: &str, module: &Path, variables: Value) -> Value {
    json!({
        "name": name,
        "resource_type_name": "Thing",
        "resource_type_version": "v1",
        "action_plugin": "terraform",
        "plugin_config": { "source": { "path": module }, "variables": variables },
        "spec": {}
    })
}

fn terraform() -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("terraform"));
    found.find(|file| file.is_file()).context("terraform is not on the PATH")
}
