//! `terrane wait`: until resources are as asked, by listening rather than by asking again and again.

use std::future::Future;
use std::time::Duration;

use clap::Args;
use futures::future::try_join_all;
use model::job::JobInfo;
use model::{ConditionStatus, Lifecycle, Resource, Status};
use serde_json::Value;

use super::address::{Address, Finder, RESOURCES, label, parse_address, path_of, read};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::{Code, Failure};
use super::meter::{Meter, Meters};
use super::time::parse_duration;
use super::watch::{Change, ChangeKind, Watch};
use super::{choices, print};

/// How often a job is looked at.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Args)]
pub struct Wait {
    /// TYPE/NAME, one or several
    #[arg(required = true, value_parser = parse_address)]
    what: Vec<Address>,
    /// ready, delete, status=STATUS, condition=TYPE or condition=TYPE=True|False|Unknown
    #[arg(long = "for", value_name = "STATE", default_value = "ready", value_parser = Goal::parse)]
    goal: Goal,
    /// Give up after this long
    #[arg(long, value_name = "SPAN", default_value = "10m", value_parser = parse_duration)]
    timeout: Duration,
    /// Say nothing on the way
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    pub connection: Connection,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    Ready,
    Deleted,
    Status(Status),
    Condition(String, ConditionStatus),
}

impl Goal {
    fn parse(text: &str) -> Result<Goal, String> {
        let wrong = || format!("{text:?} is not ready, delete, status=STATUS, condition=TYPE or condition=TYPE=False");
        match text.split_once('=') {
            None if text == "ready" => Ok(Goal::Ready),
            None if text == "deleted" || text == "delete" => Ok(Goal::Deleted),
            Some(("status", status)) => serde_json::from_value(Value::from(status))
                .map(Goal::Status)
                .map_err(|_| format!("{status:?} is not pending, reconciling, ready or failed")),
            Some(("condition", condition)) => {
                let (kind, status) = condition.split_once('=').unwrap_or((condition, "True"));
                let status = [ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown]
                    .into_iter()
                    .find(|known| format!("{known:?}").eq_ignore_ascii_case(status));
                let status = status.filter(|_| !kind.is_empty()).ok_or_else(wrong)?;
                Ok(Goal::Condition(kind.into(), status))
            }
            _ => Err(wrong()),
        }
    }

    /// Ready means that what is wanted now is done, not what was wanted before.
    fn is_reached(&self, resource: &Resource) -> bool {
        let up_to_date = resource.observed_generation >= resource.generation;
        match self {
            Goal::Ready => resource.status == Status::Ready && up_to_date,
            Goal::Deleted => false,
            Goal::Status(status) => resource.status == *status,
            Goal::Condition(kind, status) => {
                resource
                    .conditions
                    .iter()
                    .any(|condition| condition.kind.eq_ignore_ascii_case(kind) && condition.status == *status)
                    && (up_to_date || !self.needs_success())
            }
        }
    }

    /// Whether only a reconciliation that goes well leads there.
    fn needs_success(&self) -> bool {
        match self {
            Goal::Ready | Goal::Status(Status::Ready) => true,
            Goal::Condition(kind, status) => kind.eq_ignore_ascii_case("Ready") && *status == ConditionStatus::True,
            Goal::Deleted | Goal::Status(_) => false,
        }
    }

    fn as_str(&self) -> String {
        match self {
            Goal::Ready => "ready".into(),
            Goal::Deleted => "deleted".into(),
            Goal::Status(status) => format!("status={}", status.as_str()),
            Goal::Condition(kind, ConditionStatus::True) => format!("condition={kind}"),
            Goal::Condition(kind, status) => format!("condition={kind}={status:?}"),
        }
    }
}

pub async fn run(client: &ApiClient, args: &Wait) -> Result<(), Failure> {
    let finder = Finder::new(client);
    let (finder, meters) = (&finder, &Meters::new(args.quiet));
    let each = args.what.iter().map(|address| async move {
        let kind = finder.type_name(&address.kind).await?;
        reach(client, &kind, &address.name, &args.goal, meters.of(address.to_string())).await?;
        print::line(&format!("{address} {}", args.goal.as_str()))
    });
    within(Some(args.timeout), try_join_all(each)).await?;
    Ok(())
}

