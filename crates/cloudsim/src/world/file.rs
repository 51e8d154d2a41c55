//! Files that are never seen half-written, and errors that say which file it was.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use super::WorldError;

/// Adds the path to an error of the file system.
pub fn at(path: &Path) -> impl FnOnce(io::Error) -> WorldError {
    move |source| WorldError::Io { path: path.to_owned(), source }
}

/// The content of a file that may not be there.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, WorldError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| WorldError::Malformed { path: path.to_owned(), source }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

/// Puts a file in place at once. `draft` is on the same file system, and only the holder of the world's lock writes it.
pub fn write<T: Serialize>(path: &Path, draft: &Path, content: &T) -> Result<(), WorldError> {
    let malformed = |source| WorldError::Malformed { path: path.to_owned(), source };
    let mut bytes = serde_json::to_vec_pretty(content).map_err(malformed)?;
    bytes.push(b'\n');
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    fs::write(draft, bytes).map_err(at(draft))?;
    fs::rename(draft, path).map_err(at(path))
}

/// Removes a file that may be gone already.
pub fn remove(path: &Path) -> Result<(), WorldError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(at(path)),
    }
}

/// Removes a folder with all that is in it; it may be gone already.
pub fn remove_all(path: &Path) -> Result<(), WorldError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(at(path)),
    }
}

/// What is in a folder that may not be there.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, WorldError> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(at(folder))?.path())).collect(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(at(folder)(error)),
    }
}
