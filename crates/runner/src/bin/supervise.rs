//! The supervisor alone, as this crate's own tests start it; users have it as `terrane supervise`. With `--start` it is a runner that
//! starts one and then waits to be killed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use runner::{Supervised, Workspace};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(word) if word == "--inside" => runner::inside(),
        Some(word) if word == "--start" => {
            arguments.next().map_or(ExitCode::from(2), |folder| start(Path::new(&folder)))
        }
        Some(folder) => runner::supervise(Path::new(&folder)),
        None => ExitCode::from(2),
    }
}

fn start(folder: &Path) -> ExitCode {
    let Ok(_supervised) = Supervised::start(Workspace::at(folder), &BTreeMap::new()) else { return ExitCode::FAILURE };
    loop {
        std::thread::park();
    }
}
