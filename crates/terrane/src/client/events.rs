//! `terrane events`: who changed what, and when.

use clap::Args;
use model::Event;
use serde_json::Value;

use super::address::{Address, Finder, parse_address, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::{Format, document};
use super::print;
use super::table::Table;
use super::time::age;
use super::watch::Watch;

pub const EVENTS: &str = "/api/v1/events";

#[derive(Args)]
pub struct Events {
    /// TYPE/NAME; everything where absent
    #[arg(value_parser = parse_address)]
    what: Option<Address>,
    /// Only events of this kind of object
    #[arg(long, value_parser = ["resource", "resource_type", "tenant", "token", "secret", "runner"], conflicts_with = "what")]
    kind: Option<String>,
    /// Only what happened after this SEQ
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
    since: Option<i64>,
    /// At most so many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "watch")]
    limit: Option<u32>,
    /// Go on showing events as they happen, until interrupted
    #[arg(short, long)]
    watch: bool,
    /// The form of the output: table, json (one per line) or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Events) -> Result<(), Failure> {
    let mut filters: Vec<(&str, String)> = vec![];
    if let Some(address) = &args.what {
        let resource = Finder::new(client).resource(address).await?;
        let id = resource.get("id").and_then(Value::as_i64).unwrap_or(0);
        filters = vec![("kind", "resource".into()), ("object_id", id.to_string())];
    }
    filters.extend(args.kind.clone().map(|kind| ("kind", kind)));
    let mut seen = args.since.unwrap_or(0);
    let mut table = empty();
    // Listen before the first look, so that nothing falls in between.
    let mut watch = if args.watch { Some(Watch::begin(client, EVENTS, &filters, Some(seen)).await?) } else { None };
    let shown = show(client, args, &filters, &mut seen, &mut table, true).await?;
    if shown == 0 && !args.watch && args.output.is_table() {
        print::note("No events found.");
    }
    while let Some(watch) = &mut watch {
        // The stream tells of the objects; who changed them is in the list, so it only serves as a bell here.
        if watch.next().await?.seq.is_some_and(|seq| seq > seen) {
            show(client, args, &filters, &mut seen, &mut table, false).await?;
        }
    }
    Ok(())
}

/// Show what happened after `seen`, page by page.
async fn show(
    client: &ApiClient,
    args: &Events,
    filters: &[(&str, String)],
    seen: &mut i64,
    table: &mut Table,
    mut with_header: bool,
) -> Result<usize, Failure> {
    let mut query = filters.to_vec();
    query.push(("since", seen.to_string()));
    let mut pages = client.pages(EVENTS, &query, args.limit.map(|limit| limit as usize));
    let mut shown = 0;
    while let Some(page) = pages.next().await? {
        shown += page.len();
        for value in &page {
            let event: Event = read(value)?;
            *seen = event.seq.0;
            match args.output {
                Format::Json => print::line(&value.to_string())?,
                Format::Yaml => document(value)?,
                Format::Name => print::line(&event.object_name)?,
                Format::Table | Format::Wide => table.row(cells(&event)),
            }
        }
        if args.output.is_table() && (shown > 0 || args.watch) {
            if with_header {
                table.print()?
            } else {
                table.flush()?
            }
            with_header = false;
        }
    }
    Ok(shown)
}

fn empty() -> Table {
    Table::new(&["SEQ", "AGE", "KIND", "OBJECT", "ACTION", "ACTOR"])
}

pub fn table(events: &[Event]) -> Table {
    let mut table = empty();
    events.iter().for_each(|event| table.row(cells(event)));
    table
}

fn cells(event: &Event) -> Vec<String> {
    vec![
        event.seq.to_string(),
        age(event.time),
        event.kind.as_str().into(),
        event.object_name.clone(),
        event.action.as_str().into(),
        event.actor.clone(),
    ]
}
