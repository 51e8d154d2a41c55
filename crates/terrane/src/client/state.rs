//! `terrane state`: what Terraform knows of a resource, its versions, and who holds it.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::state::StateVersion;
use model::state_lock::{Backend, StateInfo};
use serde_json::{Map, Value, json};

use super::address::{Address, Finder, RESOURCES, parse_address, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::{Format, document};
use super::table::Table;
use super::time::age;
use super::{print, prompt};

#[derive(Subcommand)]
pub enum Command {
    /// List what the state knows: addresses and ids
    #[command(after_help = "Example:\n  terrane state list databasecluster/production-pg")]
    List(Listed),
    /// Show attributes of what the state knows; sensitive ones only with --reveal
    #[command(after_help = "\
Examples:
  terrane state show databasecluster/production-pg
  terrane state show databasecluster/production-pg 'aws_subnet.private[0]' --reveal

It needs the role editor, and an event tells who has looked.")]
    Show(Show),
    /// List the versions of the state, the newest first
    #[command(after_help = "Example:\n  terrane state versions databasecluster/production-pg")]
    Versions(Listed),
    /// Print the state as Terraform wrote it, with all that is secret in it
    #[command(after_help = "\
Examples:
  terrane state pull databasecluster/production-pg >terraform.tfstate
  terrane state pull databasecluster/production-pg --at 12")]
    Pull(Pull),
    /// Bring a state: it becomes the newest version if it goes on from the one there is
    #[command(after_help = "\
Examples:
  terrane state push databasecluster/production-pg terraform.tfstate
  terraform state pull | terrane state push databasecluster/production-pg -

A state of another lineage, or with a lower serial than the newest, is refused, and nothing is overwritten; so is any
while a job or a lock holds the state.")]
    Push(Push),
    /// Bring a version back, as a new one
    #[command(after_help = "\
Examples:
  terrane state versions databasecluster/production-pg
  terrane state restore databasecluster/production-pg 12

What exists in the cloud does not change by it: what the restored version does not know of is looked after by nobody.")]
    Restore(Restore),
    /// Break a lock whose holder is gone
    #[command(after_help = "\
Example:
  terrane state unlock databasecluster/production-pg 1941b3c2-0f1c-ef3c-5cb5-0a7b4c2c3f43

As Terraform's force-unlock it needs the lock's id, which every refusal names. The lock of a job under way goes with the
job: wait for it, or stop it with `terrane cancel`.")]
    Unlock(Unlock),
    /// Print the block by which plain Terraform uses the state
    #[command(after_help = "\
Examples:
  terrane state backend databasecluster/production-pg >backend.tf
  TF_HTTP_PASSWORD=$TOKEN terraform init && TF_HTTP_PASSWORD=$TOKEN terraform plan")]
    Backend(Named),
}

#[derive(Args)]
pub struct Named {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Args)]
pub struct Listed {
    #[command(flatten)]
    named: Named,
    /// The form of the output: table, json or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
}

#[derive(Args)]
pub struct Show {
    #[command(flatten)]
    named: Named,
    /// Only this object, as `terrane state list` prints its address
    address: Option<String>,
    /// Show what is sensitive too
    #[arg(long)]
    reveal: bool,
    /// The form of the output: yaml or json
    #[arg(short, long, value_enum, default_value_t = Format::Yaml, hide_possible_values = true)]
    output: Format,
}

#[derive(Args)]
pub struct Pull {
    #[command(flatten)]
    named: Named,
    /// This version rather than the newest
    #[arg(long, value_name = "VERSION")]
    at: Option<i64>,
}

#[derive(Args)]
pub struct Push {
    #[command(flatten)]
    named: Named,
    /// The state, as Terraform wrote it; - for standard input
    file: PathBuf,
}

#[derive(Args)]
pub struct Restore {
    #[command(flatten)]
    named: Named,
    /// The version, as `terrane state versions` lists it
    #[arg(value_name = "VERSION")]
    from: i64,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Args)]
