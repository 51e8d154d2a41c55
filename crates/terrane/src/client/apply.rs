//! `terrane apply`: make the server match the files.

use clap::Args;

use super::api_client::ApiClient;
use super::connection::Connection;
use super::documents::{Files, read_all};
use super::failure::{Code, Failure, Tally};
use super::plan::Planner;
use super::print;

#[derive(Args)]
pub struct Apply {
    #[command(flatten)]
    pub files: Files,
    /// Check everything and say what would happen, but change nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub connection: Connection,
}

/// All documents are tried, whatever becomes of the others.
pub async fn run(client: &ApiClient, args: &Apply) -> Result<Option<Code>, Failure> {
    let mut planner = Planner::new(client, args.dry_run);
    let mut tally = Tally::default();
    for document in read_all(&args.files)? {
        let outcome = planner.apply(&document).await.and_then(|applied| {
            let tried = if args.dry_run { " (dry run)" } else { "" };
            print::line(&format!("{} {}{tried}", document.label(), applied.outcome.as_str()))
        });
        tally.count(outcome)?;
    }
    Ok(tally.worst())
}
