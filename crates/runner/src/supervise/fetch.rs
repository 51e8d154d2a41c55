//! Brings the module's source into the workspace: a commit of a Git repository, or a copy of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Class;
use model::job::Source;

use super::cage::Ended;
use super::copy::copy;
use super::job::{Job, Trouble};
use super::{explained, terraform};
use crate::progress::Stage;
use crate::settings::Settings;
use crate::wire::Run;

/// One commit and no more where the server lets us; a server that only gives out its branches and tags is asked for all of them.
const SCRIPT: &str = r#"
git init --quiet source
cd source
git remote add origin "$1"
if ! git fetch --quiet --no-tags --depth 1 origin "$2"; then
  git fetch --quiet --tags origin '+refs/heads/*:refs/remotes/origin/*'
  git rev-parse --quiet --verify --end-of-options "$2^{commit}" > .git/FETCH_HEAD ||
    git rev-parse --quiet --verify --end-of-options "origin/$2^{commit}" > .git/FETCH_HEAD
fi
git checkout --quiet --detach FETCH_HEAD
git rev-parse HEAD
"#;

/// The commit, where the source is a repository.
pub fn fetch(job: &Job<'_>) -> Result<Option<String>, Trouble> {
    match &job.terraform().source {
        Source::Folder { path } => fetch_folder(job, Path::new(path)).map(|()| None),
        Source::Git { git, reference, commit, .. } => {
            let wanted = commit.as_deref().or(reference.as_deref()).unwrap_or("HEAD");
            fetch_git(job, git, wanted).map(Some)
        }
    }
}

fn fetch_folder(job: &Job<'_>, path: &Path) -> Result<(), Trouble> {
    let refused = |message: String| job.failure(Class::InvalidConfig, Stage::Fetch, message);
    let Some(source) = allowed(job.settings, path) else {
        return Err(refused(format!(
            "The module's folder {} is not there, or not below a folder that this runner takes modules from.",
            path.display()
        ))
        .with_hint("Name a folder below one of the runner's source roots, or let its operator add one.")
        .into());
    };
    job.log.say(&format!("Copying the module from {}", path.display()));
    copy(&source, &job.workspace.work().join("source"), job.cage.owner)
        .map_err(|problem| refused(format!("The module's folder cannot be copied: {problem}.")).into())
}

fn fetch_git(job: &Job<'_>, url: &str, wanted: &str) -> Result<String, Trouble> {
    if url.starts_with('-') || url.contains("::") || wanted.starts_with('-') {
        let message = format!("{url} at {wanted} is no Git address.");
        return Err(job.failure(Class::InvalidConfig, Stage::Fetch, message).into());
    }
    if let Some(path) = on_this_machine(url)
        && allowed(job.settings, &path).is_none()
    {
        let message = format!("The repository {url} is not below a folder that this runner takes modules from.");
        return Err(job.failure(Class::InvalidConfig, Stage::Fetch, message).into());
    }
    if on_this_machine(url).is_none() && !is_allowed_address(&job.settings.git_sources, url) {
        let message = format!("The repository {url} is not among those that this runner takes modules from.");
        let failure = job.failure(Class::InvalidConfig, Stage::Fetch, message);
        return Err(failure
            .with_hint("Let the runner's operator add it, or the address above it: --source-git")
            .into());
    }
    job.log.say(&format!("Fetching {url} at {wanted}"));
    let arguments = ["-euc", SCRIPT, "fetch", url, wanted].map(str::to_owned).to_vec();
    let run = Run { program: "sh".into(), arguments, environment: environment(job), folder: job.cage.work.clone() };
    let (ran, printed) = job.run_captured(Stage::Fetch, run)?;
    let commit = String::from_utf8_lossy(&printed).trim().to_owned();
    if ran.ended != Ended::Code(0) || commit.is_empty() {
        return Err(explained::of_fetch(job, url, wanted, &ran).into());
    }
    job.log.say(&format!("At commit {commit}"));
    Ok(commit)
}

fn environment(job: &Job<'_>) -> BTreeMap<String, String> {
    let mut environment = terraform::environment(job);
    // Nobody is there to be asked, and an address decides nothing but where to fetch from.
    let hardened = [
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", "/bin/true"),
        ("GIT_ALLOW_PROTOCOL", "https:ssh:http:file"),
        ("GIT_LFS_SKIP_SMUDGE", "1"),
    ];
    environment.extend(hardened.map(|(name, value)| (name.to_owned(), value.to_owned())));
    environment
}

/// A repository that is reached by its path.
pub fn on_this_machine(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("file://").unwrap_or(url);
    path.starts_with('/').then(|| PathBuf::from(path))
}

/// Whether the address is one of these or lies below one.
fn is_allowed_address(allowed: &[String], url: &str) -> bool {
    let below = |address: &str| {
        let rest = url.strip_prefix(address.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && !url.contains("/../")
    };
    allowed.iter().any(|address| address == "*" || below(address))
}

/// The folder itself, without links, if modules may come from there.
pub fn allowed(settings: &Settings, path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let mut roots = settings.source_roots.iter().filter_map(|root| root.canonicalize().ok());
    roots.any(|root| real.starts_with(root)).then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_covers_what_lies_below_it_and_nothing_that_only_looks_so() {
        let allowed = ["https://git.example/infra/".to_owned(), "git@host:team".to_owned()];
        for url in ["https://git.example/infra", "https://git.example/infra/db.git", "git@host:team/a.git"] {
            assert!(is_allowed_address(&allowed, url), "{url}");
        }
        for url in [
            "https://git.example/infrastructure",
            "https://git.example.evil/infra/db.git",
            "https://git.example/infra/../secret.git",
            "http://git.example/infra/db.git",
            "git@host:teammate/a.git",
        ] {
            assert!(!is_allowed_address(&allowed, url), "{url}");
        }
        assert!(is_allowed_address(&["*".to_owned()], "https://anywhere.example/a.git"));
        assert!(!is_allowed_address(&[], "https://anywhere.example/a.git"));
    }
}
