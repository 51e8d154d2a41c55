//! `terrane get`: what there is, and with `--watch` what becomes of it.

use std::collections::HashMap;

use clap::Args;
use serde_json::Value;

use super::address::{Finder, RESOURCES, TYPES, Target};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::{Code, Failure, Tally};
use super::layouts;
use super::output::{Format, Layout, document};
use super::print;
use super::watch::{Change, ChangeKind, Watch};

#[derive(Args)]
pub struct Get {
    /// TYPE, TYPE/NAME…, TYPE NAME…, types, secrets, tenants or tokens; all resources where absent
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
    /// Only those whose labels match, e.g. env=prod,tier!=cache
    #[arg(short = 'l', long)]
    selector: Option<String>,
    /// Only those of this status
    #[arg(long, value_parser = ["pending", "reconciling", "ready", "failed"])]
    status: Option<String>,
    /// Only those that this action plugin acts on
    #[arg(long)]
    plugin: Option<String>,
    /// The form of the output
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// At most so many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Go on showing changes, until interrupted
    #[arg(short, long, conflicts_with = "limit")]
    watch: bool,
    #[command(flatten)]
    pub connection: Connection,
}

impl Get {
    fn is_filtered(&self) -> bool {
        self.selector.is_some() || self.status.is_some() || self.plugin.is_some()
    }

    fn filters(&self, kind: Option<String>, name: Option<String>) -> Vec<(&'static str, String)> {
        let given = [
            ("resource_type_name", kind),
            ("name", name),
            ("label_selector", self.selector.clone()),
            ("status", self.status.clone()),
            ("action_plugin", self.plugin.clone()),
        ];
        given.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
    }

    fn most(&self) -> Option<usize> {
        self.limit.map(|limit| limit as usize)
    }
}

pub async fn run(client: &ApiClient, args: &Get) -> Result<Option<Code>, Failure> {
    let finder = Finder::new(client);
    if let [what] = args.what.as_slice()
        && let Some((layout, path)) = collection(what)
    {
        if args.is_filtered() || (args.watch && path != TYPES) {
            return Err(Failure::usage(format!("{what} are neither filtered nor watched; only resources are")));
        }
        if args.watch {
            return watch(client, args, layout, path, &[]).await.map(|()| None);
        }
        return layout.show(args.output, &client.list(path, &[], args.most()).await?).map(|()| None);
    }
    match Target::parse(&args.what)? {
        Target::All => several(client, args, None).await,
        Target::Type(kind) => several(client, args, Some(finder.type_name(&kind).await?)).await,
        Target::Named(_) if args.is_filtered() => {
            Err(Failure::usage("--selector, --status and --plugin do not go with names"))
        }
        Target::Named(addresses) if args.watch => match addresses.as_slice() {
            [address] => {
                let found = finder.resource(address).await?;
                let kind = super::output::text_of(&found, "resource_type_name");
                let filters = args.filters(Some(kind), Some(address.name.clone()));
                watch(client, args, layouts::RESOURCE, RESOURCES, &filters).await.map(|()| None)
            }
            _ => Err(Failure::usage("--watch goes with one name, or with a type")),
        },
        Target::Named(addresses) => {
            let mut tally = Tally::default();
            let mut found = vec![];
            for address in &addresses {
                let outcome = finder.resource(address).await.map(|resource| found.push(resource));
                tally.count(outcome)?;
            }
            match (found.as_slice(), addresses.len()) {
                ([], _) => {}
                ([one], 1) => layouts::RESOURCE.show_one(args.output, one)?,
                _ => layouts::RESOURCE.show(args.output, &found)?,
            }
            Ok(tally.worst())
        }
    }
}

fn collection(what: &str) -> Option<(Layout, &'static str)> {
    match what.to_ascii_lowercase().as_str() {
        "types" | "type" | "resourcetypes" | "resourcetype" | "resource-types" => Some((layouts::TYPE, TYPES)),
        "tenants" | "tenant" => Some((layouts::TENANT, "/api/v1/tenants")),
        "tokens" | "token" => Some((layouts::TOKEN, "/api/v1/tokens")),
        "secrets" | "secret" => Some((layouts::SECRET, "/api/v1/secrets")),
        _ => None,
    }
}

async fn several(client: &ApiClient, args: &Get, kind: Option<String>) -> Result<Option<Code>, Failure> {
    let filters = args.filters(kind, None);
    if args.watch {
        return watch(client, args, layouts::RESOURCE, RESOURCES, &filters).await.map(|()| None);
    }
    layouts::RESOURCE.show(args.output, &client.list(RESOURCES, &filters, args.most()).await?)?;
    Ok(None)
}

/// First what there is, then each change as it comes. Every version of an object is shown once, also where the stream
/// had to begin anew.
async fn watch(
    client: &ApiClient,
    args: &Get,
    layout: Layout,
    path: &str,
    filters: &[(&'static str, String)],
) -> Result<(), Failure> {
    let mut watch = Watch::begin(client, path, filters, None).await?;
    let mut shown: HashMap<i64, i64> = HashMap::new();
    let mut table = layout.table(args.output);
    let mut is_begun = false;
    loop {
        let Change { kind, object, .. } = watch.next().await?;
        if kind == ChangeKind::Bookmark {
            if args.output.is_table() && !is_begun {
                table.print()?;
            }
            is_begun = true;
            continue;
        }
        let Some(mut object) = object else { continue };
        let number = |field| object.get(field).and_then(Value::as_i64).unwrap_or(0);
        let (id, version) = (number("id"), number("resource_version"));
        if kind == ChangeKind::Deleted {
            shown.remove(&id);
        } else if shown.insert(id, version).is_some_and(|known| known >= version) {
            continue;
        }
        match args.output {
            Format::Table | Format::Wide => {
                let mut cells = layout.row(args.output, &object)?;
                if let (ChangeKind::Deleted, Some(status)) = (kind, cells.get_mut(2)) {
                    *status = "deleted".into();
                }
                table.row(cells);
                if is_begun {
                    table.flush()?;
                }
            }
            Format::Json | Format::Yaml => {
                mark(&mut object, kind);
                match args.output {
                    Format::Json => print::line(&object.to_string())?,
                    _ => document(&object)?,
                }
            }
            Format::Name => print::line(&(layout.name)(&object))?,
        }
    }
}

/// A reader of JSON lines has to see that an object is gone.
fn mark(object: &mut Value, kind: ChangeKind) {
    if let (ChangeKind::Deleted, Some(fields)) = (kind, object.as_object_mut()) {
        fields.insert("lifecycle".into(), "deleted".into());
    }
}
