//! Files in the folder that the job itself can write. A job may put a symbolic link, a pipe or another folder wherever it likes, so
//! the supervisor never follows a path there: it opens beneath, without links, and only what is a file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::fchown;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Uid, chownat, fstat, mkdirat, open, openat2, symlinkat,
    unlinkat,
};
use rustix::io::Errno;

/// The largest file that is read: states and plans beyond this are not what they say.
const LARGEST: u64 = 512 << 20;

#[derive(Debug)]
pub struct Beneath(OwnedFd);

impl Beneath {
    pub fn open(folder: &Path) -> io::Result<Beneath> {
        Ok(Beneath(open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?))
    }

    pub fn folder(&self, path: &Path) -> io::Result<Beneath> {
        Ok(Beneath(self.open_at(path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?))
    }

    /// A path that leads to the folder that was opened, whatever its name means by now.
    pub fn handle(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    pub fn file(&self, path: &Path) -> io::Result<File> {
        // Not blocking: a pipe in the file's place would keep us waiting for its other end.
        let file = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no file"));
        }
        Ok(File::from(file))
    }

    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_whole(&mut self.file(path)?)
    }

    /// Writes a new file in the place of whatever is there.
    pub fn write(&self, path: &Path, content: &[u8], owner: Option<u32>) -> io::Result<()> {
        self.remove(path)?;
        let (folder, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut file = File::from(folder.open_at(name, flags, Mode::RUSR | Mode::WUSR)?);
        if let Some(owner) = owner {
            fchown(&file, Some(owner), Some(owner))?;
        }
        file.write_all(content)
    }

    /// A link in the place of whatever is there.
    pub fn link(&self, path: &Path, target: &Path, owner: Option<u32>) -> io::Result<()> {
        self.remove(path)?;
        let (folder, name) = self.parent(path)?;
        symlinkat(target, &folder.0, name)?;
        let owner = owner.map(Uid::from_raw);
        let group = owner.map(|owner| Gid::from_raw(owner.as_raw()));
        Ok(chownat(&folder.0, name, owner, group, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        match unlinkat(&folder.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(problem) => Err(problem.into()),
        }
    }

    pub fn make_folder(&self, path: &Path, owner: Option<u32>) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        mkdirat(&folder.0, name, Mode::RWXU)?;
        if let Some(owner) = owner {
            let made = folder.open_at(name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
            fchown(made, Some(owner), Some(owner))?;
        }
        Ok(())
    }

    fn parent<'a>(&self, path: &'a Path) -> io::Result<(Beneath, &'a Path)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok((self.folder(folder)?, Path::new(name)))
    }

    fn open_at(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        // The kernel asks for another try where a rename happens meanwhile.
        for _ in 0..100 {
            match openat2(&self.0, path, flags | OFlags::CLOEXEC, mode, resolve) {
                Err(Errno::AGAIN) => {}
                opened => return Ok(opened?),
            }
        }
        Err(Errno::AGAIN.into())
    }
}

pub fn read_whole(file: &mut File) -> io::Result<Vec<u8>> {
    let mut content = vec![];
    file.take(LARGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(content)
}

/// The path, if it is relative and goes nowhere but down.
pub fn downward(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let steps = path.components().filter(|step| *step != Component::CurDir);
    steps.map(|step| matches!(step, Component::Normal(_)).then_some(step)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_neither_read_nor_written_through() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        let target = outside.path().join("target");
        std::fs::write(&target, "theirs").unwrap();
        symlink(&target, inside.path().join("link")).unwrap();
        symlink(outside.path(), inside.path().join("folder")).unwrap();
        let beneath = Beneath::open(inside.path()).unwrap();
        assert!(beneath.read(Path::new("link")).is_err());
        assert!(beneath.read(Path::new("folder/target")).is_err());
        assert!(beneath.read(Path::new("../../etc/passwd")).is_err());
        assert!(beneath.write(Path::new("folder/target"), b"ours", None).is_err());
        beneath.write(Path::new("link"), b"ours", None).unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "theirs");
        assert_eq!(beneath.read(Path::new("link")).unwrap(), b"ours");
    }

    #[test]
    fn only_paths_that_go_down_are_taken() {
        assert_eq!(downward("./stacks/db"), Some("stacks/db".into()));
        assert_eq!(downward(""), Some("".into()));
        assert_eq!(downward("a/../../b"), None);
        assert_eq!(downward("/etc"), None);
    }
}
