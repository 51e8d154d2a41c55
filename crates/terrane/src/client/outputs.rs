//! `terrane outputs`: what a reconciliation left for its users, such as an address to connect to.

use clap::Args;
use serde_json::Value;

use super::address::{Address, Finder, RESOURCES, parse_address, path_of};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::Format;
use super::print;
use super::table::Table;

#[derive(Args)]
pub struct Outputs {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// Only this output: a text as it is, anything else as JSON
    key: Option<String>,
    /// Show sensitive ones too; needs the role editor
    #[arg(long)]
    reveal: bool,
    /// The form of the output: table, json or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Outputs) -> Result<(), Failure> {
    let resource = Finder::new(client).resource(&args.what).await?;
    let query: &[(&str, String)] = if args.reveal { &[("reveal", "true".into())] } else { &[] };
    let answer: Value = client.get(&format!("{}/outputs", path_of(RESOURCES, &resource)?), query).await?;
    let outputs = answer.get("outputs").cloned().unwrap_or_default();
    let sensitive: Vec<String> =
        answer.get("sensitive").and_then(|names| serde_json::from_value(names.clone()).ok()).unwrap_or_default();
    let hidden = if args.reveal { Vec::new() } else { sensitive };
    let empty = serde_json::Map::new();
    let fields = outputs.as_object().unwrap_or(&empty);
    if let Some(key) = &args.key {
        let value = fields.get(key).ok_or_else(|| {
            if hidden.contains(key) {
                return Failure::not_found(format!("the output {key} of {} is sensitive", args.what))
                    .next_step("--reveal shows it, to whoever has the role editor.");
            }
            let known: Vec<_> = fields.keys().map(String::as_str).collect();
            let known =
                if known.is_empty() { "it has none yet".into() } else { format!("it has: {}", known.join(", ")) };
            Failure::not_found(format!("{} has no output {key}; {known}", args.what))
        })?;
        return match args.output {
            Format::Json => print::json(value),
            Format::Yaml => print::yaml(value),
            _ => print::line(&plain(value)),
        };
    }
    match args.output {
        Format::Json => print::json(&outputs),
        Format::Yaml => print::yaml(&outputs),
        _ if fields.is_empty() && hidden.is_empty() => {
            print::note(&format!("{} has no outputs yet.", args.what));
            Ok(())
        }
        _ => {
            let mut table = Table::new(&["KEY", "VALUE"]);
            fields.iter().for_each(|(key, value)| table.row(vec![key.clone(), plain(value)]));
            hidden.iter().for_each(|key| table.row(vec![key.clone(), "(sensitive; --reveal shows it)".into()]));
            table.print()
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
