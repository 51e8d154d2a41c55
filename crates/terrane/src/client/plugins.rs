//! `terrane plugins`: how changes come in, and who makes them real.

use clap::Args;
use serde_json::{Value, json};

use super::address::read;
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::Format;
use super::print;
use super::table::Table;

#[derive(Args)]
pub struct Plugins {
    /// The form of the output: table, json, yaml or name
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Plugins) -> Result<(), Failure> {
    let actions: Vec<Value> = client.get("/api/v1/plugins/actions", &[]).await?;
    let inputs: Vec<Value> = client.get("/api/v1/plugins/inputs", &[]).await?;
    match args.output {
        Format::Json => return print::json(&json!({ "actions": actions, "inputs": inputs })),
        Format::Yaml => return print::yaml(&json!({ "actions": actions, "inputs": inputs })),
        Format::Table | Format::Wide | Format::Name => {}
    }
    let mut table = Table::new(&["NAME", "KIND", "VERSION", "ORIGIN", "STEPS", "DESCRIPTION"]);
    for (kind, plugins) in [("action", &actions), ("input", &inputs)] {
        for plugin in plugins {
            let api::Plugin { descriptor, origin } = read(plugin)?;
            if args.output == Format::Name {
                print::line(&format!("{kind}/{}", print::clean(&descriptor.name)))?;
                continue;
            }
            let steps: Vec<_> = descriptor.steps.iter().map(|step| step.as_str()).collect();
            let steps = if steps.is_empty() { "-".into() } else { steps.join(",") };
            table.row(vec![descriptor.name, kind.into(), descriptor.version, origin, steps, descriptor.description]);
        }
    }
    if args.output == Format::Name { Ok(()) } else { table.print() }
}
