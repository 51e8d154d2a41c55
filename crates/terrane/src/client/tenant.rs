//! `terrane tenant`: whose resources there are. For operators.

use clap::Subcommand;
use serde_json::json;

use super::api_client::{ApiClient, encoded};
use super::connection::Connection;
use super::failure::Failure;
use super::layouts;
use super::output::Format;
use super::print;

const TENANTS: &str = "/api/v1/tenants";

#[derive(Subcommand)]
pub enum Command {
    /// Make a tenant
    #[command(after_help = "\
Example:
  terrane tenant create acme --description 'Acme Corp'
  terrane token create acme-admin --role admin --tenant acme")]
    Create {
        name: String,
        /// What it is, for people
        #[arg(long, default_value = "")]
        description: String,
        #[command(flatten)]
        connection: Connection,
    },
    /// List the tenants
    List {
        /// The form of the output
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
        #[command(flatten)]
        connection: Connection,
    },
    /// Delete a tenant that has no resources or types any more
    Delete {
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
}

impl Command {
    pub fn connection(&self) -> &Connection {
        match self {
            Command::Create { connection, .. }
            | Command::List { connection, .. }
            | Command::Delete { connection, .. } => connection,
        }
    }
}

pub async fn run(client: &ApiClient, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Create { name, description, .. } => {
            client.post(TENANTS, &[], Some(&json!({ "name": name, "description": description }))).await?;
            print::line(&format!("tenant/{name} created"))
        }
        Command::List { output, .. } => layouts::TENANT.show(*output, &client.list(TENANTS, &[], None).await?),
        Command::Delete { name, .. } => {
            client.delete(&format!("{TENANTS}/{}", encoded(name)), &[]).await?;
            print::line(&format!("tenant/{name} deleted"))
        }
    }
}
