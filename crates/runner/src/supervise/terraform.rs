//! How Terraform is called: its environment, built from nothing, its configuration, and what is laid into the module's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::job::{Import, Terraform};
use serde_json::json;

use super::job::Job;
use crate::beneath::Beneath;
use crate::settings::Settings;
use crate::state_copy::STATE;
use crate::wire::Run;

const SEARCHED: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Beside the module, not in it.
pub const PLAN: &str = "plan";
const VARIABLES: &str = "variables.tfvars.json";
const CLI_CONFIG: &str = "terraform.rc";
const GIT_CONFIG: &str = "home/.gitconfig";
/// The last in order, and the last of them wins: a module's own override of its backend comes before.
const OVERRIDE: &str = "~terrane_override.tf.json";

/// What exists already and is to be taken into the state.
const IMPORT: &str = "terrane_import.tf.json";

/// Credentials for Git, if the job has any, come from its environment; nothing is asked for or waited for.
const GIT_SETTINGS: &str = r#"[safe]
	directory = *
[http]
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[core]
	hooksPath = /dev/null
	sshCommand = ssh -o BatchMode=yes -o ConnectTimeout=30
[credential]
	helper = "!f() { test \"$1\" = get && test -n \"${TERRANE_GIT_PASSWORD-}\" && printf 'username=%s\\npassword=%s\\n' \"${TERRANE_GIT_USERNAME-git}\" \"$TERRANE_GIT_PASSWORD\"; }; f"
[submodule]
	recurse = false
"#;

/// What every step needs, before the first.
pub fn lay_out(work: &Beneath, owner: Option<u32>, terraform: &Terraform, settings: &Settings) -> io::Result<()> {
    for folder in ["home", "tmp"] {
        work.make_folder(Path::new(folder), owner)?;
    }
    work.write(Path::new(VARIABLES), &serde_json::to_vec(&terraform.variables)?, owner)?;
    work.write(Path::new(CLI_CONFIG), cli_config(settings).as_bytes(), owner)?;
    work.write(Path::new(GIT_CONFIG), GIT_SETTINGS.as_bytes(), owner)
}

/// What the module's folder needs: the local backend whatever the module says, and the state to go on from.
pub fn lay_into_module(job: &Job<'_>) -> io::Result<()> {
    let backend = json!({"terraform": {"backend": {"local": {}}}}).to_string();
    job.work.write(&job.root.join(OVERRIDE), backend.as_bytes(), job.cage.owner)?;
    if let Some(Import { address, id }) = &job.terraform().import {
        let import = json!({"import": [{"to": address, "id": id}]}).to_string();
        job.work.write(&job.root.join(IMPORT), import.as_bytes(), job.cage.owner)?;
    }
    match &job.terraform().state {
        Some(state) => job.work.write(&job.root.join(STATE), state.as_bytes(), job.cage.owner),
        None => job.work.remove(&job.root.join(STATE)),
    }
}

/// Whether `init` has taken the local backend, as it was told to.
pub fn backend_is_ours(job: &Job<'_>) -> bool {
    let Ok(chosen) = job.work.read(&job.root.join(".terraform").join(STATE)) else {
        // None was chosen: that is the local one.
        return true;
    };
    let chosen: serde_json::Value = serde_json::from_slice(&chosen).unwrap_or_default();
    let backend = &chosen["backend"];
    backend.is_null() || (backend["type"] == "local" && backend["config"]["path"].is_null())
}

pub fn run(job: &Job<'_>, arguments: &[&str]) -> Run {
    Run {
        program: job.settings.terraform.display().to_string(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        environment: environment(job),
        folder: job.seen(&job.root),
    }
}

pub fn plan_path(job: &Job<'_>) -> String {
    job.seen(Path::new(PLAN)).display().to_string()
}

pub fn variables_path(job: &Job<'_>) -> String {
    job.seen(Path::new(VARIABLES)).display().to_string()
}

pub fn environment(job: &Job<'_>) -> BTreeMap<String, String> {
    let seen = |path: &str| job.seen(Path::new(path)).display().to_string();
    // Collecting garbage is a third of a short run. It begins when a quarter of the memory is in use.
    let memory = (job.assignment.limits.memory_bytes / 4).max(64 << 20);
    let defaults = [
        ("PATH", SEARCHED.to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("GOGC", "off".to_owned()),
        ("GOMEMLIMIT", memory.to_string()),
    ];
    let fixed = [
        ("HOME", seen("home")),
        ("TMPDIR", seen("tmp")),
        ("TF_CLI_CONFIG_FILE", seen(CLI_CONFIG)),
        ("TF_IN_AUTOMATION", "1".to_owned()),
        ("TF_INPUT", "0".to_owned()),
        ("CHECKPOINT_DISABLE", "1".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", seen(GIT_CONFIG)),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
    ];
    let mut environment: BTreeMap<String, String> = defaults.map(|(name, value)| (name.to_owned(), value)).into();
    environment.extend(job.settings.environment.clone());
    environment.extend(job.terraform().environment.clone());
    environment.extend(job.secrets.clone());
    environment.extend(fixed.map(|(name, value)| (name.to_owned(), value)));
    // They would move the state to where nobody watches it.
    environment.retain(|name, _| name != "TF_WORKSPACE" && name != "TF_DATA_DIR" && !name.starts_with("TF_CLI_ARGS"));
    environment.extend([job.workspace.mark()].into_iter().filter(|_| job.cage.owner.is_none()));
    environment
}

pub fn cli_config(settings: &Settings) -> String {
    let quoted = |text: String| json!(text).to_string();
    let mut config = String::from("disable_checkpoint = true\n");
    if settings.mirrors.is_empty() && settings.download_providers {
        return config;
    }
    config.push_str("provider_installation {\n");
    for mirror in &settings.mirrors {
        config
            .push_str(&format!("  filesystem_mirror {{\n    path = {}\n  }}\n", quoted(mirror.display().to_string())));
    }
    if settings.download_providers {
        let mirrored: Vec<String> = settings.mirrors.iter().flat_map(|mirror| providers(mirror)).map(quoted).collect();
        config.push_str(&format!("  direct {{\n    exclude = [{}]\n  }}\n", mirrored.join(", ")));
    }
    config.push_str("}\n");
    config
}

/// The providers that a mirror has: `host/namespace/type`. They are not looked for elsewhere.
fn providers(mirror: &Path) -> Vec<String> {
    let mut found = vec![PathBuf::new()];
    for _ in 0..3 {
        let below = |folder: &PathBuf| {
            let entries = fs::read_dir(mirror.join(folder)).into_iter().flatten().flatten();
            let folder = folder.clone();
            entries.filter(|entry| entry.path().is_dir()).map(move |entry| folder.join(entry.file_name()))
        };
        found = found.iter().flat_map(below).collect();
    }
    found.iter().map(|path| path.display().to_string()).collect()
}
