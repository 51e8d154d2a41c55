//! The runner as this process runs it: inside of a server, or as a process of its own.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use controller::{Dispatcher, Keyring, Live, Who};
use link::Link;
use runner::{MetadataBlock, Runner, RunnerSettings, Settings, block_metadata};
use store::Store;
use tracing::warn;

use crate::config::{Config, RunnerConfig};

/// A runner that is ready to run, and its hold on its workspaces.
pub struct Ready {
    pub runner: Arc<Runner>,
    pub lock: File,
}

/// The one inside of a server; none where it has nothing to run jobs with, or is not wanted.
pub fn embedded(
    config: &Config,
    store: &Store,
    keyring: Option<Arc<Keyring>>,
    live: Live,
) -> anyhow::Result<Option<Ready>> {
    let settings = &config.runner;
    if settings.capacity.value == 0 {
        return Ok(None);
    }
    if settings.terraform.value.is_none() {
        warn!("there is no terraform or tofu on the PATH: jobs wait until there is a runner that has one");
        return Ok(None);
    }
    let dispatcher = Dispatcher::new(store.clone(), keyring, config.leases(), live);
    let link = dispatcher.seat(Who::Embedded(format!("embedded-{}", std::process::id())));
    build(settings, Arc::new(link), config.asks_for_tokens()).map(Some)
}

/// `guarded`: jobs may be those of people who are not trusted with this machine.
pub fn build(settings: &RunnerConfig, link: Arc<dyn Link>, guarded: bool) -> anyhow::Result<Ready> {
    let Some(terraform) = &settings.terraform.value else {
        bail!("there is no terraform or tofu on the PATH: install one, or name it with --terraform");
    };
    let jobs = Settings {
        program: std::env::current_exe().context("cannot find this program's own file")?,
        arguments: vec!["supervise".into()],
        terraform: whole(terraform)?,
        mirrors: settings.provider_mirrors.value.iter().map(|path| whole(path)).collect::<Result<_, _>>()?,
        source_roots: settings.source_roots.value.iter().map(|path| whole(path)).collect::<Result<_, _>>()?,
        git_sources: settings.git_sources.value.clone(),
        shared: settings.job_folders.value.iter().map(|path| whole(path)).collect::<Result<_, _>>()?,
        require_isolation: settings.require_isolation.value,
        slots: 2 * std::thread::available_parallelism().map_or(2, usize::from),
        ..Settings::default()
    };
    let root = std::path::absolute(&settings.workspaces.value)?;
    let lock = lock(&root)?;
    let (base, capacity) = (std::env::current_dir()?, settings.capacity.value);
    let runner = RunnerSettings { root, base, capacity, jobs };
    if guarded && let MetadataBlock::Absent(why) = block_metadata(runner.jobs.uids) {
        warn!(why, "jobs can reach link-local addresses, where clouds offer the credentials of a machine");
    }
    Ok(Ready { runner: Runner::new(link, runner), lock })
}

/// Two runners over the same workspaces would both take the other's jobs for their own.
fn lock(root: &Path) -> anyhow::Result<File> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(root)
        .with_context(|| format!("cannot make the folder of workspaces {}", root.display()))?;
    let path = root.join("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("another runner uses {}: stop it, or choose other --workspaces", root.display())
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

/// From the root, since a job's folder is another one.
fn whole(path: &Path) -> anyhow::Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))
}
