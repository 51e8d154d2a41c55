//! What can be seen and done in a world while its lock is held.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use super::{
    Moment, Object, Status, WorldError,
    file::{self, at},
    ledger::{self, Effect, Entry},
    step::Step,
};
use crate::{schema::ResourceType, value::Values};

/// The lock is let go of when this is dropped.
pub struct LockedWorld<'a> {
    folder: &'a Path,
    _lock: File,
}

impl<'a> LockedWorld<'a> {
    pub(super) fn new(folder: &'a Path, lock: File) -> LockedWorld<'a> {
        LockedWorld { folder, _lock: lock }
    }

    /// Makes the effect that a killed process has only begun.
    pub(super) fn finish_step(&self) -> Result<(), WorldError> {
        Step::find(self.folder)?.map_or(Ok(()), |step| step.finish(self.folder))
    }

    pub fn find(&self, r#type: &str, name: &str) -> Result<Option<Object>, WorldError> {
        self.load(&self.object_path(&file_name(r#type, name)))
    }

    /// All objects, in the order of their names.
    pub fn objects(&self) -> Result<Vec<Object>, WorldError> {
        let folder = self.folder.join("objects");
        let mut objects = Vec::new();
        for entry in fs::read_dir(&folder).map_err(at(&folder))? {
            let path = entry.map_err(at(&folder))?.path();
            // Editors leave files of their own.
            if path.extension().is_some_and(|extension| extension == "json") {
                objects.extend(self.load(&path)?);
            }
        }
        objects.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(objects)
    }

    pub fn ledger(&self) -> Result<String, WorldError> {
        let path = self.folder.join("ledger.jsonl");
        if path.exists() { fs::read_to_string(&path).map_err(at(&path)) } else { Ok(String::new()) }
    }

    pub fn create(
        &self,
        resource: &ResourceType,
        name: &str,
        mut attributes: Values,
        takes: Duration,
    ) -> Result<Object, WorldError> {
        if self.find(resource.name, name)?.is_some() {
            return Err(WorldError::AlreadyExists { noun: resource.noun, name: name.to_owned() });
        }
        let id = format!("{}-{:016x}", resource.noun, getrandom::u64()?);
        attributes.extend((resource.computed)(name, &id));
        let now = Moment::now();
        let object = Object {
            r#type: resource.name.to_owned(),
            id,
            name: name.to_owned(),
            created_at: now,
            ready_at: now.after(takes),
            gone_at: None,
            attributes: without_identity(attributes),
        };
        self.effect(Effect::Create, &object, Some(object.clone()))?;
        Ok(object)
    }

    pub fn update(&self, resource: &ResourceType, name: &str, id: &str, to: Values) -> Result<Object, WorldError> {
        let found = self.find(resource.name, name)?.filter(|object| object.id == id && object.gone_at.is_none());
        let mut object = found.ok_or_else(|| WorldError::NoSuchEntity {
            noun: resource.noun,
            name: name.to_owned(),
            id: id.to_owned(),
        })?;
        object.attributes = without_identity(to);
        self.effect(Effect::Update, &object, Some(object.clone()))?;
        Ok(object)
    }

    /// When the object will be gone; none, if it is already. What is on its way out is not sent away a second time.
    pub fn destroy(
        &self,
        r#type: &str,
        name: &str,
        id: &str,
        takes: impl Fn(&Values) -> Duration,
    ) -> Result<Option<Moment>, WorldError> {
        let Some(mut object) = self.find(r#type, name)?.filter(|object| object.id == id) else {
            return Ok(None);
        };
        if object.gone_at.is_none() {
            let delay = takes(&object.attributes);
            object.gone_at = Some(Moment::now().after(delay));
            self.effect(Effect::Destroy, &object, (!delay.is_zero()).then(|| object.clone()))?;
        }
        Ok(object.gone_at)
    }

    /// Counts a create that is to be refused, up to a limit, and tells how many were refused before.
    pub fn count_failure(&self, r#type: &str, name: &str, limit: Option<u64>) -> Result<u64, WorldError> {
        let path = self.folder.join("failures").join(format!("{type}.{name}"));
        let earlier = file::read(&path)?.unwrap_or(0_u64);
        if limit.is_none_or(|limit| earlier < limit) {
            file::write(&path, &self.draft(), &(earlier + 1))?;
        }
        Ok(earlier)
    }

    /// Changes an object by hand: nobody is told, and the ledger is silent.
    pub fn replace(&self, object: &Object) -> Result<(), WorldError> {
        file::write(&self.object_path(&file_name(&object.r#type, &object.name)), &self.draft(), object)
    }

    /// Removes an object by hand, likewise.
    pub fn remove(&self, object: &Object) -> Result<(), WorldError> {
        file::remove(&self.object_path(&file_name(&object.r#type, &object.name)))
    }

    fn effect(&self, effect: Effect, object: &Object, content: Option<Object>) -> Result<(), WorldError> {
        let entry =
            Entry { at: Moment::now(), effect, id: object.id.clone(), name: object.name.clone(), pid: process::id() };
        let path = self.folder.join("ledger.jsonl");
        let line =
            serde_json::to_string(&entry).map_err(|source| WorldError::Malformed { path: path.clone(), source })?;
        let step = Step {
            ledger_length: ledger::length(&path)?,
            ledger_line: line + "\n",
            object_file: file_name(&object.r#type, &object.name),
            object: content,
        };
        step.take(self.folder)
    }

    /// An object whose time has come is cleared away by whoever looks.
    fn load(&self, path: &Path) -> Result<Option<Object>, WorldError> {
        let Some(object) = file::read::<Object>(path)? else { return Ok(None) };
        if object.status(Moment::now()) == Status::Gone {
            file::remove(path)?;
            return Ok(None);
        }
        Ok(Some(object))
    }

    fn object_path(&self, file_name: &str) -> PathBuf {
        self.folder.join("objects").join(file_name)
    }

    fn draft(&self) -> PathBuf {
        self.folder.join("draft")
    }
}

fn file_name(r#type: &str, name: &str) -> String {
    format!("{type}.{name}.json")
}

/// Id and name stand apart from the attributes, so that neither can be said twice and differently.
fn without_identity(mut attributes: Values) -> Values {
    for identity in ["id", "name"] {
        attributes.shift_remove(identity);
    }
    attributes
}
