//! The simulated cloud: a folder that many processes share, any of which may be killed at any instant.
//!
//! ```text
//! objects/PROVIDER/ACCOUNT/TYPE/KEY.json   one file per object, replaced by rename
//! ledger.jsonl                             one line per effect, in the order in which they happened
//! faults.json                              what is to go wrong
//! settings.json                            how fast the cloud is
//! failures/TYPE.NAME                       how many creates of that name were refused on request
//! lock         held (flock) by whoever looks or changes; the kernel lets go of it for the dead
//! step.json    the effect that is being made, so that the next holder can finish it for a dead one
//! ```

mod address;
mod cluster;
mod fault;
mod file;
mod ledger;
mod locked;
mod moment;
mod object;
mod settings;
mod step;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

pub use address::Address;
pub use fault::{Action, Fault, Strike};
pub use locked::LockedWorld;
pub use moment::Moment;
pub use object::{Object, Status};
pub use settings::{Pace, Settings};

use file::at;

#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    #[error("no object has the name {0:?}")]
    NotFound(String),
    #[error("{name:?} is the name of several objects; use one of the ids {}", ids.join(", "))]
    Ambiguous { name: String, ids: Vec<String> },
    #[error("there is no world at {}", .0.display())]
    NoWorld(PathBuf),
    #[error("{} is not what cloudsim writes", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("{} cannot be used", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("no random number for an id")]
    Random(#[from] getrandom::Error),
}

pub struct World {
    folder: PathBuf,
}

impl World {
    pub fn at(folder: PathBuf) -> World {
        World { folder }
    }

    /// A world that somebody has used before, and not a folder that is called so by mistake.
    pub fn existing(folder: &Path) -> Result<World, WorldError> {
        let world = World::at(folder.to_owned());
        if world.lock_file().exists() { Ok(world) } else { Err(WorldError::NoWorld(world.folder)) }
    }

    pub fn prepare(&self) -> Result<(), WorldError> {
        prepare(&self.folder)?;
        self.lock().map(drop)
    }

    /// Waits for its turn. A turn is a few file operations long, so it is waited for without yielding the thread.
    pub fn lock(&self) -> Result<LockedWorld<'_>, WorldError> {
        let path = self.lock_file();
        let file = File::options().create(true).append(true).open(&path).map_err(at(&path))?;
        file.lock().map_err(at(&path))?;
        let world = LockedWorld::new(&self.folder, file);
        world.finish_step()?;
        Ok(world)
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.join("lock")
    }
}

fn prepare(world: &Path) -> Result<(), WorldError> {
    for folder in ["objects", "failures"] {
        let path = world.join(folder);
        fs::create_dir_all(&path).map_err(at(&path))?;
    }
    Ok(())
}
