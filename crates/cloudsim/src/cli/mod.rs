//! The commands for people and tests: install the providers for offline use, look into a world or meddle with it, and keep
//! the catalogue true.

mod check;
mod edit;
mod fault;
mod mirror;

use std::{
    error::Error,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Parser, Subcommand};
use serde::Serialize;

use crate::{
    catalogue::CatalogueError,
    world::{LockedWorld, Moment, Object, Pace, Status, World, WorldError},
};
use edit::Assignment;
use fault::FaultArgs;
use mirror::Mirror;

/// A simulated cloud for Terraform, without network or account.
///
/// The cloud is a folder, called a world. Terraform starts this program as one of the providers `hashicorp/aws`,
/// `hashicorp/google`, `hashicorp/azurerm`, `digitalocean/digitalocean`, `linode/linode`, `hashicorp/kubernetes` and
/// `hashicorp/helm`, so that modules written for the real ones run unchanged; or as `terrane/cloudsim`, whose resource
/// `cloudsim_thing` can be slow, fail, drift and collide as it is told. You start it to install those providers and to
/// see, or to change, what is in a world.
#[derive(Parser)]
#[command(version, after_long_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("the mirror cannot be written")]
    Io(#[from] io::Error),
}

const EXAMPLE: &str = r#"Example:
  cloudsim mirror ~/cloudsim > ~/cloudsim.tfrc
  export TF_CLI_CONFIG_FILE=~/cloudsim.tfrc

  # main.tf
  terraform {
    required_providers {
      cloudsim = { source = "terrane/cloudsim" }
    }
  }
  provider "cloudsim" {
    world = "/tmp/world" # or CLOUDSIM_WORLD in the environment
  }
  resource "cloudsim_thing" "web" {
    name           = "web"
    size           = 2             # changed in place; a new name is a new thing
    tags           = { owner = "me" }
    secret         = "hidden"
    create_seconds = 3             # also destroy_seconds
    fail           = "no capacity" # refuses to create it...
    fail_times     = 2             # ...twice
  }

  terraform init && terraform apply
  cloudsim objects /tmp/world
  cloudsim edit /tmp/world web size=5 && terraform plan   # drift

The same with a real provider, which has no setting for a world:
  export CLOUDSIM_WORLD=/tmp/world              # or: cloudsim mirror --world /tmp/world ~/cloudsim
  cloudsim pace /tmp/world 60                   # an EKS cluster takes 12 s; `real`: 12 min
  cloudsim fault /tmp/world capacity --type aws_eks_node_group --times 1

Killing Terraform, or the provider, does not stop the cloud: a create or destroy that was accepted takes its course, and is in the ledger from the moment it was accepted."#;

