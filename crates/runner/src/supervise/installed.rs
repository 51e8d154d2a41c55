//! What `init` has done once need not be done again: for the same module, Terraform and providers it leaves the same behind, a
//! lock file and links to the mirrors. It is noted beside the workspaces, and laid down again for the next run.
//!
//! Only what cannot be anything else the next time is noted: no provider that was downloaded, no module from elsewhere. Each
//! tenant has its own notes. What does not fit any more, Terraform refuses; then `init` runs after all.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::job::Job;
use super::terraform;
use crate::replace::replace;

const LOCK: &str = ".terraform.lock.hcl";
const DATA: &str = ".terraform";
/// A module that is larger is not looked through.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 8 << 20;
/// Notes that are kept; the oldest go.
const MOST_NOTES: usize = 500;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Note {
    /// Paths below the root module, and what is in them.
    files: BTreeMap<PathBuf, String>,
    /// And where they lead to.
    links: BTreeMap<PathBuf, PathBuf>,
}

pub struct Installed {
    path: PathBuf,
}

impl Installed {
    /// Where the note of this module is, or would be; none where it cannot be told from others.
    pub fn of(job: &Job<'_>) -> Option<Installed> {
        let mut digest = Digester::default();
        let Job { settings, assignment, .. } = job;
        digest.add(assignment.tenant.as_bytes());
        digest.add(job.root.as_os_str().as_encoded_bytes());
        digest.add(&serde_json::to_vec(&job.terraform().environment).ok()?);
        digest.add(terraform::cli_config(settings).as_bytes());
        digest.file(&settings.terraform)?;
        for mirror in &settings.mirrors {
            digest.below(mirror, &mut Digester::file)?;
        }
        digest.files = 0;
        digest.bytes = 0;
        digest.below(&job.workspace.work().join("source"), &mut Digester::content)?;
        let folder = job.workspace.folder().parent()?.join("installed");
        Some(Installed { path: folder.join(digest.name()) })
    }

    /// Lay down what is noted, and tell what that is. None where nothing is noted, or where it cannot be laid down.
    pub fn lay_down(&self, job: &Job<'_>) -> Option<LaidDown> {
        let note: Note = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        if !note.links.values().all(|target| target.is_dir()) {
            return None;
        }
        let mut laid = LaidDown(vec![]);
        if note.lay_down(job, &mut laid).is_err() {
            laid.take_away(job);
            return None;
        }
        Some(laid)
    }

    /// After an `init` that went well.
    pub fn note(&self, job: &Job<'_>) {
        // That it is not noted costs the next run a little time.
        if let (Some(note), Some(folder)) = (Note::taken(job), self.path.parent()) {
            let _ = fs::create_dir_all(folder).and_then(|()| replace(&self.path, &serde_json::to_vec(&note)?));
            forget_oldest(folder);
        }
    }

    pub fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Note {
    fn taken(job: &Job<'_>) -> Option<Note> {
        let mut note = Note::default();
        let lock = job.root.join(LOCK);
        if let Ok(lock) = job.work.read(&lock) {
            note.files.insert(LOCK.into(), String::from_utf8(lock).ok()?);
        }
        // By a handle: nothing that leads elsewhere is followed on the way.
        let root = job.work.folder(&job.root).ok()?;
        note.take(&root.handle(), Path::new(DATA), &job.settings.mirrors)?;
        Some(note)
    }

    /// None where there is anything else than what a mirror's providers and the module's own parts leave behind.
    fn take(&mut self, root: &Path, within: &Path, mirrors: &[PathBuf]) -> Option<()> {
        let entries = match fs::read_dir(root.join(within)) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Some(()),
            entries => entries.ok()?,
        };
        for entry in entries {
            let entry = entry.ok()?;
            let path = within.join(entry.file_name());
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                self.take(root, &path, mirrors)?;
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).ok()?;
                mirrors.iter().find(|mirror| target.starts_with(mirror))?;
                self.links.insert(path, target);
            } else {
                let content = fs::read_to_string(entry.path()).ok()?;
                match path.strip_prefix(DATA).ok()?.to_str()? {
                    "terraform.tfstate" => {}
                    "modules/modules.json" => is_all_here(&content).then_some(())?,
                    _ => return None,
                }
                self.files.insert(path, content);
            }
        }
        Some(())
    }

    fn lay_down(&self, job: &Job<'_>, laid: &mut LaidDown) -> io::Result<()> {
        let owner = job.cage.owner;
        // A lock file of the module's own stays.
        let has_lock = job.work.file(&job.root.join(LOCK)).is_ok();
        for (path, content) in self.files.iter().filter(|(path, _)| !(has_lock && path.as_path() == Path::new(LOCK))) {
            make_way(job, path)?;
            laid.0.push(path.clone());
            job.work.write(&job.root.join(path), content.as_bytes(), owner)?;
        }
        for (path, target) in &self.links {
            make_way(job, path)?;
            laid.0.push(path.clone());
            job.work.link(&job.root.join(path), target, owner)?;
        }
        Ok(())
    }
}

/// What was laid down, by its paths below the root module.
pub struct LaidDown(Vec<PathBuf>);

impl LaidDown {
    /// As if nothing had been installed.
    pub fn take_away(self, job: &Job<'_>) {
        for path in self.0 {
            // What is still there is overwritten by `init`, or told of by it.
            let _ = job.work.remove(&job.root.join(path));
        }
    }
}

