//! `terrane retry`, `continue`, `rollback`, `cleanup` and `import`: what a person can do about a failure. The server decides which
//! of them is possible, and says what is where it is not.

use std::time::Duration;

use clap::Args;
use model::job::JobInfo;
use model::{Choice, Operation, Resource};
use serde_json::{Value, json};

use super::address::{Address, Finder, RESOURCES, parse_address, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::time::parse_duration;
use super::wait::within;
use super::{jobs, print, prompt};

/// How often to look whether the plan is there.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

#[derive(Args)]
pub struct Chosen {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    #[command(flatten)]
    pub connection: Connection,
}

#[derive(Args)]
pub struct Rollback {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// How long to wait for the plan
    #[arg(long, default_value = "15m", value_parser = parse_duration)]
    timeout: Duration,
    #[command(flatten)]
    pub connection: Connection,
}

#[derive(Args)]
pub struct Import {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// The resource of the module that it is to be, for instance aws_s3_bucket.logs
    address: String,
    /// What its provider calls it: the id that `terraform import` takes
    id: String,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn choose(client: &ApiClient, choice: Choice, args: &Chosen) -> Result<(), Failure> {
    ask(client, &args.what, choice, None).await?;
    let what = &args.what;
    print::line(&match choice {
        Choice::Continue => format!("{what} goes on from the state that was reached"),
        Choice::Cleanup => format!("what the failed provision of {what} has left is being destroyed"),
        Choice::Retry | Choice::Rollback | Choice::Import => format!("{what} is tried again"),
    })
}

pub async fn import(client: &ApiClient, args: &Import) -> Result<(), Failure> {
    let body = json!({ "address": args.address, "id": args.id });
    ask(client, &args.what, Choice::Import, Some(&body)).await?;
    print::line(&format!("{} takes over {} as {}, and goes on", args.what, args.id, args.address))
}

async fn ask(client: &ApiClient, what: &Address, choice: Choice, body: Option<&Value>) -> Result<Resource, Failure> {
    let resource = Finder::new(client).resource(what).await?;
    let path = format!("{}/{}", path_of(RESOURCES, &resource)?, choice.as_str());
    read(&client.post(&path, &[], body).await?)
}

/// The plan that leads back is shown first. Who does not want it has changed nothing.
pub async fn rollback(client: &ApiClient, args: &Rollback) -> Result<(), Failure> {
    let what = &args.what;
    let resource: Resource = read(&Finder::new(client).resource(what).await?)?;
    let before = newest_operation(client, &resource).await?.map_or(0, |operation| operation.id.0);
    ask(client, what, Choice::Rollback, None).await?;
    print::note("Planning the way back …");
    let job = match within(Some(args.timeout), planned(client, &resource, before)).await? {
        Planned::Waits(job) => job,
        Planned::Ended(operation) => {
            return match operation.failure {
                None => print::line(&format!("{what}: {}", operation.message)),
                Some(failure) => Err(Failure::failed(format!("{what} is not rolled back: {failure}"))),
            };
        }
    };
    if let Some(plan) = job.report.as_ref().and_then(|report| report.plan.as_ref()) {
        jobs::show(plan)?;
    }
    if !args.yes {
        let answer = prompt::confirm(&format!("Apply exactly this to roll {what} back?"));
        if !matches!(answer, Ok(true)) {
            client.post(&format!("/api/v1/jobs/{}/cancel", job.id), &[], None).await?;
            answer?;
            return Err(Failure::failed("not rolled back; nothing was changed"));
        }
    }
    jobs::consent(client, &job).await?;
    print::line(&format!("{what} is being rolled back to generation {}", resource.observed_generation))
}

enum Planned {
    /// Its plan waits for consent.
    Waits(Box<JobInfo>),
    /// There was nothing to consent to, or it failed.
    Ended(Box<Operation>),
}

async fn planned(client: &ApiClient, resource: &Resource, before: i64) -> Result<Planned, Failure> {
    loop {
        let operation = newest_operation(client, resource).await?.filter(|operation| operation.id.0 > before);
        match operation {
            Some(operation) if operation.finished_at.is_some() => return Ok(Planned::Ended(Box::new(operation))),
            Some(operation) => {
                let jobs = client.list(&format!("{RESOURCES}/{}/jobs", resource.id), &[], Some(1)).await?;
                let job = jobs.first().map(read::<JobInfo>).transpose()?;
                let waits = |job: &JobInfo| job.operation_id == operation.id && job.plan_sha256.is_some();
                if let Some(job) = job.filter(waits) {
                    return Ok(Planned::Waits(Box::new(job)));
                }
            }
            None => {}
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn newest_operation(client: &ApiClient, resource: &Resource) -> Result<Option<Operation>, Failure> {
    let operations = client.list(&format!("{RESOURCES}/{}/operations", resource.id), &[], Some(1)).await?;
    operations.first().map(read).transpose()
}

/// The command that carries a choice out.
pub fn command(choice: Choice, resource: &Resource) -> String {
    let label = format!("{}/{}", resource.resource_type_name.to_ascii_lowercase(), resource.name);
    let rest = if choice == Choice::Import { " ADDRESS ID" } else { "" };
    format!("terrane {} {label}{rest}", choice.as_str())
}
