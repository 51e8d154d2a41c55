//! The program, as `cargo build` left it beside the stories, in an environment that holds nothing of the developer's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that was built beside the stories.
pub fn beside(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("a test is in target/PROFILE/deps");
    let binary = profile.join(name);
    assert!(
        binary.is_file(),
        "{} is not there: build it with `cargo build -p {name}`, or run `make test`",
        binary.display()
    );
    binary
}

/// A command that runs it in `folder`, where no terrane.toml is, and with nothing in its environment but a PATH.
pub fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(beside("terrane"));
    command.args(arguments).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    command
}

/// What became of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Both streams: a secret must be in neither.
    pub fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Run it to its end.
pub fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = program(folder, arguments).output().expect("the program can be started");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
