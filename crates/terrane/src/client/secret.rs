//! `terrane secret`: what plugins need to know and nobody else. A value is never an argument: there it would be in the
//! shell's history, and for every process of the machine to see.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::api_client::{ApiClient, encoded};
use super::connection::Connection;
use super::failure::Failure;
use super::layouts;
use super::output::Format;
use super::{print, prompt};
use crate::config::variable;

const SECRETS: &str = "/api/v1/secrets";
/// As large as the server takes.
const LARGEST: u64 = 64 * 1024;

#[derive(Subcommand)]
pub enum Command {
    /// Set a secret, whether or not there is one of that name
    #[command(after_help = "\
Examples:
  terrane secret set github-token                         asks for the value, without showing it
  terrane secret set github-token --host api.github.com <token.txt
  terrane secret set github-token --from-env GITHUB_TOKEN
  terrane secret set deploy-key --from-file deploy.pem

The value is never an argument: it would stay in the shell's history and show in the list of processes. One line break
at its end is left out. It is sealed on the server, and nobody is ever shown it again.")]
    Set(Set),
    /// List the tenant's secrets: names and hosts, never values
    List {
        /// The form of the output
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
        #[command(flatten)]
        connection: Connection,
    },
    /// Delete a secret; resources that use it will fail at their next reconciliation
    #[command(after_help = "Example:\n  terrane secret delete github-token")]
    Delete {
        /// The secret's name
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
}

#[derive(Args)]
pub struct Set {
    /// The secret's name; its value comes from a file, a variable, standard input or a prompt, never from here
    name: String,
    /// Take the value from this file
    #[arg(long, value_name = "FILE", conflicts_with = "from_env")]
    from_file: Option<PathBuf>,
    /// Take the value from this environment variable
    #[arg(long, value_name = "VAR")]
    from_env: Option<String>,
    /// It may be sent to this host only: a host, host:port or *.suffix; may be given several times [default: any]
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Check everything and say what would happen, but change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Command {
    pub fn connection(&self) -> &Connection {
        match self {
            Command::Set(args) => &args.connection,
            Command::List { connection, .. } | Command::Delete { connection, .. } => connection,
        }
    }
}

pub async fn run(client: &ApiClient, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Set(args) => set(client, args).await,
        Command::List { output, .. } => layouts::SECRET.show(*output, &client.list(SECRETS, &[], None).await?),
        Command::Delete { name, .. } => {
            client.delete(&format!("{SECRETS}/{}", encoded(name)), &[]).await?;
            print::line(&format!("secret/{name} deleted"))
        }
    }
}

async fn set(client: &ApiClient, args: &Set) -> Result<(), Failure> {
    let value = value(args)?;
    let (query, tried) = if args.dry_run { (vec![("dry_run", "true".into())], " (dry run)") } else { (vec![], "") };
    let body = json!({ "value": value.expose_secret(), "hosts": args.hosts });
    client.put(&format!("{SECRETS}/{}", encoded(&args.name)), &query, &body).await?;
    print::line(&format!("secret/{} set{tried}", args.name))
}

fn value(args: &Set) -> Result<SecretString, Failure> {
    let value = if let Some(path) = &args.from_file {
        let wrong = |why: String| Failure::usage(format!("--from-file {}: {why}", path.display()));
        let bytes = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
        if bytes > LARGEST + 2 {
            return Err(wrong(format!("a secret is at most {LARGEST} bytes, and this has {bytes}")));
        }
        prompt::without_line_break(std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?)
    } else if let Some(name) = &args.from_env {
        let found = variable(name);
        found.ok_or_else(|| Failure::usage(format!("--from-env {name}: it is not set, or empty")))?.into()
    } else {
        prompt::secret(&format!("Value of {}", args.name), LARGEST)?
    };
    if value.expose_secret().is_empty() { Err(Failure::usage("the value is empty")) } else { Ok(value) }
}
