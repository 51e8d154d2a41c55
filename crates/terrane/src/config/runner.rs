//! Settings of the runner.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;

use super::engine::{Time, some, to_duration};
use super::find_on_path;
use super::settings::{Picker, Setting, Source};

#[derive(Debug, Clone, Default, Args)]
pub struct RunnerFlags {
    /// Jobs that run at the same time; 0 runs none here [default: 8 for each processor, as far as there is memory]
    #[arg(long, env = "TERRANE_RUNNER_CAPACITY", value_name = "N", help_heading = "Runner")]
    pub runner_capacity: Option<usize>,
    /// Terraform or OpenTofu [default: the first of terraform, tofu on the PATH]
    #[arg(long, env = "TERRANE_TERRAFORM", value_name = "PROGRAM", help_heading = "Runner")]
    pub terraform: Option<PathBuf>,
    /// Where jobs have their workspaces [default: workspaces in the data folder]
    #[arg(long, env = "TERRANE_WORKSPACES", value_name = "DIR", help_heading = "Runner")]
    pub workspaces: Option<PathBuf>,
    /// A folder of providers, as `terraform providers mirror` makes it; may be given several times
    #[arg(long, env = "TERRANE_PROVIDER_MIRROR", value_name = "DIR", value_delimiter = ',', help_heading = "Runner")]
    pub provider_mirror: Vec<PathBuf>,
    /// Let root modules come from folders below this one; may be given several times [default: any, where no token is asked for]
    #[arg(long, env = "TERRANE_SOURCE_ROOT", value_name = "DIR", value_delimiter = ',', help_heading = "Runner")]
    pub source_root: Vec<PathBuf>,
    /// Let root modules come from this Git address and all below it; may be given several times [default: any, where no token is
    /// asked for]
    #[arg(long, env = "TERRANE_SOURCE_GIT", value_name = "URL", value_delimiter = ',', help_heading = "Runner")]
    pub source_git: Vec<String>,
    /// Let every job see and write this folder of the machine; may be given several times
    #[arg(long, env = "TERRANE_JOB_FOLDER", value_name = "DIR", value_delimiter = ',', help_heading = "Runner")]
    pub job_folder: Vec<PathBuf>,
    /// Rather run no job than one that is not kept apart from this machine and from other jobs
    #[arg(long, env = "TERRANE_REQUIRE_ISOLATION", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL",
        help_heading = "Runner")]
    pub require_isolation: Option<bool>,
}

/// The same in the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerFile {
    pub capacity: Option<usize>,
    pub terraform: Option<PathBuf>,
    pub workspaces: Option<PathBuf>,
    pub provider_mirrors: Option<Vec<PathBuf>>,
    pub source_roots: Option<Vec<PathBuf>>,
    pub git_sources: Option<Vec<String>>,
    pub job_folders: Option<Vec<PathBuf>>,
    pub require_isolation: Option<bool>,
    pub job_lease: Option<Time>,
    pub apply_lease: Option<Time>,
}

#[derive(Debug, Clone)]
pub struct RunnerConfig {
    pub capacity: Setting<usize>,
    /// None where there is none to be found.
    pub terraform: Setting<Option<PathBuf>>,
    pub workspaces: Setting<PathBuf>,
    pub provider_mirrors: Setting<Vec<PathBuf>>,
    pub source_roots: Setting<Vec<PathBuf>>,
    pub git_sources: Setting<Vec<String>>,
    pub job_folders: Setting<Vec<PathBuf>>,
    pub require_isolation: Setting<bool>,
}