pub struct Unlock {
    #[command(flatten)]
    named: Named,
    /// The lock's id
    lock_id: String,
}

impl Command {
    pub fn connection(&self) -> &Connection {
        match self {
            Command::List(args) | Command::Versions(args) => &args.named.connection,
            Command::Show(args) => &args.named.connection,
            Command::Pull(args) => &args.named.connection,
            Command::Push(args) => &args.named.connection,
            Command::Restore(args) => &args.named.connection,
            Command::Unlock(args) => &args.named.connection,
            Command::Backend(named) => &named.connection,
        }
    }
}

pub async fn run(client: &ApiClient, command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(args) => list(client, args).await,
        Command::Show(args) => show(client, args).await,
        Command::Versions(args) => versions(client, args).await,
        Command::Pull(args) => print::raw(&pulled(client, &args.named, args.at).await?),
        Command::Push(args) => push(client, args).await,
        Command::Restore(args) => restore(client, args).await,
        Command::Unlock(args) => {
            let path = format!("{}/lock", path(client, &args.named).await?);
            client.delete(&path, &[("id", args.lock_id.clone())]).await?;
            print::line(&format!("the state of {} is unlocked", args.named.what))
        }
        Command::Backend(named) => {
            let info: StateInfo = client.get(&path(client, named).await?, &[]).await?;
            print::raw(&block(&info.backend, client.server()))
        }
    }
}

async fn path(client: &ApiClient, named: &Named) -> Result<String, Failure> {
    let resource = Finder::new(client).resource(&named.what).await?;
    Ok(format!("{}/state", path_of(RESOURCES, &resource)?))
}

async fn list(client: &ApiClient, args: &Listed) -> Result<(), Failure> {
    let info: StateInfo = client.get(&path(client, &args.named).await?, &[]).await?;
    if let Some(hold) = &info.held_by {
        print::note(&format!("Held: {hold}."));
    }
    match args.output {
        Format::Json => print::json(&info.objects),
        Format::Yaml => print::yaml(&info.objects),
        _ if info.objects.is_empty() => {
            print::note(&format!("The state of {} knows nothing.", args.named.what));
            Ok(())
        }
        _ => {
            let mut table = Table::new(&["ADDRESS", "ID", "NOTE"]);
            for object in info.objects {
                let note = match (&object.deposed, object.tainted, object.is_data) {
                    (Some(_), _, _) => "replaced, to be deleted",
                    (_, true, _) => "tainted",
                    (_, _, true) => "only read",
                    _ => "",
                };
                table.row(vec![object.address, object.id.unwrap_or_default(), note.into()]);
            }
            table.print()
        }
    }
}

async fn versions(client: &ApiClient, args: &Listed) -> Result<(), Failure> {
    let found = client.list(&format!("{}/versions", path(client, &args.named).await?), &[], None).await?;
    match args.output {
        Format::Json => print::json(&found),
        Format::Yaml => found.iter().try_for_each(document),
        _ if found.is_empty() => {
            print::note(&format!("{} has no state yet.", args.named.what));
            Ok(())
        }
        _ => {
            let mut table = Table::new(&["VERSION", "SERIAL", "OBJECTS", "BY", "AGE", "SHA256"]);
            for version in found.iter().map(read::<StateVersion>) {
                let version = version?;
                let job = version.job_id.map(|job| format!("job {job}"));
                table.row(vec![
                    version.id.to_string(),
                    version.serial.to_string(),
                    version.objects.to_string(),
                    job.or(version.author).unwrap_or_default(),
                    age(version.created_at),
                    version.sha256.chars().take(12).collect(),
                ]);
            }
            table.print()
        }
    }
}

async fn pulled(client: &ApiClient, named: &Named, version: Option<i64>) -> Result<String, Failure> {
    let path = path(client, named).await?;
    let version = match version {
        Some(version) => version,
        None => {
            let info: StateInfo = client.get(&path, &[]).await?;
            let newest = info.newest.map(|newest| newest.id);
            newest.ok_or_else(|| Failure::not_found(format!("{} has no state yet", named.what)))?
        }
    };
    client.get_text(&format!("{path}/versions/{version}")).await
}

