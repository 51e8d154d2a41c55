//! `terrane alerts`: what a person should know of at once, and what can be done about it.

use clap::Args;
use model::Alert;

use super::address::read;
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::{Format, document};
use super::print;
use super::table::Table;
use super::time::age;

#[derive(Args)]
pub struct Alerts {
    /// The form of the output: table, json or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Alerts) -> Result<(), Failure> {
    let found = client.list("/api/v1/alerts", &[], None).await?;
    match args.output {
        Format::Json => print::json(&found),
        Format::Yaml => found.iter().try_for_each(document),
        _ if found.is_empty() => {
            print::note("No alerts stand.");
            Ok(())
        }
        _ => {
            let mut table = Table::new(&["RESOURCE", "SINCE", "CLASS", "CHOICES", "HOLDS", "MESSAGE"]);
            for alert in found.iter().map(read::<Alert>) {
                let Alert { resource_name, resource_type_name, since, failure, holds, .. } = alert?;
                let choices: Vec<_> = failure.choices.iter().map(|choice| choice.as_str()).collect();
                table.row(vec![
                    format!("{}/{resource_name}", resource_type_name.to_ascii_lowercase()),
                    age(since),
                    failure.class.as_str().into(),
                    choices.join(","),
                    holds.len().to_string(),
                    failure.message,
                ]);
            }
            table.print()
        }
    }
}
