//! `terrane describe`: everything about one resource, for a person who wants to know why it is as it is.

use clap::Args;
use model::{Event, HistoryEntry, Operation, Resource};
use serde_json::Value;

use super::address::{Address, Finder, RESOURCES, parse_address, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::events;
use super::failure::Failure;
use super::output::pairs;
use super::table::Table;
use super::time::{age, moment};
use super::waiting::waiting;
use super::{choices, history, operations, print};

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
    let of = |what: &str| format!("{RESOURCES}/{}/{what}", resource.id);
    let attempts = client.list(&of("history"), &[], Some(RECENT)).await?;
    let attempts: Vec<HistoryEntry> = attempts.iter().map(read).collect::<Result<_, _>>()?;
    let operations = client.list(&of("operations"), &[], Some(RECENT)).await?;
    let operations: Vec<Operation> = operations.iter().map(read).collect::<Result<_, _>>()?;
    let under_way = operations.iter().find(|operation| Some(operation.id) == resource.operation_id);
    let events = recent_events(client, &resource).await?;

    let mut text = facts(&resource, under_way);
    text += &block("Conditions", &conditions(&resource).text());
    text +=
        &under_way.map_or("Operation:      none under way\n".into(), |operation| rows("Operation", &step(operation)));
    text +=
        &resource.failure.as_ref().map_or(String::new(), |failure| rows("Last failure", &reasons(&resource, failure)));
    text += &drift(&resource);
    text += &lines("Finalizers", &resource.finalizers);
    text += &lines("Holds", &resource.holds);
    text += &block("Spec", &yaml(&resource.spec)?);
    text += &block("Plugin config", &yaml(&resource.plugin_config)?);
    text += &if operations.is_empty() {
        "Operations:     none yet\n".into()
    } else {
        block("Operations", &operations::table(&operations).text())
    };
    text += &if attempts.is_empty() {
        "History:        none yet\n".into()
    } else {
        block("History", &history::table(&attempts).text())
    };
    text += &block("Events", &events::table(&events).text());
    print::raw(&text)
}

fn facts(resource: &Resource, under_way: Option<&Operation>) -> String {
    let status = resource.status.as_str();
    let waiting = waiting(resource, under_way);
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
        ("Waiting for", waiting.as_ref().map_or("nothing".into(), |waiting| print::clean(&waiting.what))),
    ];
    rows.extend(waiting.map(|waiting| ("Waiting since", moment(waiting.since))));
    rows.extend([
        ("Next look", next_look(resource)),
        ("Action plugin", resource.action_plugin.clone()),
        ("Drift policy", resource.drift_policy.as_str().into()),
        ("Generation", format!("{} (observed {})", resource.generation, resource.observed_generation)),
        ("Labels", pairs(&resource.labels)),
        ("Annotations", print::clean(&pairs(&resource.annotations))),
        ("Created", moment(resource.created_at)),
        ("Updated", moment(resource.updated_at)),
        ("Reconciled", resource.last_reconcile_time.map_or("never".into(), moment)),
    ]);
    rows.extend(resource.reconcile_requested_at.map(|time| ("Forced", moment(time))));
    rows.extend(resource.deletion_requested_at.map(|time| ("Delete asked", moment(time))));
    rows.into_iter().map(|(name, value)| fact(name, &value)).collect()
}

fn fact(name: &str, value: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}:") };
    format!("{name:<15} {value}\n")
}

fn next_look(resource: &Resource) -> String {
    resource
        .next_reconcile_at
        .map_or("not by itself: only a change or `terrane reconcile` brings it about".into(), moment)
}

fn step(operation: &Operation) -> Vec<(&'static str, String)> {
    vec![
        ("ID", operation.id.to_string()),
        ("Kind", format!("{}, {}", operation.kind.as_str(), operation.reason.as_str())),
        ("State", operation.state.as_str().into()),
        ("Phase", format!("{} (step {})", operation.phase.as_str(), operation.step.as_str())),
        ("Attempt", operation.attempt.to_string()),
        ("Started", moment(operation.started_at)),
        ("Message", if operation.message.is_empty() { "-".into() } else { operation.message.clone() }),
    ]
}

fn reasons(resource: &Resource, failure: &model::Failure) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("Class", failure.class.as_str().into()),
        ("Step", failure.step.as_str().into()),
        ("Message", failure.message.clone()),
    ];
    rows.extend((!failure.hint.is_empty()).then(|| ("Hint", failure.hint.clone())));
    for (at, choice) in resource.choices().iter().enumerate() {
        rows.push((if at == 0 { "Can be done" } else { "" }, choices::command(*choice, resource)));
    }
    rows.push(("In a row", resource.failures.to_string()));
    rows.push(("Next try", next_look(resource)));
    rows
}

fn drift(resource: &Resource) -> String {
    match &resource.drift {
        None => fact("Drift", "not looked for yet"),
        Some(drift) if drift.attributes.is_empty() => {
            fact("Drift", &format!("none, as of {}", moment(drift.observed_at)))
        }
        Some(drift) => {
            let mut table = Table::new(&["ATTRIBUTE", "EXPECTED", "FOUND", "FIRST SEEN"]);
            for note in &drift.attributes {
                let (expected, found) = (note.expected.to_string(), note.found.to_string());
                table.row(vec![note.path.clone(), expected, found, moment(note.first_seen)]);
            }
            block(&format!("Drift, as of {}", moment(drift.observed_at)), &table.text())
        }
    }
}

/// A block of named values.
fn rows(title: &str, rows: &[(&str, String)]) -> String {
    let text: String = rows.iter().map(|(name, value)| fact(name, &print::clean(value))).collect();
    block(title, &text)
}

fn lines(title: &str, lines: &[String]) -> String {
    let text: String = lines.iter().map(|line| format!("{}\n", print::clean(line))).collect();
    if lines.is_empty() { fact(title, "none") } else { block(title, &text) }
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
