//! Failures on request.

use std::{error::Error, io::Write, path::PathBuf};

use clap::{Args, ValueEnum};

use crate::world::{Action, Fault, World};

#[derive(Args)]
pub struct FaultArgs {
    /// The folder of the simulated cloud; made if need be.
    world: PathBuf,
    /// What goes wrong; each cloud has its own words for it.
    kind: Option<Kind>,
    /// Remove all faults first.
    #[arg(long)]
    clear: bool,
    /// Only requests about this type, as in aws_eks_cluster, or data.aws_vpcs.
    #[arg(long)]
    r#type: Option<String>,
    /// Only requests of this kind. Reads fail only if they are asked to.
    #[arg(long)]
    action: Option<Action>,
    /// Only requests for this region.
    #[arg(long)]
    region: Option<String>,
    /// Only requests to this provider, as in aws.
    #[arg(long)]
    provider: Option<String>,
    /// Only requests of this account.
    #[arg(long)]
    account: Option<String>,
    /// How often it strikes before it is over; always, if not set.
    #[arg(long)]
    times: Option<u64>,
    /// How many of a hundred requests it strikes; all, if not set.
    #[arg(long, value_parser = percent)]
    percent: Option<f64>,
    /// Only the create of one more than so many: a quota.
    #[arg(long)]
    beyond: Option<u64>,
    /// Make the object all the same: it exists, and its create has failed.
    #[arg(long)]
    partial: bool,
    /// Say this instead of what the cloud would say.
    #[arg(long)]
    message: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Kind {
    Quota,
    Throttling,
    Capacity,
    Permission,
    Credentials,
    Outage,
    Network,
    Timeout,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 100".to_owned())
}

pub fn run(args: FaultArgs, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let world = World::at(args.world);
    world.prepare()?;
    let world = world.lock()?;
    let mut faults = if args.clear { Vec::new() } else { world.faults()? };
    let Some(kind) = args.kind else {
        for fault in &faults {
            writeln!(out, "{}", serde_json::to_string(fault)?)?;
        }
        if args.clear {
            world.set_faults(&faults)?;
        }
        return Ok(());
    };
    faults.push(Fault {
        kind: kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default(),
        message: args.message,
        provider: args.provider,
        r#type: args.r#type,
        action: args.action,
        region: args.region,
        account: args.account,
        beyond: args.beyond,
        times: args.times,
        percent: args.percent,
        partial: args.partial,
        struck: 0,
    });
    Ok(world.set_faults(&faults)?)
}
