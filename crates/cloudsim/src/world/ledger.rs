//! The ledger: what was done in this world, by which process, and when. It tells of accepted requests only; what a person
//! changes by hand, behind Terraform's back, is not in it.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

use serde::Serialize;

use super::{Moment, WorldError, file::at};

#[derive(Debug, Serialize)]
pub struct Entry {
    pub at: Moment,
    pub effect: Effect,
    pub r#type: String,
    pub id: String,
    pub name: String,
    pub pid: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    Create,
    Update,
    Destroy,
}

/// How long the ledger is.
pub fn length(path: &Path) -> Result<u64, WorldError> {
    Ok(open(path)?.metadata().map_err(at(path))?.len())
}

/// Sees to it that the ledger, which had this length, goes on with this line: once, and whole. A process killed while
/// writing may have left all of the line, none, or (at the border of a page) its beginning.
pub fn ensure(path: &Path, length: u64, line: &str) -> Result<(), WorldError> {
    let mut file = open(path)?;
    let mut written = Vec::new();
    file.seek(SeekFrom::Start(length)).map_err(at(path))?;
    file.read_to_end(&mut written).map_err(at(path))?;
    if written == line.as_bytes() {
        return Ok(());
    }
    if !written.is_empty() {
        file.set_len(length).map_err(at(path))?;
    }
    file.write_all(line.as_bytes()).map_err(at(path))
}

fn open(path: &Path) -> Result<File, WorldError> {
    File::options().create(true).read(true).append(true).open(path).map_err(at(path))
}
