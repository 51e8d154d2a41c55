//! `terrane apply`: make the server match the files.

use std::time::Duration;

use clap::Args;
use futures::future::join_all;

use super::api_client::ApiClient;
use super::connection::Connection;
use super::documents::{Files, Kind, read_all};
use super::failure::{Code, Failure, Tally};
use super::meter::Meters;
use super::plan::Planner;
use super::print;
use super::time::parse_duration;
use super::wait::{Goal, reach, within};

#[derive(Args)]
pub struct Apply {
    #[command(flatten)]
    pub files: Files,
    /// Check everything and say what would happen, but change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Stay until all resources are ready
    #[arg(long, conflicts_with = "dry_run")]
    pub wait: bool,
    /// Give up waiting after this long
    #[arg(long, value_name = "SPAN", default_value = "10m", requires = "wait", value_parser = parse_duration)]
    pub timeout: Duration,
    /// With --wait, say nothing on the way
    #[arg(short, long, requires = "wait")]
    pub quiet: bool,
    #[command(flatten)]
    pub connection: Connection,
}

/// All documents are tried, whatever becomes of the others.
pub async fn run(client: &ApiClient, args: &Apply) -> Result<Option<Code>, Failure> {
    let mut planner = Planner::new(client, args.dry_run);
    let mut tally = Tally::default();
    let mut made = vec![];
    for document in read_all(&args.files)? {
        let outcome = planner.apply(&document).await.and_then(|applied| {
            let tried = if args.dry_run { " (dry run)" } else { "" };
            print::line(&format!("{} {}{tried}", document.label(), applied.outcome.as_str()))
        });
        let is_made = outcome.is_ok() && document.kind == Kind::Resource;
        tally.count(outcome)?;
        made.extend(is_made.then_some(document));
    }
    if args.wait {
        let meters = &Meters::new(args.quiet);
        let ready = join_all(made.iter().map(|document| async move {
            let (kind, name) = (document.text("resource_type_name"), document.text("name"));
            within(Some(args.timeout), reach(client, kind, name, &Goal::Ready, meters.of(document.label()))).await?;
            print::line(&format!("{} ready", document.label()))
        }));
        ready.await.into_iter().try_for_each(|outcome| tally.count(outcome))?;
    }
    Ok(tally.worst())
}
