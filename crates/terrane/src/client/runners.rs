//! `terrane runners`: who does jobs elsewhere, and whose. For operators.

use clap::{Args, Subcommand};
use model::{Labels, Runner};
use serde_json::json;

use super::address::read;
use super::api_client::{ApiClient, encoded};
use super::connection::{Connection, Way};
use super::failure::Failure;
use super::layouts;
use super::output::{Format, pairs, text_of};
use super::print;

const RUNNERS: &str = "/api/v1/runners";

#[derive(Subcommand)]
pub enum Command {
    /// Enrol a runner: fix whose jobs it does; its token goes to standard output, this once
    #[command(after_help = "\
Examples:
  terrane runners enrol eu-1 --tenant acme --tenant globex --label cloud=aws --label region=eu-1 >eu-1.token
  terrane runner --server https://terrane.example --token-file eu-1.token        on the runner's machine

A job whose plugin_config says `runner: {region: eu-1}` goes only to a runner with that label; one that asks for none goes to
any runner of its tenant. What is fixed here stays so: to change it, remove the runner and enrol it again.")]
    Enrol(Enrol),
    /// List the runners that are enrolled
    List {
        /// The form of the output
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
        #[command(flatten)]
        way: Way,
    },
    /// Make a runner's token worthless, at once; its jobs go to others when their leases end
    #[command(after_help = "Example:\n  terrane runners remove eu-1")]
    Remove {
        /// The runner's name
        name: String,
        #[command(flatten)]
        way: Way,
    },
}

#[derive(Args)]
pub struct Enrol {
    /// The runner's name
    name: String,
    /// A tenant whose jobs it may do; may be given several times
    #[arg(long = "tenant", value_name = "TENANT", required = true)]
    tenants: Vec<String>,
    /// A label that jobs may ask for; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
    #[command(flatten)]
    way: Way,
}

fn parse_label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not KEY=VALUE, such as region=eu-1"))?;
    Ok((key.into(), value.into()))
}

impl Command {
    /// Runners belong to the fleet: no tenant is worked in.
    pub fn connection(&self) -> Connection {
        let way = match self {
            Command::Enrol(enrol) => &enrol.way,
            Command::List { way, .. } | Command::Remove { way, .. } => way,
        };
        Connection { way: way.clone(), tenant: None }
    }
}

pub async fn run(client: &ApiClient, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Enrol(args) => enrol(client, args).await,
        Command::List { output, .. } => layouts::RUNNER.show(*output, &client.list(RUNNERS, &[], None).await?),
        Command::Remove { name, .. } => {
            client.delete(&format!("{RUNNERS}/{}", encoded(name)), &[]).await?;
            print::line(&format!("runner/{name} removed"))
        }
    }
}

async fn enrol(client: &ApiClient, args: &Enrol) -> Result<(), Failure> {
    let labels: Labels = args.labels.iter().cloned().collect();
    if labels.len() < args.labels.len() {
        return Err(Failure::usage("--label: a label has one value"));
    }
    let body = json!({ "name": args.name, "tenants": args.tenants, "labels": labels });
    let made = client.post(RUNNERS, &[], Some(&body)).await?;
    let runner: Runner = read(&made)?;
    print::note(&format!(
        "runner {} for {}, labels {}; its token is shown this once:",
        runner.name,
        runner.tenants.join(", "),
        if runner.labels.is_empty() { "none".into() } else { pairs(&runner.labels) }
    ));
    print::line(&text_of(&made, "token"))
}
