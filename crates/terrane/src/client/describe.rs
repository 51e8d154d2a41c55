//! `terrane describe`: everything about one resource, for a person who wants to know why it is as it is.

use clap::Args;
use jiff::Timestamp;
use model::{Event, HistoryEntry, Resource};
use serde_json::Value;

use super::address::{Address, Finder, RESOURCES, parse_address, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::events;
use super::failure::Failure;
use super::history;
use super::output::pairs;
use super::print;
use super::table::Table;
use super::time::age;

/// How many of the latest attempts and events are shown.
const RECENT: usize = 10;

#[derive(Args)]
pub struct Describe {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Describe) -> Result<(), Failure> {
    let resource: Resource = read(&Finder::new(client).resource(&args.what).await?)?;
    let attempts = client.list(&format!("{RESOURCES}/{}/history", resource.id), &[], Some(RECENT)).await?;
    let attempts: Vec<HistoryEntry> = attempts.iter().map(read).collect::<Result<_, _>>()?;
    let events = recent_events(client, &resource).await?;

    let mut text = facts(&resource);
    text += &block("Conditions", &conditions(&resource).text());
    text += &block("Spec", &yaml(&resource.spec)?);
    text += &block("Plugin config", &yaml(&resource.plugin_config)?);
    text += &if attempts.is_empty() {
        "History:        none yet\n".into()
    } else {
        block("History", &history::table(&attempts).text())
    };
    text += &block("Events", &events::table(&events).text());
    print::raw(&text)
}

fn facts(resource: &Resource) -> String {
    let at = |time: Timestamp| format!("{} ({} ago)", time.strftime("%Y-%m-%dT%H:%M:%SZ"), age(time));
    let maybe = |time: Option<Timestamp>| time.map_or("never".into(), at);
    let status = resource.status.as_str();
    let mut rows = vec![
        ("Name", resource.name.clone()),
        ("Type", format!("{}/{}", resource.resource_type_name, resource.resource_type_version)),
        ("Tenant", resource.tenant.clone()),
        ("ID", resource.id.to_string()),
        (
            "Status",
            format!("{} ({})", print::painted(status, print::status_style(status)), resource.lifecycle.as_str()),
        ),
        ("Message", print::clean(&resource.status_message)),
        ("Action plugin", resource.action_plugin.clone()),
        ("Generation", format!("{} (observed {})", resource.generation, resource.observed_generation)),
        ("Labels", pairs(&resource.labels)),
        ("Annotations", print::clean(&pairs(&resource.annotations))),
        ("Created", at(resource.created_at)),
        ("Updated", at(resource.updated_at)),
        ("Reconciled", maybe(resource.last_reconcile_time)),
    ];
    rows.extend(resource.reconcile_requested_at.map(|time| ("Forced", at(time))));
    rows.extend(resource.deletion_requested_at.map(|time| ("Delete asked", at(time))));
    rows.into_iter().map(|(name, value)| format!("{:<15} {value}\n", format!("{name}:"))).collect()
}

fn conditions(resource: &Resource) -> Table {
    let mut table = Table::new(&["TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"]);
    for condition in &resource.conditions {
        table.row(vec![
            condition.kind.clone(),
            format!("{:?}", condition.status),
            condition.reason.clone(),
            age(condition.last_transition_time),
            condition.message.clone(),
        ]);
    }
    table
}

fn yaml(value: &Value) -> Result<String, Failure> {
    if value.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok("{}\n".into());
    }
    Ok(print::clean_lines(&print::yaml_text(value)?))
}

fn block(title: &str, text: &str) -> String {
    match text {
        "{}\n" => format!("{:<15} none\n", format!("{title}:")),
        _ => format!("{title}:\n{}", print::indented(text)),
    }
}

/// The latest events. The API gives the oldest first, so look back from the latest change, further and further.
async fn recent_events(client: &ApiClient, resource: &Resource) -> Result<Vec<Event>, Failure> {
    let mut found = vec![];
    for window in [1_000, 100_000, i64::MAX] {
        let since = resource.resource_version.saturating_sub(window).max(0);
        let query =
            [("kind", "resource".to_string()), ("object_id", resource.id.to_string()), ("since", since.to_string())];
        found = client.list(events::EVENTS, &query, None).await?;
        if found.len() >= RECENT || since == 0 {
            break;
        }
    }
    found.iter().rev().take(RECENT).rev().map(read).collect()
}
