//! A module's folder, copied into the workspace. Links within it stay links; one that leads outside is refused, since it would
//! show the job, or whoever reads its log, what it was not given.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, fchown, lchown, symlink};
use std::path::{Component, Path, PathBuf};

/// What a person's own runs have left there.
const NOT_COPIED: [&str; 6] = [
    ".git",
    ".terraform",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "terraform.tfstate.d",
    ".terraform.tfstate.lock.info",
];

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("the link {} leads out of the module's folder", .0.display())]
    Outside(PathBuf),
    #[error("{} is neither file, folder nor link", .0.display())]
    Odd(PathBuf),
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: io::Error },
}

pub fn copy(source: &Path, target: &Path, owner: Option<u32>) -> Result<(), CopyError> {
    Copy { owner }.folder(source, target, Path::new(""))
}

struct Copy {
    owner: Option<u32>,
}

impl Copy {
    fn folder(&self, source: &Path, target: &Path, within: &Path) -> Result<(), CopyError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |problem| CopyError::File { path, problem }
        };
        fs::DirBuilder::new().mode(0o755).create(target).map_err(at(target))?;
        lchown(target, self.owner, self.owner).map_err(at(target))?;
        for entry in fs::read_dir(source).map_err(at(source))? {
            let entry = entry.map_err(at(source))?;
            let (from, to) = (entry.path(), target.join(entry.file_name()));
            let kind = entry.file_type().map_err(at(&from))?;
            if NOT_COPIED.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            if kind.is_dir() {
                self.folder(&from, &to, &within.join(entry.file_name()))?;
            } else if kind.is_symlink() {
                let leads_to = fs::read_link(&from).map_err(at(&from))?;
                if !stays(within, &leads_to) {
                    return Err(CopyError::Outside(from));
                }
                symlink(leads_to, &to).and_then(|()| lchown(&to, self.owner, self.owner)).map_err(at(&to))?;
            } else if kind.is_file() {
                self.file(&from, &to).map_err(at(&from))?;
            } else {
                return Err(CopyError::Odd(from));
            }
        }
        Ok(())
    }

    fn file(&self, from: &Path, to: &Path) -> io::Result<()> {
        let no_links = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut source = File::options().read(true).custom_flags(no_links).open(from)?;
        let mode = source.metadata()?.permissions().mode() & 0o777;
        let mut target = File::options().write(true).create_new(true).mode(mode | 0o600).open(to)?;
        io::copy(&mut source, &mut target)?;
        fchown(&target, self.owner, self.owner)
    }
}

/// Whether a link in this folder of the module leads to somewhere in the module.
fn stays(folder: &Path, leads_to: &Path) -> bool {
    let mut depth = folder.components().count();
    for step in leads_to.components() {
        match step {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_copied_with_its_links_and_without_state() {
        let (source, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(source.path().join("sub")).unwrap();
        fs::write(source.path().join("sub/run.sh"), "#!/bin/sh").unwrap();
        fs::write(source.path().join("terraform.tfstate"), "{}").unwrap();
        symlink("../main.tf", source.path().join("sub/link.tf")).unwrap();
        fs::write(source.path().join("main.tf"), "# here").unwrap();
        let copied = target.path().join("source");
        copy(source.path(), &copied, None).unwrap();
        assert_eq!(fs::read_to_string(copied.join("sub/link.tf")).unwrap(), "# here");
        assert!(!copied.join("terraform.tfstate").exists());
    }

    #[test]
    fn a_link_that_leads_outside_is_refused() {
        for leads_to in ["/etc/passwd", "../secret", "a/../../secret"] {
            let (source, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            symlink(leads_to, source.path().join("link")).unwrap();
            let refused = copy(source.path(), &target.path().join("source"), None).unwrap_err();
            assert!(matches!(refused, CopyError::Outside(_)), "{refused}");
        }
    }
}
