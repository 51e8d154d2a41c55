//! What can be done in a world by whoever holds its lock.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use serde_json::Value as Json;

use super::{
    Address, Moment, Object, Settings, Status, WorldError,
    address::{file_name, folder},
    cluster,
    fault::{Fault, Strike},
    file::{self, at},
    ledger::{self, Effect, Entry},
    step::Step,
};
use crate::value;

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

    pub fn find(&self, address: &Address) -> Result<Option<Object>, WorldError> {
        self.load(&self.object_path(address))
    }

    /// All objects, in the order of their names.
    pub fn objects(&self) -> Result<Vec<Object>, WorldError> {
        let mut objects = Vec::new();
        for provider in file::entries(&self.folder.join("objects"))? {
            for account in file::entries(&provider)? {
                objects.extend(self.account(&account)?);
            }
        }
        objects.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(objects)
    }

    /// All that an account has with a provider.
    pub fn of_account(&self, provider: &str, account: &str) -> Result<Vec<Object>, WorldError> {
        self.account(&self.folder.join("objects").join(folder(provider, account)))
    }

    /// All of one type that an account has with a provider, the oldest first.
    pub fn of_type(&self, provider: &str, account: &str, r#type: &str) -> Result<Vec<Object>, WorldError> {
        let folder = self.folder.join("objects").join(folder(provider, account)).join(file_name(r#type));
        let mut objects = self.in_folder(&folder)?;
        objects.sort_by(|a, b| (a.created_at, &a.address.key).cmp(&(b.created_at, &b.address.key)));
        Ok(objects)
    }

    pub fn ledger(&self) -> Result<String, WorldError> {
        let path = self.folder.join("ledger.jsonl");
        if path.exists() { fs::read_to_string(&path).map_err(at(&path)) } else { Ok(String::new()) }
    }

    pub fn create(
        &self,
        address: Address,
        region: &str,
        host: Option<String>,
        attributes: Json,
        takes: Duration,
    ) -> Result<Object, WorldError> {
        let now = Moment::now();
        let object = Object {
            address,
            region: region.to_owned(),
            id: value::text(&attributes, "id").to_owned(),
            host,
            created_at: now,
            ready_at: now.after(takes),
            gone_at: None,
            attributes,
        };
        self.effect(Effect::Create, &object, Some(object.clone()))?;
        Ok(object)
    }

    pub fn update(&self, object: Object, to: Json) -> Result<Object, WorldError> {
        let object = Object { attributes: to, ..object };
        self.effect(Effect::Update, &object, Some(object.clone()))?;
        Ok(object)
    }

    /// When the object will be gone. What is on its way out is not sent away a second time.
    pub fn destroy(&self, mut object: Object, takes: Duration) -> Result<Moment, WorldError> {
        if let Some(gone_at) = object.gone_at {
            return Ok(gone_at);
        }
        let gone_at = Moment::now().after(takes);
        object.gone_at = Some(gone_at);
        self.effect(Effect::Destroy, &object, (!takes.is_zero()).then(|| object.clone()))?;
        Ok(gone_at)
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
        file::write(&self.object_path(&object.address), &self.draft(), object)
    }

    /// Removes an object by hand, likewise.
    pub fn remove(&self, object: &Object) -> Result<(), WorldError> {
        self.clear(object, &self.object_path(&object.address))
    }

    /// Removes everything by hand, and the ledger too; faults and settings stay.
    pub fn reset(&self) -> Result<(), WorldError> {
        for folder in ["objects", "failures"] {
            file::remove_all(&self.folder.join(folder))?;
        }
        file::remove(&self.folder.join("ledger.jsonl"))?;
        super::prepare(self.folder)
    }

    pub fn has_cluster(&self, host: &str) -> bool {
        cluster::exists(self.folder, host)
    }

    pub fn settings(&self) -> Result<Settings, WorldError> {
        Ok(file::read(&self.folder.join("settings.json"))?.unwrap_or_default())
    }

    pub fn set(&self, settings: &Settings) -> Result<(), WorldError> {
        file::write(&self.folder.join("settings.json"), &self.draft(), settings)
    }

    pub fn faults(&self) -> Result<Vec<Fault>, WorldError> {
        Ok(file::read(&self.folder.join("faults.json"))?.unwrap_or_default())
    }

    pub fn set_faults(&self, faults: &[Fault]) -> Result<(), WorldError> {
        file::write(&self.folder.join("faults.json"), &self.draft(), &faults)
    }

    /// The fault that hits this request, if one does; its strike is counted.
    pub fn strike(&self, strike: &Strike<'_>) -> Result<Option<Fault>, WorldError> {
        let mut faults = self.faults()?;
        let mut struck = None;
        for fault in &mut faults {
            if fault.concerns(strike) && self.is_beyond(fault, strike)? && fault.dice()? {
                fault.struck += 1;
                struck = Some(fault.clone());
                break;
            }
        }
        if struck.is_some() {
            faults.retain(|fault| fault.times.is_none_or(|times| fault.struck < times));
            self.set_faults(&faults)?;
        }
        Ok(struck)
    }

    /// Whether there are as many as the fault allows.
    fn is_beyond(&self, fault: &Fault, strike: &Strike<'_>) -> Result<bool, WorldError> {
        let Some(beyond) = fault.beyond else { return Ok(true) };
        let existing = self.of_type(strike.provider, strike.account, strike.r#type)?;
        let here = existing.iter().filter(|object| object.region == strike.region && object.gone_at.is_none());
        Ok(here.count() as u64 >= beyond)
    }

    fn effect(&self, effect: Effect, object: &Object, content: Option<Object>) -> Result<(), WorldError> {
        let entry = Entry {
            at: Moment::now(),
            effect,
            r#type: object.address.r#type.clone(),
            id: object.id.clone(),
            name: object.name().to_owned(),
            pid: process::id(),
        };
        let path = self.folder.join("ledger.jsonl");
        let line =
            serde_json::to_string(&entry).map_err(|source| WorldError::Malformed { path: path.clone(), source })?;
        let step = Step {
            ledger_length: ledger::length(&path)?,
            ledger_line: line + "\n",
            object_file: object.address.path(),
            object: content,
            host: object.host.clone(),
        };
        step.take(self.folder)
    }

    fn account(&self, folder: &Path) -> Result<Vec<Object>, WorldError> {
        let mut objects = Vec::new();
        for r#type in file::entries(folder)? {
            objects.extend(self.in_folder(&r#type)?);
        }
        Ok(objects)
    }

    fn in_folder(&self, folder: &Path) -> Result<Vec<Object>, WorldError> {
        // Editors leave files of their own.
        let files = file::entries(folder)?.into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "json"));
        let mut objects = Vec::new();
        for path in files {
            objects.extend(self.load(&path)?);
        }
        Ok(objects)
    }

    /// An object whose time has come is cleared away by whoever looks.
    fn load(&self, path: &Path) -> Result<Option<Object>, WorldError> {
        let Some(object) = file::read::<Object>(path)? else { return Ok(None) };
        if object.status(Moment::now()) == Status::Gone {
            self.clear(&object, path)?;
            return Ok(None);
        }
        Ok(Some(object))
    }

    fn clear(&self, object: &Object, path: &Path) -> Result<(), WorldError> {
        object.host.as_deref().map_or(Ok(()), |host| cluster::close(self.folder, host))?;
        file::remove(path)
    }

    fn object_path(&self, address: &Address) -> PathBuf {
        self.folder.join("objects").join(address.path())
    }

    fn draft(&self) -> PathBuf {
        self.folder.join("draft")
    }
}
