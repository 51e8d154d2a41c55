//! `terrane account`: the cloud accounts that Terraform works with.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::api_client::{ApiClient, encoded};
use super::connection::Connection;
use super::failure::Failure;
use super::layouts;
use super::output::Format;
use super::print;

const ACCOUNTS: &str = "/api/v1/accounts";

#[derive(Subcommand)]
pub enum Command {
    /// Register a cloud account
    #[command(after_help = "\
Example:
  terrane secret set aws-id && terrane secret set aws-key
  terrane account create prod-aws --provider aws --region eu-west-1 \\
    --credential AWS_ACCESS_KEY_ID=aws-id --credential AWS_SECRET_ACCESS_KEY=aws-key

A credential is an environment variable of the provider's own and the name of a secret: aws has AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, gcp GOOGLE_CREDENTIALS, azure ARM_…, digitalocean DIGITALOCEAN_TOKEN, linode LINODE_TOKEN. Resources
use the account by naming it: plugin_config.account.")]
    Create(Create),
    /// List the tenant's cloud accounts
    List {
        /// The form of the output
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
        #[command(flatten)]
        connection: Connection,
    },
    /// Show one cloud account
    #[command(after_help = "Example:\n  terrane account get prod-aws")]
    Get {
        /// The account's name
        name: String,
        /// The form of the output
        #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
        output: Format,
        #[command(flatten)]
        connection: Connection,
    },
    /// Delete a cloud account that nothing uses any more
    #[command(after_help = "Example:\n  terrane account delete prod-aws")]
    Delete {
        /// The account's name
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
}

#[derive(Args)]
pub struct Create {
    /// The account's name
    name: String,
    /// Whose account it is: aws, gcp, azure, digitalocean, linode or other
    #[arg(long)]
    provider: String,
    /// An environment variable, and the secret that it gets; may be given several times
    #[arg(long = "credential", value_name = "VARIABLE=SECRET", value_parser = credential)]
    credentials: Vec<(String, String)>,
    /// Where things are made unless something else is said
    #[arg(long)]
    region: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

fn credential(text: &str) -> Result<(String, String), String> {
    let (variable, secret) = text.split_once('=').ok_or("expected VARIABLE=SECRET, where SECRET is a secret's name")?;
    Ok((variable.into(), secret.into()))
}

impl Command {
    pub fn connection(&self) -> &Connection {
        match self {
            Command::Create(args) => &args.connection,
            Command::List { connection, .. } | Command::Get { connection, .. } | Command::Delete { connection, .. } => {
                connection
            }
        }
    }
}

pub async fn run(client: &ApiClient, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Create(args) => {
            let credentials: Map<String, Value> =
                args.credentials.iter().map(|(name, secret)| (name.clone(), json!({ "secret": secret }))).collect();
            let body = json!({
                "name": args.name, "provider": args.provider, "credentials": credentials, "region": args.region,
            });
            client.post(ACCOUNTS, &[], Some(&body)).await?;
            print::line(&format!("account/{} created", args.name))
        }
        Command::List { output, .. } => layouts::ACCOUNT.show(*output, &client.list(ACCOUNTS, &[], None).await?),
        Command::Get { name, output, .. } => {
            let account: Value = client.get(&format!("{ACCOUNTS}/{}", encoded(name)), &[]).await?;
            match output {
                Format::Json => print::json(&account),
                Format::Yaml => print::yaml(&account),
                other => layouts::ACCOUNT.show(*other, &[account]),
            }
        }
        Command::Delete { name, .. } => {
            client.delete(&format!("{ACCOUNTS}/{}", encoded(name)), &[]).await?;
            print::line(&format!("account/{name} deleted"))
        }
    }
}
