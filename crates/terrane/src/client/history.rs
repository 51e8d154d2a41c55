//! `terrane history`: every attempt to make a resource real.

use clap::Args;
use model::HistoryEntry;

use super::address::{Address, Finder, RESOURCES, parse_address, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::{Format, document};
use super::print;
use super::table::Table;
use super::time::age;

#[derive(Args)]
pub struct History {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// At most so many, the latest first
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// The form of the output: table, json or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &History) -> Result<(), Failure> {
    let resource = Finder::new(client).resource(&args.what).await?;
    let path = format!("{}/history", path_of(RESOURCES, &resource)?);
    let found = client.list(&path, &[], args.limit.map(|limit| limit as usize)).await?;
    match args.output {
        Format::Json => print::json(&found),
        Format::Yaml => found.iter().try_for_each(document),
        _ if found.is_empty() => {
            print::note(&format!("{} has not been reconciled yet.", args.what));
            Ok(())
        }
        _ => table(&found.iter().map(read).collect::<Result<Vec<HistoryEntry>, _>>()?).print(),
    }
}

pub fn table(entries: &[HistoryEntry]) -> Table {
    let mut table =
        Table::new(&["ID", "GENERATION", "RESULT", "PHASE", "CREATED", "UPDATED", "DELETED", "AGE", "ERROR"]);
    for entry in entries {
        table.row(vec![
            entry.id.to_string(),
            entry.generation.to_string(),
            if entry.success { "ok".into() } else { "failed".into() },
            entry.phase.clone(),
            entry.resources_created.to_string(),
            entry.resources_updated.to_string(),
            entry.resources_deleted.to_string(),
            age(entry.reconcile_time),
            entry.error_message.clone().unwrap_or_default(),
        ]);
    }
    table
}
