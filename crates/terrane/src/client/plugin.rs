//! `terrane plugin check`: the conformance kit, for whoever writes a plugin. It speaks to the plugin alone, not to a server.

use clap::Subcommand;
use controller::plugins::check::check;
use controller::plugins::{Door, DoorPolicy};
use secrecy::SecretString;

use super::failure::{Code, Failure};
use super::print;
use crate::config::variable;

#[derive(Subcommand)]
pub enum Command {
    /// Ask a plugin everything that Terrane may ask, and say where its answers break the contract
    #[command(after_help = "\
The plugin is called for a resource named after the check, which is made and destroyed again.
A token that the plugin asks for is taken from TERRANE_PLUGIN_TOKEN.

Example:
  terrane plugin check http://localhost:9100/")]
    Check {
        /// Where the plugin listens
        url: String,
        /// Print the report as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(command: &Command) -> Result<Option<Code>, Failure> {
    let Command::Check { url, json } = command;
    let parsed = reqwest::Url::parse(url).map_err(|error| Failure::usage(format!("{url:?} is no URL: {error}")))?;
    // It is the author's own plugin, wherever it runs.
    let port = parsed.port_or_known_default().unwrap_or(80);
    let here = format!("{}:{port}", parsed.host_str().unwrap_or_default());
    let token = variable("TERRANE_PLUGIN_TOKEN").map(SecretString::from);
    let report = check(url, token, Door::new(DoorPolicy::allowing([here]))).await;
    if *json {
        print::json(&report)?;
    } else {
        print::line(&report.to_string())?;
    }
    Ok((!report.passed()).then_some(Code::Failed))
}