fn make_way(job: &Job<'_>, path: &Path) -> io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    for folder in above.into_iter().rev() {
        match job.work.make_folder(&job.root.join(folder), job.cage.owner) {
            Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => return Err(problem),
            _ => {}
        }
    }
    Ok(())
}

/// Whether every part of the module comes with it.
fn is_all_here(modules: &str) -> bool {
    let modules: Value = serde_json::from_str(modules).unwrap_or_default();
    let parts = modules["Modules"].as_array();
    parts.is_some_and(|parts| {
        parts.iter().all(|part| {
            let source = part["Source"].as_str().unwrap_or("?");
            source.is_empty() || source.starts_with("./") || source.starts_with("../")
        })
    })
}

fn forget_oldest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut notes: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    notes.sort();
    let too_many = notes.len().saturating_sub(MOST_NOTES);
    for (_, path) in notes.into_iter().take(too_many) {
        let _ = fs::remove_file(path);
    }
}

#[derive(Default)]
struct Digester {
    digest: Sha256,
    files: usize,
    bytes: u64,
}

impl Digester {
    /// With its length: no two sequences are the same.
    fn add(&mut self, bytes: &[u8]) {
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(bytes);
    }

    /// A file that others change: which one it is, not what is in it.
    fn file(&mut self, path: &Path) -> Option<()> {
        let found = fs::metadata(path).ok()?;
        self.add(path.as_os_str().as_encoded_bytes());
        for number in [found.ino(), found.size(), found.mtime().unsigned_abs(), found.mtime_nsec().unsigned_abs()] {
            self.add(&number.to_le_bytes());
        }
        Some(())
    }

    /// A file of the module's: what is in it.
    fn content(&mut self, path: &Path) -> Option<()> {
        self.bytes += fs::symlink_metadata(path).ok()?.len();
        if self.bytes > MOST_BYTES {
            return None;
        }
        self.add(&fs::read(path).ok()?);
        Some(())
    }

    /// Every file of a folder, in order, by its name and by what `each` adds. None where there are too many.
    fn below(&mut self, folder: &Path, each: &mut dyn FnMut(&mut Digester, &Path) -> Option<()>) -> Option<()> {
        let mut entries: Vec<_> = fs::read_dir(folder).ok()?.collect::<Result<_, _>>().ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries.into_iter().filter(|entry| entry.file_name() != ".git") {
            let found = entry.metadata().ok()?;
            self.add(entry.file_name().as_encoded_bytes());
            if found.is_dir() {
                self.below(&entry.path(), each)?;
                self.add(b"/");
            } else if found.is_symlink() {
                self.add(fs::read_link(entry.path()).ok()?.as_os_str().as_encoded_bytes());
            } else {
                self.files += 1;
                if self.files > MOST_FILES {
                    return None;
                }
                each(self, &entry.path())?;
            }
        }
        Some(())
    }

    fn name(self) -> String {
        self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_with_the_module_is_the_same_the_next_time() {
        let part = |source: &str| {
            format!(r#"{{"Modules":[{{"Key":"","Source":"","Dir":"."}},{{"Key":"a","Source":{source:?},"Dir":"a"}}]}}"#)
        };
        assert!(is_all_here(&part("./parts/a")));
        assert!(is_all_here(&part("../a")));
        for elsewhere in ["git::https://git.example/a.git", "registry.terraform.io/x/y/z", "x/y/z"] {
            assert!(!is_all_here(&part(elsewhere)), "{elsewhere}");
        }
        assert!(!is_all_here("no JSON"));
    }

    #[test]
    fn a_note_is_taken_of_links_to_mirrors_and_of_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (root, mirror) = (folder.path(), folder.path().join("mirror"));
        let provider = root.join(DATA).join("providers/host/space/name/1.0.0");
        fs::create_dir_all(&provider).unwrap();
        fs::write(root.join(DATA).join("terraform.tfstate"), "{}").unwrap();
        std::os::unix::fs::symlink(mirror.join("there"), provider.join("linux")).unwrap();
        let take = || {
            let mut note = Note::default();
            note.take(root, Path::new(DATA), std::slice::from_ref(&mirror)).map(|()| note)
        };
        let note = take().unwrap();
        assert_eq!((note.files.len(), note.links.len()), (1, 1));
        std::os::unix::fs::symlink("/etc", provider.join("elsewhere")).unwrap();
        assert_eq!(take(), None);
        fs::remove_file(provider.join("elsewhere")).unwrap();
        fs::write(provider.join("downloaded"), "a provider").unwrap();
        assert_eq!(take(), None);
    }

    #[test]
    fn the_same_files_have_the_same_name_and_others_another() {
        let folder = tempfile::tempdir().unwrap();
        let name = || {
            let mut digest = Digester::default();
            digest.below(folder.path(), &mut Digester::content)?;
            Some(digest.name())
        };
        fs::write(folder.path().join("main.tf"), "one").unwrap();
        let first = name();
        assert!(first.is_some() && first == name());
        fs::write(folder.path().join("main.tf"), "two").unwrap();
        assert_ne!(name(), first);
        fs::write(folder.path().join("main.tf"), vec![b'x'; 9 << 20]).unwrap();
        assert_eq!(name(), None, "it is too large to be looked through");
    }
}
