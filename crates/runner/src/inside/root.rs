//! What the job may see: programs and libraries, a few files of `/etc`, the providers' mirrors, all read-only; its own `/job`
//! and `/tmp`, its own processes, a handful of devices. Everything else of the machine is not hidden but absent.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{chdir, pivot_root};

use crate::wire::{HOME, Layout};

/// Where the system's programs are; links, as `/bin` mostly is one, stay links.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];
/// What programs need to know of the machine: names, certificates, the way to the network.
const ETC: [&str; 18] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "protocols",
    "resolv.conf",
    "services",
    "ssh/ssh_config",
    "ssh/ssh_known_hosts",
    "ssl/certs",
    "ssl/openssl.cnf",
];
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

const NONE: Option<&str> = None;

pub fn build(layout: &Layout) -> Result<(), String> {
    let failed = |what: &'static str| move |problem: io::Error| format!("{what}: {problem}");
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC)
        .map_err(io::Error::from)
        .map_err(failed("new namespaces"))?;
    let new = &Root { at: layout.mount_point.clone(), whole: layout.uid.is_none() };
    new.begin().map_err(failed("an empty root"))?;
    new.system().map_err(failed("the system's programs"))?;
    new.etc(layout.uid.unwrap_or(0)).map_err(failed("/etc"))?;
    new.devices().map_err(failed("/dev"))?;
    new.bind(&layout.work, Path::new(HOME), false).map_err(failed(HOME))?;
    new.bind(&layout.work.join("tmp"), Path::new("/tmp"), false).map_err(failed("/tmp"))?;
    // Last: they may be below any of the others.
    for path in &layout.read_only {
        new.bind(path, path, true).map_err(|problem| format!("{}: {problem}", path.display()))?;
    }
    for path in &layout.shared {
        new.bind(path, path, false).map_err(|problem| format!("{}: {problem}", path.display()))?;
    }
    new.processes().map_err(failed("/proc"))?;
    new.enter().map_err(failed("entering the new root"))
}

struct Root {
    at: PathBuf,
    /// In a user namespace a mount can be shown elsewhere only with all that is mounted below it.
    whole: bool,
}

impl Root {
    fn begin(&self) -> io::Result<()> {
        // Nothing that is mounted from here on is seen outside.
        mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        Ok(mount(Some("tmpfs"), &self.at, Some("tmpfs"), flags, Some("mode=0755,size=1m"))?)
    }

    fn inside(&self, path: &Path) -> PathBuf {
        self.at.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn system(&self) -> io::Result<()> {
        for path in SYSTEM.map(Path::new) {
            match fs::read_link(path) {
                Ok(target) => symlink(target, self.inside(path))?,
                Err(_) if path.is_dir() => self.bind(path, path, true)?,
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn etc(&self, uid: u32) -> io::Result<()> {
        let etc = self.inside(Path::new("/etc"));
        fs::create_dir_all(&etc)?;
        let names = ETC.map(|name| Path::new("/etc").join(name));
        for path in names.iter().filter(|path| path.exists()) {
            self.bind(path, path, true)?;
        }
        fs::write(
            etc.join("passwd"),
            format!("root:x:0:0::/:/bin/false\nterrane:x:{uid}:{uid}::{HOME}/home:/bin/sh\n"),
        )?;
        fs::write(etc.join("group"), format!("root:x:0:\nterrane:x:{uid}:\n"))
    }

    fn devices(&self) -> io::Result<()> {
        let folder = self.inside(Path::new("/dev"));
        fs::create_dir_all(&folder)?;
        for device in DEVICES.map(|name| Path::new("/dev").join(name)) {
            let place = self.inside(&device);
            fs::write(&place, "")?;
            mount(Some(&device), &place, NONE, MsFlags::MS_BIND, NONE)?;
        }
        for (name, target) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
            symlink(format!("/proc/self/fd{target}"), folder.join(name))?;
        }
        Ok(())
    }

    /// Shows a folder or file of the machine at a place of the new root.
    fn bind(&self, source: &Path, place: &Path, read_only: bool) -> io::Result<()> {
        let place = self.inside(place);
        if source.is_dir() {
            fs::create_dir_all(&place)?;
        } else {
            fs::create_dir_all(place.parent().unwrap_or(&self.at))?;
            if !place.exists() {
                fs::write(&place, "")?;
            }
        }
        let depth = if self.whole { MsFlags::MS_REC } else { MsFlags::empty() };
        mount(Some(source), &place, NONE, MsFlags::MS_BIND | depth, NONE)?;
        let access = if read_only { MsFlags::MS_RDONLY } else { MsFlags::empty() };
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        Ok(mount(NONE, &place, NONE, flags | access | inherited(&place)?, NONE)?)
    }

    fn processes(&self) -> io::Result<()> {
        let folder = self.inside(Path::new("/proc"));
        fs::create_dir_all(&folder)?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        Ok(mount(Some("proc"), &folder, Some("proc"), flags, NONE)?)
    }

    fn enter(&self) -> io::Result<()> {
        chdir(&self.at)?;
        // The old root is put over the new one and taken off: there is no folder for it to stay in.
        pivot_root(".", ".")?;
        umount2(".", MntFlags::MNT_DETACH)?;
        chdir("/")?;
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        Ok(mount(NONE, "/", NONE, flags | MsFlags::MS_NOSUID | MsFlags::MS_NODEV, NONE)?)
    }
}

/// What a mount must keep where it was not made by us.
fn inherited(place: &Path) -> io::Result<MsFlags> {
    let found = statvfs(place)?.flags();
    let pairs = [
        (FsFlags::ST_RDONLY, MsFlags::MS_RDONLY),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ];
    Ok(pairs.into_iter().filter(|(flag, _)| found.contains(*flag)).map(|(_, flag)| flag).collect())
}
