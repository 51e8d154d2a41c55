//! `terrane logs`, `jobs`, `plan` and `cancel`: what runners do for a resource, and what they print.

use std::time::Duration;

use clap::Args;
use model::PlanSummary;
use model::job::{JobEnd, JobInfo, JobState};
use serde_json::Value;

use super::address::{Address, Finder, RESOURCES, parse_address, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::{Code, Failure};
use super::meter::{Meter, Meters};
use super::output::{Format, document};
use super::print;
use super::prompt;
use super::rest::Rest;
use super::table::Table;
use super::time::age;

/// How often a job is looked at.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Args)]
pub struct Logs {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// Stay, and print what is added until the job is over
    #[arg(short, long)]
    follow: bool,
    /// The log alone, without how far the job is
    #[arg(short, long)]
    quiet: bool,
    /// This job rather than the newest
    #[arg(long, value_name = "ID")]
    job: Option<i64>,
    #[command(flatten)]
    pub connection: Connection,
}

#[derive(Args)]
pub struct Jobs {
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

#[derive(Args)]
pub struct Plan {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// The form of the output: table, json or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

#[derive(Args)]
pub struct Cancel {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// Kill it at once: what it was making may exist without being in the state
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    pub connection: Connection,
}

#[derive(Args)]
pub struct Approve {
    /// TYPE/NAME
    #[arg(value_parser = parse_address)]
    what: Address,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    pub connection: Connection,
}

async fn listed(client: &ApiClient, what: &Address, limit: Option<usize>) -> Result<Vec<Value>, Failure> {
    let resource = Finder::new(client).resource(what).await?;
    client.list(&format!("{}/jobs", path_of(RESOURCES, &resource)?), &[], limit).await
}

async fn jobs_of(client: &ApiClient, what: &Address, limit: Option<usize>) -> Result<Vec<JobInfo>, Failure> {
    listed(client, what, limit).await?.iter().map(read).collect()
}

async fn newest(client: &ApiClient, what: &Address) -> Result<JobInfo, Failure> {
    let jobs = jobs_of(client, what, Some(1)).await?;
    jobs.into_iter().next().ok_or_else(|| {
        Failure::not_found(format!("{what} has had no jobs yet"))
            .next_step("Only plugins that use a runner, such as terraform, have jobs.")
    })
}

pub async fn logs(client: &ApiClient, args: &Logs) -> Result<(), Failure> {
    let job = match args.job {
        Some(id) => client.get(&format!("/api/v1/jobs/{id}"), &[]).await?,
        None => newest(client, &args.what).await?,
    };
    let (meters, path) = (Meters::new(args.quiet), format!("/api/v1/jobs/{}", job.id));
    let mut meter = meters.of(args.what.to_string());
    if !args.follow {
        client.copy_log(job.id.0, 0, false, &meter).await?;
        return Ok(());
    }
    // What is printed is line enough where nothing is drawn.
    let watching = async {
        while meter.is_drawn() {
            tokio::time::sleep(LOOK).await;
            if let Ok(job) = client.get(&path, &[]).await {
                meter.show(&job);
            }
        }
        std::future::pending().await
    };
    let beside = meters.of("");
    tokio::select! {
        followed = follow(client, &path, job.id.0, &beside) => followed,
        never = watching => never,
    }
}

/// Whatever ends the stream: as long as the job is not over, or not all of it was printed, it goes on.
async fn follow(client: &ApiClient, path: &str, job: i64, meter: &Meter) -> Result<(), Failure> {
    let mut from = client.copy_log(job, 0, true, meter).await?;
    let mut rest = Rest::default();
    loop {
        let now: Result<JobInfo, _> = client.get(path, &[]).await;
        let copied = match now {
            Ok(now) if now.state.is_over() && i64::try_from(from).is_ok_and(|from| from >= now.log_bytes) => {
                return Ok(());
            }
            Ok(_) => client.copy_log(job, from, true, meter).await,
            Err(failure) => Err(failure),
        };
        match copied {
            Ok(copied) => {
                from += copied;
                rest.is_over();
                rest.a_while().await;
            }
            Err(failure) => rest.after(failure).await?,
        }
    }
}

pub async fn jobs(client: &ApiClient, args: &Jobs) -> Result<(), Failure> {
    let found = listed(client, &args.what, args.limit.map(|limit| limit as usize)).await?;
    match args.output {
        Format::Json => print::json(&found),
        Format::Yaml => found.iter().try_for_each(document),
        _ if found.is_empty() => {
            print::note(&format!("{} has had no jobs yet.", args.what));
            Ok(())
        }
        _ => {
            let mut table = Table::new(&["ID", "OPERATION", "GOAL", "STATE", "RUNNER", "AGE", "END"]);
            for job in found.iter().map(read::<JobInfo>) {
                let job = job?;
                table.row(vec![
                    job.id.to_string(),
                    job.operation_id.to_string(),
                    job.goal.as_str().into(),
                    job.state.as_str().into(),
                    job.runner.clone().unwrap_or_default(),
                    age(job.created_at),
                    job.report.as_ref().map(|report| ended(&report.end)).unwrap_or_default(),
                ]);
            }
            table.print()
        }
    }
}

fn ended(end: &JobEnd) -> String {
    match end {
        JobEnd::Succeeded => "succeeded".into(),
        JobEnd::AwaitsApproval => "awaits approval".into(),
        JobEnd::Cancelled => "cancelled".into(),
        JobEnd::Failed { failure } => format!("failed: {}", failure.message),
    }
}

/// What the newest plan would change, or has.
pub async fn plan(client: &ApiClient, args: &Plan) -> Result<(), Failure> {
    let jobs = jobs_of(client, &args.what, Some(20)).await?;
    let planned = jobs.into_iter().find_map(|job| job.report.and_then(|report| report.plan));
    let plan = planned.ok_or_else(|| Failure::not_found(format!("{} has had no plan yet", args.what)))?;
    match args.output {
        Format::Json => print::json(&plan),
        Format::Yaml => print::yaml(&plan),
        _ => show(&plan),
    }
}

pub fn show(plan: &PlanSummary) -> Result<(), Failure> {
    for change in &plan.changes {
        print::line(&format!("{:<8} {}", change.action.as_str(), change.address))?;
        for attribute in &change.attributes {
            let after = match (attribute.sensitive, attribute.unknown) {
                (true, _) => "(sensitive)".into(),
                (_, true) => "(known after apply)".into(),
                _ => attribute.after.to_string(),
            };
            let before = if attribute.sensitive { "(sensitive)".into() } else { attribute.before.to_string() };
            let forces = if attribute.forces_replacement { "  # forces replacement" } else { "" };
            print::line(&format!("           {}: {before} → {after}{forces}", attribute.path))?;
        }
    }
    if plan.unlisted > 0 {
        print::line(&format!("and {} more", plan.unlisted))?;
    }
    print::line(&plan.to_string())
}

pub async fn approve(client: &ApiClient, args: &Approve) -> Result<(), Failure> {
    let job = newest(client, &args.what).await?;
    if job.plan_sha256.is_none() || job.approved_by.is_some() || job.state != JobState::Finished {
        return Err(Failure::new(Code::Conflict, format!("{} has no plan that waits for approval", args.what)));
    }
    if let Some(plan) = job.report.as_ref().and_then(|report| report.plan.as_ref()) {
        show(plan)?;
    }
    if !args.yes && !prompt::confirm(&format!("Apply exactly this to {}?", args.what))? {
        return Err(Failure::failed("not approved; nothing was changed"));
    }
    consent(client, &job).await?;
    print::line(&format!("the plan of job {} is approved and is going to be applied", job.id))
}

/// Consent to the very plan that was shown.
pub async fn consent(client: &ApiClient, job: &JobInfo) -> Result<(), Failure> {
    let query = [("plan_sha256", job.plan_sha256.clone().unwrap_or_default())];
    client.post(&format!("/api/v1/jobs/{}/approve", job.id), &query, None).await.map(|_| ())
}

pub async fn cancel(client: &ApiClient, args: &Cancel) -> Result<(), Failure> {
    let job = newest(client, &args.what).await?;
    let planned = job.state == JobState::Finished && job.plan_sha256.is_some() && job.approved_by.is_none();
    if job.state.is_over() && !planned {
        return Err(Failure::new(Code::Conflict, format!("{}: its last job, {}, is over already", args.what, job.id)));
    }
    let query = [("force", args.force.to_string())];
    let answer = client.post(&format!("/api/v1/jobs/{}/cancel", job.id), &query, None).await?;
    let stopped: JobInfo = read(&answer)?;
    print::line(&match (stopped.state, args.force) {
        (JobState::Cancelled, _) if planned => format!("the plan of job {} is refused; nothing was changed", job.id),
        (JobState::Cancelled, _) => format!("job {} is cancelled; it had not begun, and nothing was changed", job.id),
        (_, true) => format!("job {} is being killed; what it was making may exist without being in the state", job.id),
        (_, false) => format!(
            "job {} is being interrupted: Terraform ends what it has begun, and what was made stays in the state",
            job.id
        ),
    })
}