/// Give up when the time is over.
pub async fn within<T>(
    longest: Option<Duration>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(longest) = longest else { return work.await };
    tokio::time::timeout(longest, work).await.unwrap_or_else(|_| {
        Err(Failure::new(Code::TimedOut, format!("not within {}s", longest.as_secs()))
            .next_step("It may still come: `terrane describe TYPE/NAME` tells how it stands; --timeout waits longer."))
    })
}

/// Listen until one resource is as wanted; meanwhile show what its job does.
pub async fn reach(client: &ApiClient, kind: &str, name: &str, goal: &Goal, mut meter: Meter) -> Result<(), Failure> {
    let filters = [("resource_type_name", kind.to_string()), ("name", name.to_string())];
    let mut watch = Watch::begin(client, RESOURCES, &filters, None).await?;
    let mut exists = false;
    let mut jobs = None;
    let mut look = tokio::time::interval(LOOK);
    loop {
        let Change { kind: change, object, .. } = tokio::select! {
            change = watch.next() => change?,
            _ = look.tick(), if jobs.is_some() => {
                if let Some(job) = newest(client, jobs.as_deref()).await {
                    meter.show(&job);
                }
                continue;
            }
        };
        match (change, object) {
            (ChangeKind::Bookmark, _) if !exists => return gone(goal, kind, name, "there is no"),
            (ChangeKind::Deleted, _) => return gone(goal, kind, name, "while waiting, somebody deleted"),
            (ChangeKind::Added | ChangeKind::Modified, Some(object)) => {
                exists = true;
                let resource: Resource = read(&object)?;
                if goal.is_reached(&resource) {
                    return Ok(());
                }
                if goal.needs_success() && is_stalled(&resource) {
                    return Err(stalled(&resource));
                }
                let now =
                    format!("{}: {} ({})", label(&resource), resource.lifecycle.as_str(), resource.status_message);
                meter.note(&now);
                jobs = path_of(RESOURCES, &object).ok().map(|path| format!("{path}/jobs"));
            }
            _ => {}
        }
    }
}

/// What a runner does for it now. That nobody can say is no reason to stop waiting.
async fn newest(client: &ApiClient, jobs: Option<&str>) -> Option<JobInfo> {
    let jobs: Vec<JobInfo> = client.get(jobs?, &[("limit", "1".into())]).await.ok()?;
    jobs.into_iter().next()
}

fn gone(goal: &Goal, kind: &str, name: &str, what: &str) -> Result<(), Failure> {
    if *goal == Goal::Deleted {
        return Ok(());
    }
    Err(Failure::not_found(format!("{what} {}/{name}", kind.to_ascii_lowercase())))
}

/// Whether it has failed and only a change or a person brings about another try.
pub fn is_stalled(resource: &Resource) -> bool {
    resource.lifecycle == Lifecycle::Failed && resource.next_reconcile_at.is_none()
}

fn stalled(resource: &Resource) -> Failure {
    let label = label(resource);
    let what = match &resource.failure {
        Some(failure) => format!("{} ({}, during {})", failure.message, failure.class.as_str(), failure.step.as_str()),
        None => resource.status_message.clone(),
    };
    let hint = resource.failure.as_ref().map(|failure| failure.hint.clone()).filter(|hint| !hint.is_empty());
    let commands: Vec<_> =
        resource.choices().iter().map(|choice| format!("`{}`", choices::command(*choice, resource))).collect();
    let next = match commands.len() {
        0 | 1 => format!("mend it, then `terrane reconcile {label}`"),
        _ => format!("mend it, or choose: {}", commands.join(", ")),
    };
    let failure = Failure::failed(format!("{label} failed: {what}")).next_step(format!(
        "It is not tried again until something changes: {next}. `terrane describe {label}` tells more."
    ));
    Failure { details: hint.into_iter().collect(), ..failure }
}
