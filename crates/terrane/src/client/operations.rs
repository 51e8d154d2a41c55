//! `terrane operations`: what was begun for a resource, how far it came and how it ended.

use clap::Args;
use model::Operation;

use super::address::{Address, Finder, RESOURCES, parse_address, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::{Format, document};
use super::print;
use super::table::Table;
use super::time::age;

#[derive(Args)]
pub struct Operations {
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

pub async fn run(client: &ApiClient, args: &Operations) -> Result<(), Failure> {
    let resource = Finder::new(client).resource(&args.what).await?;
    let path = format!("{}/operations", path_of(RESOURCES, &resource)?);
    let found = client.list(&path, &[], args.limit.map(|limit| limit as usize)).await?;
    match args.output {
        Format::Json => print::json(&found),
        Format::Yaml => found.iter().try_for_each(document),
        _ if found.is_empty() => {
            print::note(&format!("{} has had no operations yet.", args.what));
            Ok(())
        }
        _ => table(&found.iter().map(read).collect::<Result<Vec<Operation>, _>>()?).print(),
    }
}

pub fn table(operations: &[Operation]) -> Table {
    let mut table = Table::new(&["ID", "KIND", "REASON", "GENERATION", "STATE", "PHASE", "ATTEMPT", "AGE", "MESSAGE"]);
    for operation in operations {
        table.row(vec![
            operation.id.to_string(),
            operation.kind.as_str().into(),
            operation.reason.as_str().into(),
            operation.generation.to_string(),
            operation.state.as_str().into(),
            operation.phase.as_str().into(),
            operation.attempt.to_string(),
            age(operation.started_at),
            operation.message.clone(),
        ]);
    }
    table
}
