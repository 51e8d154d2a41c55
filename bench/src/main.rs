//! Terrane beside a bare server of the same stack, in one run on one machine: what the control plane costs on top of the
//! framework, the driver and the disk. Ratios travel between machines; the absolute numbers do not.
//!
//! `make bench`, or `scripts/with-postgres cargo run --release -p bench -- --quick`.
#![expect(clippy::disallowed_methods, reason = "the benchmark starts the servers that it measures")]

mod applies;
mod bare;
mod child;
mod database;
mod footprint;
mod ground;
mod http;
mod load;
mod logs;
mod probe;
mod raw;
mod reconcile;
mod requests;
mod table;
mod throughput;

use std::net::SocketAddr;
use std::process::Command;

use anyhow::Context;
use clap::{Parser, Subcommand, ValueEnum};

use database::Kind;
use table::Table;

#[derive(Parser)]
struct Cli {
    /// Shorter rounds and fewer resources: a rough look
    #[arg(long)]
    quick: bool,
    /// Only this database
    #[arg(long, value_enum)]
    only: Option<Kind>,
    /// Only this part
    #[arg(long, value_enum)]
    part: Option<Part>,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Requests, footprint, reconciliations
    Api,
    /// Terraform beside a bare loop
    Applies,
    /// Logs to many readers
    Logs,
}

#[derive(Subcommand)]
enum Role {
    /// The bare server (the benchmark starts it by itself)
    Bare {
        #[arg(long)]
        database: String,
        #[arg(long)]
        listen: SocketAddr,
        /// Connections in its pool
        #[arg(long)]
        pool: u32,
    },
}

/// How much of everything.
#[derive(Clone, Copy)]
pub struct Plan {
    pub rounds: usize,
    pub seconds: f64,
    pub connections: usize,
    pub resources: usize,
    pub starts: usize,
    pub applies: usize,
    pub log_lines: usize,
    /// Lines whose way to their readers is timed.
    pub paced_lines: usize,
}

const FULL: Plan = Plan {
    rounds: 3,
    seconds: 5.0,
    connections: 64,
    resources: 100_000,
    starts: 5,
    applies: 200,
    log_lines: 1_000_000,
    paced_lines: 2000,
};
const QUICK: Plan =
    Plan { seconds: 1.5, resources: 10_000, starts: 3, applies: 40, log_lines: 100_000, paced_lines: 500, ..FULL };

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match cli.role {
        Some(Role::Bare { database, listen, pool }) => runtime.block_on(bare::serve(&database, listen, pool)),
        None => runtime.block_on(measure(if cli.quick { QUICK } else { FULL }, cli.only, cli.part)),
    }
}

async fn measure(plan: Plan, only: Option<Kind>, part: Option<Part>) -> anyhow::Result<()> {
    let mut table = Table::default();
    let wanted = |which| part.is_none_or(|part| part == which);
    for kind in [Kind::Sqlite, Kind::Postgres] {
        if wanted(Part::Api) && only.is_none_or(|only| only == kind) {
            let loaded = throughput::measure(kind, plan, &mut table).await?;
            footprint::measure(kind, plan, loaded, &mut table).await?;
            reconcile::measure(kind, plan, &mut table).await?;
        }
    }
    if wanted(Part::Applies) {
        applies::measure(plan.applies, &mut table).await?;
    }
    if wanted(Part::Logs) {
        logs::measure(plan.log_lines, plan.paced_lines, &mut table).await?;
    }
    if !wanted(Part::Api) {
        print!("{table}");
        return Ok(());
    }
    println!(
        "{} connections, median of {} rounds of {} s in turn; resources: {}",
        plan.connections, plan.rounds, plan.seconds, plan.resources
    );
    print!("{table}");
    println!("\nvalidation, by the example `cost` of the crate model:");
    print!("{}", validation()?);
    Ok(())
}

/// What the model's own example measures. Built together with the program, so that nothing is compiled a second time for
/// other features.
fn validation() -> anyhow::Result<String> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--offline", "--quiet", "-p", "terrane", "-p", "bench", "-p", "model"])
        .args(["--example", "cost"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()
        .context("cargo cannot be run")?;
    anyhow::ensure!(built.success(), "the example cost of the crate model cannot be built");
    let example = std::env::current_exe()?.with_file_name("examples").join("cost");
    let output = Command::new(&example).output().with_context(|| example.display().to_string())?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
