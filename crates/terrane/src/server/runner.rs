//! The runner as this process runs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use controller::{Dispatcher, Keyring, Live};
use runner::{MetadataBlock, Runner, RunnerSettings, Settings, block_metadata};
use store::Store;
use tracing::warn;

use crate::config::Config;

/// A runner that is ready to run; none where it has nothing to run jobs with, or is not wanted.
pub fn build(
    config: &Config,
    store: &Store,
    keyring: Option<Arc<Keyring>>,
    live: Live,
) -> anyhow::Result<Option<Arc<Runner>>> {
    let settings = &config.runner;
    if settings.capacity.value == 0 {
        return Ok(None);
    }
    let Some(terraform) = &settings.terraform.value else {
        warn!("there is no terraform or tofu on the PATH: jobs wait until there is a runner that has one");
        return Ok(None);
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
    let runner = RunnerSettings {
        name: format!("embedded-{}", std::process::id()),
        root,
        base: std::env::current_dir()?,
        capacity: settings.capacity.value,
        jobs,
    };
    if config.asks_for_tokens()
        && let MetadataBlock::Absent(why) = block_metadata(runner.jobs.uids)
    {
        warn!(why, "jobs can reach link-local addresses, where clouds offer the credentials of a machine");
    }
    let link = Dispatcher::new(store.clone(), keyring, settings.job_lease.value, live);
    Ok(Some(Runner::new(Arc::new(link), runner)))
}

/// From the root, since a job's folder is another one.
fn whole(path: &Path) -> anyhow::Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))
}
