//! One binary: the server's roles and the user's commands are its subcommands.

mod client;
mod config;
mod server;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Declare infrastructure as resources; Terrane makes reality match, and keeps it so.
#[derive(Parser)]
#[command(name = "terrane", version, propagate_version = true, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
First steps:
  terrane up                          start a server on this machine, nothing to set up
  terrane apply -f examples/          declare a type and a resource
  terrane get                         see how they stand

Exit codes: 0 done; 1 failed (diff: there are differences); 2 wrong usage; 3 not found; 4 conflict;
5 invalid input; 6 not allowed; 7 server not reachable; 8 timed out";

#[expect(clippy::large_enum_variant, reason = "there is one of it in a process, and it is taken apart at once")]
#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Server(server::Command),
    #[command(flatten)]
    Client(client::Command),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  source <(terrane completion bash)")]
    Completion { shell: clap_complete::Shell },
    /// Print the version
    Version,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // TLS of server, client and exporter alike; only the first call can fail, and there is one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match cli.command {
        Command::Server(command) => server::run(command),
        Command::Client(command) => client::run(command),
        Command::Completion { shell } => {
            let mut script = vec![];
            clap_complete::generate(shell, &mut Cli::command(), "terrane", &mut script);
            // A reader who has seen enough is no failure.
            let _ = std::io::stdout().write_all(&script);
            ExitCode::SUCCESS
        }
        Command::Version => {
            println!("terrane {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
    }
}
