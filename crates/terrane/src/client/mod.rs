//! The user's commands: everything here speaks to a server through its API, as anybody could.

use std::process::ExitCode;

use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {}

pub fn run(command: Command) -> ExitCode {
    match command {}
}
