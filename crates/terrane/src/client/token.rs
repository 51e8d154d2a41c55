//! `terrane token`: who may come in, and how far.

use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use model::{Role, Scope, Token};
use serde_json::json;

use super::address::read;
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::layouts;
use super::output::{Format, text_of};
use super::print;
use super::time::parse_duration;

const TOKENS: &str = "/api/v1/tokens";

#[derive(Subcommand)]
pub enum Command {
    /// Make a token; its secret goes to standard output, this once
    #[command(after_help = "\
Example:
  terrane token create ci-deploy --role editor --expires 30d >ci.token")]
    Create(Create),
    /// List the tenant's tokens, without their secrets
    List {
        /// The form of the output
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
        #[command(flatten)]
        connection: Connection,
    },
    /// Make a token worthless, at once
    #[command(after_help = "Example:\n  terrane token revoke ci-deploy")]
    Revoke {
        /// The token's name
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
}

#[derive(Args)]
pub struct Create {
    name: String,
    /// viewer reads; editor changes resources; admin changes types and tokens too; operator does so in every tenant
    #[arg(long, value_parser = parse_role, value_name = "viewer|editor|admin|operator")]
    role: Role,
    /// For how long it is good, e.g. 30d; for ever where absent
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    expires: Option<Duration>,
    #[command(flatten)]
    connection: Connection,
}

fn parse_role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| format!("{text:?} is not viewer, editor, admin or operator"))
}

impl Command {
    pub fn connection(&self) -> &Connection {
        match self {
            Command::Create(create) => &create.connection,
            Command::List { connection, .. } | Command::Revoke { connection, .. } => connection,
        }
    }
}

pub async fn run(client: ApiClient, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Create(args) => create(client, args).await,
        Command::List { output, .. } => layouts::TOKEN.show(*output, &client.list(TOKENS, &[], None).await?),
        Command::Revoke { name, .. } => {
            let tokens = client.list(TOKENS, &[], None).await?;
            let found = tokens.iter().find(|token| text_of(token, "name") == *name).ok_or_else(|| {
                Failure::not_found(format!("there is no token {name} in this tenant"))
                    .next_step("`terrane token list` names those there are; an operator's are in --tenant fleet.")
            })?;
            client.delete(&super::address::path_of(TOKENS, found)?, &[]).await?;
            print::line(&format!("token/{name} revoked"))
        }
    }
}

async fn create(client: ApiClient, args: &Create) -> Result<(), Failure> {
    // An operator belongs to no tenant, so neither does its token.
    let client = if args.role == Role::Operator { client.in_tenant(Scope::FLEET)? } else { client };
    let mut body = json!({ "name": args.name, "role": args.role });
    if let Some(span) = args.expires {
        let at = Timestamp::now().checked_add(span);
        body["expires_at"] = json!(at.map_err(|_| Failure::usage("--expires: too far in the future"))?);
    }
    let made = client.post(TOKENS, &[], Some(&body)).await?;
    let token: Token = read(&made)?;
    let until = token.expires_at.map_or("for ever".into(), |at| format!("until {}", at.strftime("%Y-%m-%d %H:%M UTC")));
    print::note(&format!(
        "token {} of tenant {}, {}, good {until}; its secret is shown this once:",
        token.name,
        token.tenant,
        token.role.as_str()
    ));
    print::line(&text_of(&made, "token"))
}
