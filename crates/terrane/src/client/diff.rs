//! `terrane diff`: what `apply` would change, as the server itself would decide it.

use anstyle::AnsiColor;
use clap::Args;
use similar::{ChangeTag, TextDiff};

use super::api_client::ApiClient;
use super::connection::Connection;
use super::documents::{Document, Files, read_all};
use super::failure::{Code, Failure, Tally};
use super::plan::{Applied, Outcome, Planner};
use super::print;

#[derive(Args)]
pub struct Diff {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub connection: Connection,
}

/// Exit code 1 says that there are differences, so a failure has to be any other.
pub async fn run(client: &ApiClient, args: &Diff) -> Result<Option<Code>, Failure> {
    compare(client, args).await.map_err(not_one)
}

fn not_one(failure: Failure) -> Failure {
    Failure { code: failure.code.max(Code::Usage), ..failure }
}

async fn compare(client: &ApiClient, args: &Diff) -> Result<Option<Code>, Failure> {
    let mut planner = Planner::new(client, true);
    let mut tally = Tally::default();
    let mut differs = false;
    for document in read_all(&args.files)? {
        let outcome = planner.apply(&document).await.map_err(not_one).and_then(|applied| {
            differs |= applied.outcome != Outcome::Unchanged;
            show(&document, &applied)
        });
        tally.count(outcome)?;
    }
    Ok(tally.worst().or(differs.then_some(Code::Failed)))
}

fn show(document: &Document, applied: &Applied) -> Result<(), Failure> {
    if applied.outcome == Outcome::Unchanged {
        return Ok(());
    }
    let before = applied.before.as_ref().map_or(Ok(String::new()), print::yaml_text)?;
    let after = print::yaml_text(&applied.after)?;
    let label = document.label();
    let old = if applied.before.is_some() { format!("{label} (server)") } else { "/dev/null".into() };
    print::line(&print::painted(&format!("--- {old}"), AnsiColor::Red.on_default()))?;
    print::line(&print::painted(&format!("+++ {label} ({})", document.origin), AnsiColor::Green.on_default()))?;
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        print::line(&print::painted(&hunk.header().to_string(), AnsiColor::Cyan.on_default()))?;
        for change in hunk.iter_changes() {
            let text = print::clean(change.value().trim_end_matches('\n'));
            print::line(&match change.tag() {
                ChangeTag::Equal => format!(" {text}"),
                ChangeTag::Delete => print::painted(&format!("-{text}"), AnsiColor::Red.on_default()),
                ChangeTag::Insert => print::painted(&format!("+{text}"), AnsiColor::Green.on_default()),
            })?;
        }
    }
    Ok(())
}
