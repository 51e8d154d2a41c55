//! Kubernetes clusters are places in which other providers have objects. One opens when a cloud makes it, and when the
//! cloud removes it, all that is in it is gone.

use std::{fs, path::Path};

use super::{
    WorldError,
    address::folder,
    file::{self, at},
};

/// The providers whose objects live in clusters.
pub const INSIDE: [&str; 2] = ["kubernetes", "helm"];

pub fn open(world: &Path, host: &str) -> Result<(), WorldError> {
    for provider in INSIDE {
        let path = world.join("objects").join(folder(provider, host));
        fs::create_dir_all(&path).map_err(at(&path))?;
    }
    Ok(())
}

pub fn close(world: &Path, host: &str) -> Result<(), WorldError> {
    INSIDE.into_iter().try_for_each(|provider| file::remove_all(&world.join("objects").join(folder(provider, host))))
}

pub fn exists(world: &Path, host: &str) -> bool {
    world.join("objects").join(folder(INSIDE[0], host)).is_dir()
}
