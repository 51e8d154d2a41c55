//! What can go wrong with a workspace, as the runner sees it.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {what} {}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{} does not hold what it should", path.display())]
    Content { path: PathBuf, source: serde_json::Error },
    #[error("{} is there already; remove it first", .0.display())]
    Occupied(PathBuf),
    #[error("cannot start the supervisor {}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("processes of {} do not end: {pids:?}", folder.display())]
    Undead { folder: PathBuf, pids: Vec<i32> },
}

impl Error {
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { what, path, source }
    }

    pub(crate) fn content(path: &Path) -> impl FnOnce(serde_json::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Content { path, source }
    }
}
