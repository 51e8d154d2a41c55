//! `terrane delete`: ask for things to go, and by default stay until they are gone.

use std::time::Duration;

use api::intake::Forgotten;
use clap::Args;
use model::{Lifecycle, Resource};
use serde_json::Value;

use super::address::{Address, Finder, RESOURCES, TYPES, Target, label, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::documents::{Document, Files, Kind, read_all};
use super::failure::{Code, Failure, Tally};
use super::meter::Meters;
use super::output::Format;
use super::time::parse_duration;
use super::wait::{Goal, reach, within};
use super::{print, prompt};

#[derive(Args)]
pub struct Delete {
    /// TYPE/NAME…, TYPE NAME…, or type NAME/VERSION…; with -l a TYPE, or nothing
    #[arg(value_name = "WHAT", required_unless_present_any = ["filename", "selector"], conflicts_with = "filename")]
    what: Vec<String>,
    /// What these files declare: a file, a folder, or - for standard input
    #[arg(short, long, value_name = "FILE|DIR|-")]
    filename: Vec<std::path::PathBuf>,
    /// Go into the folders' folders too
    #[arg(short = 'R', long, requires = "filename")]
    recursive: bool,
    /// All resources whose labels match, e.g. env=test
    #[arg(short = 'l', long, conflicts_with = "filename")]
    selector: Option<String>,
    /// Check everything and say what would happen, but change nothing
    #[arg(long)]
    dry_run: bool,
    /// Stay until everything is gone (this is the default)
    #[arg(long, overrides_with = "no_wait")]
    wait: bool,
    /// Do not stay until everything is gone
    #[arg(long, overrides_with = "wait")]
    no_wait: bool,
    /// Stay no longer than this
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Let go of the resource without destroying what it stands for; says what may remain. See below for when to use it
    #[arg(long, conflicts_with_all = ["filename", "selector", "wait", "no_wait"])]
    forget: bool,
    /// With --forget: do not ask
    #[arg(short, long, requires = "forget")]
    yes: bool,
    /// With --forget: the form of the output, json or yaml
    #[arg(short, long, value_enum, requires = "forget", hide_possible_values = true)]
    output: Option<Format>,
    /// What is not there need not be deleted
    #[arg(long)]
    ignore_not_found: bool,
    #[command(flatten)]
    pub connection: Connection,
}

/// One thing to delete.
enum Victim {
    Resource(Address),
    Found(Value),
    Type(String),
}

pub async fn run(client: &ApiClient, args: &Delete) -> Result<Option<Code>, Failure> {
    let finder = Finder::new(client);
    let mut tally = Tally::default();
    let mut going = vec![];
    for victim in victims(client, &finder, args).await? {
        // A type is in use until the last resource of it is gone.
        if matches!(victim, Victim::Type(_)) {
            tally.count(see_off(client, args, std::mem::take(&mut going)).await)?;
        }
        let outcome = delete(client, &finder, args, victim).await.map(|resource| going.extend(resource));
        tally.count(outcome)?;
    }
    tally.count(see_off(client, args, going).await)?;
    Ok(tally.worst())
}

/// Wait until these are gone, where that is wanted.
async fn see_off(client: &ApiClient, args: &Delete, going: Vec<Resource>) -> Result<(), Failure> {
    if args.no_wait || args.dry_run {
        return Ok(());
    }
    let waited = within(args.timeout, async {
        for resource in &going {
            print::note(&format!("waiting for {} to be gone…", label(resource)));
            let meter = Meters::new(false).of(label(resource));
            reach(client, &resource.resource_type_name, &resource.name, &Goal::Deleted, meter).await?;
        }
        Ok(())
    });
    waited.await
}

async fn victims(client: &ApiClient, finder: &Finder<'_>, args: &Delete) -> Result<Vec<Victim>, Failure> {
    if !args.filename.is_empty() {
        let files = Files { filename: args.filename.clone(), recursive: args.recursive };
        // Resources before the types they use.
        return Ok(read_all(&files)?.into_iter().rev().map(declared).collect());
    }
    if let Some(selector) = &args.selector {
        if selector.trim().is_empty() {
            return Err(Failure::usage("--selector is empty: that would delete everything")
                .next_step("Is a variable unset? To delete all of a type, name them: `terrane get TYPE -o name`."));
        }
        let mut query = vec![("label_selector", selector.clone())];
        match Target::parse(&args.what)? {
            Target::All => {}
            Target::Type(kind) => query.push(("resource_type_name", finder.type_name(&kind).await?)),
            Target::Named(_) => return Err(Failure::usage("--selector does not go with names")),
        }
        let found = client.list(RESOURCES, &query, None).await?;
        if found.is_empty() {
            print::note("No resources found.");
        }
        return Ok(found.into_iter().map(Victim::Found).collect());
    }
    match args.what.as_slice() {
        [kind, names @ ..] if is_type_word(kind) && !names.is_empty() => {
            Ok(names.iter().cloned().map(Victim::Type).collect())
        }
        what => match Target::parse(what)? {
            Target::Named(addresses) => Ok(addresses.into_iter().map(Victim::Resource).collect()),
            _ => Err(Failure::usage("name what to delete: TYPE/NAME, or choose by labels with -l")),
        },
    }
}

fn is_type_word(word: &str) -> bool {
    ["type", "types", "resourcetype", "resourcetypes", "resource-type", "resource-types"]
        .contains(&word.to_ascii_lowercase().as_str())
}

fn declared(document: Document) -> Victim {
    match document.kind {
        Kind::ResourceType => Victim::Type(format!("{}/{}", document.text("name"), document.text("version"))),
        Kind::Resource => Victim::Resource(Address {
            kind: document.text("resource_type_name").into(),
            name: document.text("name").into(),
        }),
    }
}

/// The resource, where it is still on its way out.
async fn delete(
    client: &ApiClient,
    finder: &Finder<'_>,
    args: &Delete,
    victim: Victim,
) -> Result<Option<Resource>, Failure> {
    let query: Vec<_> = args.dry_run.then(|| ("dry_run", "true".to_string())).into_iter().collect();
    let tried = if args.dry_run { " (dry run)" } else { "" };
    let unless_missing = |failure: Failure| {
        if args.ignore_not_found && failure.code == Code::NotFound { Ok(None) } else { Err(failure) }
    };
    let (object, collection) = match victim {
        Victim::Found(resource) => (resource, RESOURCES),
        Victim::Resource(address) => match finder.resource(&address).await {
            Ok(found) => (found, RESOURCES),
            Err(failure) => return unless_missing(failure),
        },
        Victim::Type(name) => match finder.resource_type(&name).await {
            Ok(found) => (found, TYPES),
            Err(failure) => return unless_missing(failure),
        },
    };
    if args.forget {
        return forget(client, args, &object, collection).await.map(|()| None).or_else(unless_missing);
    }
    let left = match client.delete(&path_of(collection, &object)?, &query).await {
        Ok(left) => left,
        Err(failure) => return unless_missing(failure),
    };
    if collection == TYPES {
        print::line(&format!("{} deleted{tried}", (super::layouts::TYPE.name)(&object)))?;
        return Ok(None);
    }
    let resource: Resource = read(left.as_ref().unwrap_or(&object))?;
    let is_gone = left.is_none() || resource.lifecycle == Lifecycle::Deleted;
    print::line(&format!("{} {}{tried}", label(&resource), if is_gone { "deleted" } else { "deleting" }))?;
    Ok((!is_gone).then_some(resource))
}

async fn forget(client: &ApiClient, args: &Delete, object: &Value, collection: &str) -> Result<(), Failure> {
    if collection == TYPES {
        return Err(Failure::usage("--forget is for resources; a type stands for nothing outside"));
    }
    let name = label(&read(object)?);
    let question = format!("Forget {name}? What it stands for is not destroyed, and no longer managed.");
    if !args.yes && !args.dry_run && !prompt::confirm(&question)? {
        return Err(Failure::failed(format!("{name} stays as it is")));
    }
    let mut query = vec![("forget", "true".to_string())];
    query.extend(args.dry_run.then(|| ("dry_run", "true".to_string())));
    let answer = client.delete(&path_of(collection, object)?, &query).await?;
    let may_remain = match &answer {
        Some(answer) => read::<Forgotten>(answer)?.may_remain,
        None => vec![],
    };
    match (args.output, &answer) {
        (Some(Format::Json), Some(answer)) => print::json(answer)?,
        (Some(Format::Yaml), Some(answer)) => print::yaml(answer)?,
        _ => print::line(&format!("{name} forgotten{}", if args.dry_run { " (dry run)" } else { "" }))?,
    }
    if !may_remain.is_empty() {
        print::note("What it stood for may still exist, and nobody looks after it any more:");
        may_remain.iter().for_each(|line| print::note(&format!("  {}", print::clean(line))));
    }
    Ok(())
}
