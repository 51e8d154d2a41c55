//! The last good copy of a job's state. Terraform writes its state in place: emptied, then written, so that a kill leaves it empty
//! or torn. Every version that is whole, of the same lineage and newer than the last is copied aside; after a kill the copy is what
//! counts.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::beneath::{Beneath, read_whole};
use crate::replace::replace;

/// As much of a state as tells which one it is. Reading it checks the whole text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Head {
    version: u64,
    pub serial: u64,
    pub lineage: String,
}

impl Head {
    pub fn of(state: &[u8]) -> Option<Head> {
        let head: Head = serde_json::from_slice(state).ok()?;
        (head.version >= 4 && !head.lineage.is_empty()).then_some(head)
    }
}

#[derive(Debug)]
pub struct StateCopy {
    path: PathBuf,
    last: Option<Head>,
    /// When the file was written that was looked at last, and its length: nothing to do while they are the same.
    seen: Option<(i64, i64, u64)>,
}

impl StateCopy {
    /// Goes on from the copy that is there, or from the state that the job was given.
    pub fn new(path: &Path, given: Option<&str>) -> StateCopy {
        let copied = fs::read(path).ok().and_then(|state| Head::of(&state));
        let last = copied.or_else(|| Head::of(given?.as_bytes()));
        StateCopy { path: path.to_owned(), last, seen: None }
    }

    /// Copies what is there if it is good and new. True when it did.
    pub fn look(&mut self, folder: &Beneath) -> io::Result<bool> {
        let mut file = match folder.file(Path::new(STATE)) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        let found = file.metadata()?;
        let seen = (found.mtime(), found.mtime_nsec(), found.len());
        if found.len() == 0 || self.seen == Some(seen) {
            return Ok(false);
        }
        let Some(state) = read_steadily(&mut file)? else { return Ok(false) };
        let Some(head) = Head::of(&state) else { return Ok(false) };
        self.seen = Some(seen);
        if !self.is_next(&head) {
            return Ok(false);
        }
        replace(&self.path, &state)?;
        self.last = Some(head);
        Ok(true)
    }

    /// When nothing writes any more: looks whatever it saw before.
    pub fn look_last(&mut self, folder: &Beneath) -> io::Result<bool> {
        self.seen = None;
        self.look(folder)
    }

    fn is_next(&self, head: &Head) -> bool {
        self.last.as_ref().is_none_or(|last| last.lineage == head.lineage && last.serial < head.serial)
    }
}

pub const STATE: &str = "terraform.tfstate";

/// The content, if it was the same twice: one that is written while it is read could be of two halves.
fn read_steadily(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let first = read_whole(file)?;
    file.rewind()?;
    Ok((first == read_whole(file)?).then_some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(serial: u64, lineage: &str) -> String {
        format!(r#"{{"version":4,"serial":{serial},"lineage":"{lineage}","outputs":{{}},"resources":[]}}"#)
    }

    #[test]
    fn only_whole_and_newer_states_of_the_same_lineage_are_copied() {
        let work = tempfile::tempdir().unwrap();
        let folder = Beneath::open(work.path()).unwrap();
        let copy = work.path().join("copy");
        let given = state(3, "l");
        let mut states = StateCopy::new(&copy, Some(&given));
        let whole = state(5, "l");
        let mut copied = |content: &str| {
            fs::write(work.path().join(STATE), content).unwrap();
            states.look_last(&folder).unwrap()
        };
        assert!(!copied(""), "an empty one");
        assert!(!copied(&whole[..whole.len() - 1]), "a torn one");
        assert!(!copied(&state(3, "l")), "the one that was given");
        assert!(!copied(&state(9, "other")), "another's");
        assert!(!copied("{}"), "none");
        assert!(copied(&whole));
        assert!(!copied(&state(4, "l")), "an older one");
        assert!(copied(&state(6, "l")));
        assert_eq!(fs::read_to_string(&copy).unwrap(), state(6, "l"));
        assert!(!StateCopy::new(&copy, None).look_last(&folder).unwrap(), "the same again");
    }

    #[test]
    fn a_state_that_is_written_meanwhile_is_never_copied_in_parts() {
        let work = tempfile::tempdir().unwrap();
        let folder = Beneath::open(work.path()).unwrap();
        let copy = work.path().join("copy");
        let path = work.path().join(STATE);
        let filler = "x".repeat(200_000);
        let written = |serial: u64| {
            format!(r#"{{"version":4,"serial":{serial},"lineage":"l","a":"{serial}","f":"{filler}","z":"{serial}"}}"#)
        };
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for serial in 1..200 {
                    // As Terraform does it: emptied and written in place.
                    fs::write(&path, written(serial)).unwrap();
                }
            });
            let mut states = StateCopy::new(&copy, None);
            while !writer.is_finished() {
                if states.look(&folder).unwrap_or(false) {
                    let good: serde_json::Value = serde_json::from_slice(&fs::read(&copy).unwrap()).unwrap();
                    assert_eq!(good["a"], good["z"]);
                }
            }
            states.look_last(&folder).unwrap();
        });
        assert_eq!(Head::of(&fs::read(&copy).unwrap()).unwrap().serial, 199);
    }
}
