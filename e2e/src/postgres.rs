//! A PostgreSQL server of a story's own, which it may restart.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::wait::eventually;

pub struct Postgres {
    /// Of its database `postgres`.
    pub url: String,
    data: PathBuf,
    keeper: Child,
    _folder: tempfile::TempDir,
}

impl Postgres {
    pub async fn start() -> Postgres {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let note = folder.path().join("note");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/with-postgres");
        let keep =
            "echo $TERRANE_TEST_POSTGRES >$0.new; echo $TERRANE_TEST_POSTGRES_DATA >>$0.new; mv $0.new $0; read _";
        let keeper = Command::new(script)
            .args(["sh", "-c", keep])
            .arg(&note)
            .stdin(Stdio::piped())
            .spawn()
            .expect("the script can be started");
        let text = eventually("PostgreSQL to start", async || std::fs::read_to_string(&note).ok()).await;
        let mut lines = text.lines().map(str::to_string);
        let url = lines.next().expect("its URL");
        let data = lines.next().expect("its data").into();
        Postgres { url, data, keeper, _folder: folder }
    }

    /// Stopped without a farewell, where it runs, and started again on the same port and data.
    pub fn restart(&self) {
        self.control("restart");
    }

    /// Stopped without a farewell.
    pub fn stop(&self) {
        self.control("stop");
    }

    fn control(&self, what: &str) {
        let bin = Command::new("sh").args(["-c", "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1"]).output();
        let bin = String::from_utf8_lossy(&bin.expect("PostgreSQL is installed").stdout).trim().to_string();
        let root = Command::new("id").arg("-u").output().expect("id is there").stdout == b"0\n";
        let mut command = if root { Command::new("setpriv") } else { Command::new("env") };
        if root {
            command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]);
        }
        let log = self.data.with_extension("again.log");
        let status = command
            .arg(format!("{bin}/pg_ctl"))
            .args(["-D", &self.data.display().to_string(), "-m", "immediate", "-w"])
            .args(["-l", &log.display().to_string(), what])
            .current_dir("/")
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("pg_ctl is there").success(), "PostgreSQL can be told to {what}");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Its end of the pipe closes, `read` ends, and the script cleans up.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
