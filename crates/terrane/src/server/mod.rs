//! The server's roles, and the commands that look after a server's database.

mod access;
mod doctor;
mod engine;
mod keyring;
mod remote;
mod runner;
mod serve;
mod telemetry;

use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, Args, CommandFactory, Subcommand};

use crate::config::{Config, RemoteConfig, RemoteFlags, ServerFlags};

#[derive(Subcommand)]
pub enum Command {
    /// Start everything on this machine: embedded database, API, controller; nothing to set up
    #[command(after_help = "Example:\n  terrane up --listen 127.0.0.1:9000 --data-dir ~/terrane")]
    Up {
        #[command(flatten)]
        flags: ServerFlags,
        /// Reconcile nothing: serve what is there, and leave it as it is
        #[arg(long)]
        no_controller: bool,
    },
    /// Start the API server
    Server {
        #[command(flatten)]
        flags: ServerFlags,
        /// Do not bring the database up to date first
        #[arg(long)]
        no_migrate: bool,
    },
    /// Start a controller: the reconcile loop alone, beside servers and other controllers on the same database
    #[command(after_help = "It answers /health, /ready and /metrics on --listen [default: 127.0.0.1:8001].\n\n\
        Example:\n  terrane controller --database postgres://…")]
    Controller(ServerFlags),
    /// Start a runner: does the jobs of a control plane elsewhere, as far as it was enrolled for them
    #[command(after_help = "\
An operator enrols it first, which fixes whose jobs it does, and prints its token:
  terrane runners enrol eu-1 --tenant acme --label region=eu-1 >eu-1.token

Example:
  terrane runner --server https://terrane.example --token-file eu-1.token --source-git https://git.example/infra

SIGTERM: no new job is taken; those under way go on under their supervisors, and a runner that is started with the same
--workspaces before their leases end goes on with them.")]
    Runner(RemoteFlags),
    /// Watch over one job: started by a runner, never by hand
    #[command(hide = true)]
    Supervise {
        /// The stage inside of the job's own namespaces
        #[arg(long)]
        inside: bool,
        folder: Option<std::path::PathBuf>,
    },
    /// Bring the database up to this program's version
    Migrate(ServerFlags),
    /// Print the settings in force, and where each comes from
    Config(ServerFlags),
    /// Check this machine and the configuration, and say what to mend
    Doctor(ServerFlags),
    /// Make an operator's token straight in the database: the first one, before anybody can sign in
    #[command(after_help = "Example:\n  terrane bootstrap --database postgres://…  >operator.token")]
    Bootstrap(Bootstrap),
}

#[derive(Args)]
pub struct Bootstrap {
    #[command(flatten)]
    pub flags: ServerFlags,
    /// The token's name
    #[arg(long, default_value = "operator")]
    pub name: String,
}

pub fn run(command: Command) -> ExitCode {
    let done = match command {
        Command::Up { flags, no_controller } => {
            with_runtime(flags, move |config| serve::serve(config, serve::Role::Up { controller: !no_controller }))
        }
        Command::Server { flags, no_migrate } => {
            with_runtime(flags, move |config| serve::serve(config, serve::Role::Server { migrate: !no_migrate }))
        }
        Command::Controller(mut flags) => {
            // Beside a server of the same machine.
            flags.listen.get_or_insert_with(|| "127.0.0.1:8001".into());
            with_runtime(flags, |config| serve::serve(config, serve::Role::Controller))
        }
        Command::Runner(flags) => remote::run(flags),
        Command::Supervise { inside: true, .. } => return ::runner::inside(),
        Command::Supervise { folder: Some(folder), .. } => return ::runner::supervise(&folder),
        Command::Supervise { .. } => return ExitCode::from(2),
        Command::Migrate(flags) => with_runtime(flags, serve::migrate),
        Command::Config(flags) => read(flags).map(|config| print(&config)),
        Command::Doctor(flags) => return doctor::run(flags),
        Command::Bootstrap(Bootstrap { flags, name }) => {
            with_runtime(flags, |config| async move { access::bootstrap(config, name).await })
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            if error.is::<WrongSettings>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn print(config: &Config) {
    for (name, value, source) in config.rows() {
        say(&format!("{name:<16} {value:<48} # {source}"));
    }
}

/// A line to standard output. A reader that has gone away is no reason to fail.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn read_remote(flags: RemoteFlags) -> anyhow::Result<RemoteConfig> {
    RemoteConfig::read(flags, &innermost_matches()).map_err(|error| error.context(WrongSettings))
}

pub fn read(flags: ServerFlags) -> anyhow::Result<Config> {
    Config::read(flags, &innermost_matches()).map_err(|error| error.context(WrongSettings))
}

/// Marks a failure as wrong usage.
#[derive(Debug, thiserror::Error)]
#[error("wrong settings")]
struct WrongSettings;

/// What clap knows of where each value came from.
fn innermost_matches() -> ArgMatches {
    let mut matches = crate::Cli::command().get_matches();
    while let Some((_, inner)) = matches.remove_subcommand() {
        matches = inner;
    }
    matches
}

fn with_runtime<F, Fut>(flags: ServerFlags, work: F) -> anyhow::Result<()>
where
    F: FnOnce(Config) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let config = read(flags)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work(config))
}