async fn show(client: &ApiClient, args: &Show) -> Result<(), Failure> {
    let text = pulled(client, &args.named, None).await?;
    let state: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::failed(format!("the server's answer is not understood: {error}")))?;
    let known = attributes(&state, args.reveal);
    let shown = match &args.address {
        None => Value::Object(known),
        Some(address) => known.get(address).cloned().ok_or_else(|| {
            Failure::not_found(format!("the state of {} knows no {address}", args.named.what))
                .next_step("`terrane state list` shows the addresses.")
        })?,
    };
    if args.output == Format::Json { print::json(&shown) } else { print::yaml(&shown) }
}

/// The attributes of each object, by address.
fn attributes(state: &Value, reveal: bool) -> Map<String, Value> {
    let list = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let mut known = Map::new();
    for resource in list(state, "resources") {
        for instance in list(&resource, "instances") {
            // One object at a time through the reader that knows how addresses are written.
            let mut alone = resource.clone();
            alone["instances"] = json!([instance]);
            let alone = json!({ "version": 4, "resources": [alone] }).to_string();
            let Ok(read) = model::state::State::read(&alone) else { continue };
            let Some(object) = read.objects.into_iter().next() else { continue };
            let deposed = object.deposed.map(|key| format!(" (deposed {key})")).unwrap_or_default();
            known.insert(format!("{}{deposed}", object.address), visible(&instance, reveal));
        }
    }
    known
}

/// What the provider calls sensitive is masked, by the attribute that it is in.
fn visible(instance: &Value, reveal: bool) -> Value {
    let mut shown = instance["attributes"].clone();
    let sensitive = instance["sensitive_attributes"].as_array().cloned().unwrap_or_default();
    if let (Some(shown), false) = (shown.as_object_mut(), reveal) {
        for path in &sensitive {
            let name = path[0]["value"].as_str().unwrap_or_default();
            if let Some(value) = shown.get_mut(name) {
                *value = json!("(sensitive)");
            }
        }
    }
    shown
}

async fn push(client: &ApiClient, args: &Push) -> Result<(), Failure> {
    let unread = |error: std::io::Error| Failure::usage(format!("{}: {error}", args.file.display()));
    let text = if args.file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(unread)?;
        text
    } else {
        fs::read_to_string(&args.file).map_err(unread)?
    };
    let answer = client.post_text(&format!("{}/versions", path(client, &args.named).await?), &text).await?;
    let version: StateVersion = read(&answer)?;
    let StateVersion { id, serial, objects, .. } = version;
    print::line(&format!("the state of {} is version {id}: serial {serial}, {objects} objects", args.named.what))
}

async fn restore(client: &ApiClient, args: &Restore) -> Result<(), Failure> {
    let path = path(client, &args.named).await?;
    let question = format!("Bring version {} of the state of {} back, as a new one?", args.from, args.named.what);
    if !args.yes && !prompt::confirm(&question)? {
        return Err(Failure::failed("not restored; nothing was changed"));
    }
    let answer = client.post(&format!("{path}/versions/{}/restore", args.from), &[], None).await?;
    let StateVersion { id, serial, objects, .. } = read(&answer)?;
    let what = &args.named.what;
    print::line(&format!(
        "the state of {what} is version {id}: what version {} was, with serial {serial} and {objects} objects",
        args.from
    ))
}

/// As it is pasted into a root module.
fn block(backend: &Backend, server: &str) -> String {
    match backend {
        Backend::Http { path, tenant } => {
            let address = format!("{server}{path}");
            format!(
                "# The password is a token of the role editor: TF_HTTP_PASSWORD.\n\
                 terraform {{\n  backend \"http\" {{\n    address        = {address:?}\n    lock_address   = {address:?}\n    \
                 unlock_address = {address:?}\n    username       = {tenant:?}\n  }}\n}}\n"
            )
        }
    }
}