impl RunnerConfig {
    /// `open`: nobody but the user of this machine can ask for anything.
    pub(super) fn read(
        picker: &Picker<'_>,
        flags: RunnerFlags,
        file: RunnerFile,
        data_dir: &std::path::Path,
        open: bool,
    ) -> RunnerConfig {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        let anywhere = if open { vec![PathBuf::from("/")] } else { Vec::new() };
        RunnerConfig {
            capacity: picker.pick(
                ["runner_capacity", "runner-capacity", "TERRANE_RUNNER_CAPACITY"],
                flags.runner_capacity,
                file.capacity,
                (8 * processors).min(as_many_as_fit()).max(4),
            ),
            terraform: picker.pick(
                ["terraform", "terraform", "TERRANE_TERRAFORM"],
                flags.terraform.map(Some),
                file.terraform.map(Some),
                find_on_path(&["terraform", "tofu"]),
            ),
            workspaces: picker.pick(
                ["workspaces", "workspaces", "TERRANE_WORKSPACES"],
                flags.workspaces,
                file.workspaces,
                data_dir.join("workspaces"),
            ),
            provider_mirrors: picker.pick(
                ["provider_mirror", "provider-mirror", "TERRANE_PROVIDER_MIRROR"],
                some(flags.provider_mirror),
                file.provider_mirrors,
                Vec::new(),
            ),
            source_roots: picker.pick(
                ["source_root", "source-root", "TERRANE_SOURCE_ROOT"],
                some(flags.source_root),
                file.source_roots,
                anywhere,
            ),
            git_sources: picker.pick(
                ["source_git", "source-git", "TERRANE_SOURCE_GIT"],
                some(flags.source_git),
                file.git_sources,
                if open { vec!["*".into()] } else { Vec::new() },
            ),
            job_folders: picker.pick(
                ["job_folder", "job-folder", "TERRANE_JOB_FOLDER"],
                some(flags.job_folder),
                file.job_folders,
                Vec::new(),
            ),
            require_isolation: picker.pick(
                ["require_isolation", "require-isolation", "TERRANE_REQUIRE_ISOLATION"],
                flags.require_isolation,
                file.require_isolation,
                !open,
            ),
        }
    }

    pub(super) fn rows(&self) -> Vec<(&'static str, String, &Source)> {
        let path = |path: &PathBuf| path.display().to_string();
        let paths = |paths: &[PathBuf]| {
            if paths.is_empty() { "-".into() } else { paths.iter().map(path).collect::<Vec<_>>().join(",") }
        };
        vec![
            ("runner_capacity", self.capacity.value.to_string(), &self.capacity.source),
            ("terraform", self.terraform.value.as_ref().map_or("-".into(), path), &self.terraform.source),
            ("workspaces", path(&self.workspaces.value), &self.workspaces.source),
            ("provider_mirrors", paths(&self.provider_mirrors.value), &self.provider_mirrors.source),
            ("source_roots", paths(&self.source_roots.value), &self.source_roots.source),
            (
                "git_sources",
                if self.git_sources.value.is_empty() { "-".into() } else { self.git_sources.value.join(",") },
                &self.git_sources.source,
            ),
            ("job_folders", paths(&self.job_folders.value), &self.job_folders.source),
            ("require_isolation", self.require_isolation.value.to_string(), &self.require_isolation.source),
        ]
    }
}

/// Jobs that the machine's memory is enough for, as they usually are. Most of them wait for a cloud.
fn as_many_as_fit() -> usize {
    const USUAL_KB: usize = 512 * 1024;
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(usize::MAX, |kilobytes: usize| kilobytes / USUAL_KB)
}

/// A setting's names, and its default.
type Named = ([&'static str; 3], &'static str);
pub(super) const JOB_LEASE: Named = (["job_lease", "job-lease", "TERRANE_JOB_LEASE"], "30s");
pub(super) const APPLY_LEASE: Named = (["apply_lease", "apply-lease", "TERRANE_APPLY_LEASE"], "10m");

/// How long a job is a runner's: for the control plane to say, whichever runner it is.
pub(super) fn lease(
    picker: &Picker<'_>,
    (names, default): Named,
    given: Option<String>,
    in_file: Option<Time>,
) -> anyhow::Result<Setting<Duration>> {
    let lease = picker.pick(names, given.map(Time::Text), in_file, Time::Text(default.into()));
    let value = to_duration(&lease.value).with_context(|| format!("--{}", names[1]))?;
    if value < Duration::from_secs(5) {
        bail!("--{} is at least 5s: a job has to be renewed before it lapses", names[1]);
    }
    Ok(Setting { value, source: lease.source })
}
