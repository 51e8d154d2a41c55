//! A file is replaced as a whole or not at all: written beside it, brought to disk, renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(content)?;
    file.sync_data()?;
    fs::rename(&fresh, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_data(),
        None => Ok(()),
    }
}
