//! An effect changes two files, the ledger and the object's own, and a process can be killed between them. So the effect
//! is written down first, and made second; whoever finds it written down makes it, which changes nothing if it is made.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Object, WorldError, file, ledger};

#[derive(Debug, Serialize, Deserialize)]
pub struct Step {
    /// Before the step.
    pub ledger_length: u64,
    pub ledger_line: String,
    pub object_file: String,
    /// None: the file is removed.
    pub object: Option<Object>,
}

impl Step {
    pub fn find(folder: &Path) -> Result<Option<Step>, WorldError> {
        file::read(&folder.join("step.json"))
    }

    pub fn take(&self, folder: &Path) -> Result<(), WorldError> {
        file::write(&folder.join("step.json"), &folder.join("draft"), self)?;
        self.finish(folder)
    }

    pub fn finish(&self, folder: &Path) -> Result<(), WorldError> {
        ledger::ensure(&folder.join("ledger.jsonl"), self.ledger_length, &self.ledger_line)?;
        let path = folder.join("objects").join(&self.object_file);
        match &self.object {
            Some(object) => file::write(&path, &folder.join("draft"), object)?,
            None => file::remove(&path)?,
        }
        file::remove(&folder.join("step.json"))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::*;
    use crate::{catalogue::CLOUDSIM, value::Values, world::World};

    /// A process is killed at each point of a step in turn, also within the line; then another one comes.
    #[test]
    fn a_step_begun_by_a_killed_process_is_finished_by_the_next() {
        let line = "{\"at\":1,\"effect\":\"create\",\"id\":\"thing-2\",\"name\":\"second\",\"pid\":1}\n";
        for (written, object_made) in (0..=line.len()).map(|n| (n, false)).chain([(line.len(), true)]) {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let world = World::at(folder.to_owned());
            world.prepare().unwrap();
            let thing = &CLOUDSIM.resources[0];
            let first = world.lock().unwrap().create(thing, "first", Values::new(), Duration::ZERO).unwrap();

            let ledger = folder.join("ledger.jsonl");
            let before = fs::read_to_string(&ledger).unwrap();
            let second = Object { id: "thing-2".to_owned(), name: "second".to_owned(), ..first };
            let step = Step {
                ledger_length: before.len() as u64,
                ledger_line: line.to_owned(),
                object_file: "cloudsim_thing.second.json".to_owned(),
                object: Some(second.clone()),
            };
            file::write(&folder.join("step.json"), &folder.join("draft"), &step).unwrap();
            fs::write(&ledger, before.clone() + &line[..written]).unwrap();
            if object_made {
                let path = folder.join("objects").join(&step.object_file);
                file::write(&path, &folder.join("draft"), &second).unwrap();
            }

            let next = world.lock().unwrap();
            assert_eq!(next.ledger().unwrap(), before + line, "after {written} bytes");
            let names: Vec<_> = next.objects().unwrap().into_iter().map(|object| object.name).collect();
            assert_eq!(names, ["first", "second"]);
            assert!(Step::find(folder).unwrap().is_none());
        }
    }
}
