//! An effect changes two files, the ledger and the object's own, and a process can be killed between them. So the effect
//! is written down first, and made second; whoever finds it written down makes it, which changes nothing if it is made.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Object, WorldError, cluster, file, ledger};

#[derive(Debug, Serialize, Deserialize)]
pub struct Step {
    /// Before the step.
    pub ledger_length: u64,
    pub ledger_line: String,
    /// Below the folder of the objects.
    pub object_file: PathBuf,
    /// None: the file is removed.
    pub object: Option<Object>,
    /// A Kubernetes cluster that comes with the object, or goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
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
        match (&self.object, &self.host) {
            (Some(object), host) => {
                host.as_deref().map_or(Ok(()), |host| cluster::open(folder, host))?;
                file::write(&path, &folder.join("draft"), object)?;
            }
            (None, host) => {
                host.as_deref().map_or(Ok(()), |host| cluster::close(folder, host))?;
                file::remove(&path)?;
            }
        }
        file::remove(&folder.join("step.json"))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use serde_json::json;

    use super::*;
    use crate::world::{Address, World};

    /// A process is killed at each point of a step in turn, also within the line; then another one comes.
    #[test]
    fn a_step_begun_by_a_killed_process_is_finished_by_the_next() {
        let line = "{\"at\":1,\"effect\":\"create\",\"id\":\"thing-2\",\"name\":\"second\",\"pid\":1}\n";
        for (written, object_made) in (0..=line.len()).map(|n| (n, false)).chain([(line.len(), true)]) {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let world = World::at(folder.to_owned());
            world.prepare().unwrap();
            let address = |key: &str| Address {
                provider: "cloudsim".to_owned(),
                account: "default".to_owned(),
                r#type: "cloudsim_thing".to_owned(),
                key: key.to_owned(),
            };
            let first = world.lock().unwrap().create(
                address("thing-1"),
                "local",
                None,
                json!({ "id": "thing-1", "name": "first" }),
                Duration::ZERO,
            );
            let first = first.unwrap();

            let ledger = folder.join("ledger.jsonl");
            let before = fs::read_to_string(&ledger).unwrap();
            let second = Object {
                address: address("thing-2"),
                id: "thing-2".to_owned(),
                attributes: json!({ "id": "thing-2", "name": "second" }),
                ..first
            };
            let step = Step {
                ledger_length: before.len() as u64,
                ledger_line: line.to_owned(),
                object_file: second.address.path(),
                object: Some(second.clone()),
                host: Some("cluster.example".to_owned()),
            };
            file::write(&folder.join("step.json"), &folder.join("draft"), &step).unwrap();
            fs::write(&ledger, before.clone() + &line[..written]).unwrap();
            if object_made {
                let path = folder.join("objects").join(&step.object_file);
                file::write(&path, &folder.join("draft"), &second).unwrap();
            }

            let next = world.lock().unwrap();
            assert_eq!(next.ledger().unwrap(), before + line, "after {written} bytes");
            let names: Vec<_> = next.objects().unwrap().iter().map(|object| object.name().to_owned()).collect();
            assert_eq!(names, ["first", "second"]);
            assert!(next.has_cluster("cluster.example"));
            assert!(Step::find(folder).unwrap().is_none());
        }
    }
}