#[derive(Subcommand)]
enum Command {
    /// Write a mirror from which `terraform init` installs the providers, and print the CLI configuration that uses it.
    Mirror {
        /// The folder to write; made if need be.
        dir: PathBuf,
        /// Put this program into the folder too: for runs that can see nothing else of this machine.
        #[arg(long)]
        copy: bool,
        /// The folder of the simulated cloud, for providers whose environment has no CLOUDSIM_WORLD.
        #[arg(long)]
        world: Option<PathBuf>,
        /// Simulate the providers of this dump too: what `terraform providers schema -json` prints.
        #[arg(long, value_name = "FILE")]
        schemas: Vec<PathBuf>,
    },
    /// Print what providers did in a world, one JSON line per effect: when (in microseconds), what, to which object, by
    /// which process.
    Ledger {
        /// The folder of the simulated cloud.
        world: PathBuf,
    },
    /// Print what exists in a world, one JSON line per object, secrets included.
    Objects {
        /// The folder of the simulated cloud.
        world: PathBuf,
    },
    /// Change an object by hand, so that Terraform finds drift. The ledger does not tell of it.
    Edit {
        /// The folder of the simulated cloud.
        world: PathBuf,
        /// The name of the object, or its id.
        name: String,
        /// KEY=VALUE; KEY.ENTRY=VALUE in a map, KEY.0.ENTRY=VALUE in the first of several blocks; an empty value unsets.
        #[arg(required = true, value_name = "KEY=VALUE")]
        assignments: Vec<Assignment>,
    },
    /// Delete an object behind Terraform's back. The ledger does not tell of it.
    Remove {
        /// The folder of the simulated cloud.
        world: PathBuf,
        /// The name of the object, or its id.
        name: String,
    },
    /// Empty a world: objects and ledger are gone, faults and pace stay. Nobody is told.
    Reset {
        /// The folder of the simulated cloud.
        world: PathBuf,
    },
    /// Make requests fail as they do in real clouds; without KIND, print what is to fail.
    Fault(FaultArgs),
    /// Set how fast the cloud is.
    Pace {
        /// The folder of the simulated cloud; made if need be.
        world: PathBuf,
        /// `instant`, `real`, or how many times faster than real: at 60 twelve minutes take twelve seconds.
        pace: Pace,
    },
    /// Prove that the built-in catalogue says of each type what a dump of the provider's schemas says, or print where not.
    Check {
        /// A folder of dumps, `*.json`, each as `terraform providers schema -json` prints it.
        #[arg(long, value_name = "DIR")]
        against: PathBuf,
    },
    /// Print a catalogue file with the types that are listed, taken from a dump.
    Catalogue {
        /// A dump, as `terraform providers schema -json` prints it.
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
        /// A file with names of types, `aws_vpc` or `data.aws_vpc`, of which those of other providers are passed over; or a
        /// catalogue file, whose types are taken anew.
        #[arg(long, value_name = "FILE")]
        types: PathBuf,
        /// Of the provider.
        #[arg(long)]
        release: String,
    },
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    match Cli::parse().command {
        Command::Mirror { dir, copy, world, schemas } => {
            let mirror = Mirror { dir: &dir, copy, world: world.as_deref(), schemas: &schemas };
            out.write_all(mirror.write()?.as_bytes())?;
        }
        Command::Ledger { world } => out.write_all(World::existing(&world)?.lock()?.ledger()?.as_bytes())?,
        Command::Objects { world } => {
            let now = Moment::now();
            for object in World::existing(&world)?.lock()?.objects()? {
                let listed = Listed { name: object.name(), status: object.status(now), object: &object };
                writeln!(out, "{}", serde_json::to_string(&listed)?)?;
            }
        }
        Command::Edit { world, name, assignments } => {
            let world = World::existing(&world)?;
            let world = world.lock()?;
            let mut object = named(&world, name)?;
            for assignment in assignments {
                assignment.make(&mut object)?;
            }
            world.replace(&object)?;
        }
        Command::Remove { world, name } => {
            let world = World::existing(&world)?;
            let world = world.lock()?;
            world.remove(&named(&world, name)?)?;
        }
        Command::Reset { world } => World::existing(&world)?.lock()?.reset()?,
        Command::Fault(args) => fault::run(args, &mut out)?,
        Command::Pace { world, pace } => {
            let world = World::at(world);
            world.prepare()?;
            let world = world.lock()?;
            let mut settings = world.settings()?;
            settings.pace = pace;
            world.set(&settings)?;
        }
        Command::Check { against } => check::run(&against, &mut out)?,
        Command::Catalogue { from, types, release } => check::select(&from, &types, &release, &mut out)?,
    }
    Ok(())
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    status: Status,
    #[serde(flatten)]
    object: &'a Object,
}

fn named(world: &LockedWorld<'_>, name: String) -> Result<Object, WorldError> {
    let mut found: Vec<_> =
        world.objects()?.into_iter().filter(|object| object.name() == name || object.id == name).collect();
    if found.len() > 1 {
        return Err(WorldError::Ambiguous { name, ids: found.into_iter().map(|object| object.id).collect() });
    }
    found.pop().ok_or(WorldError::NotFound(name))
}
