//! The commands for people and tests: install the provider for offline use, and look into a world or meddle with it.

mod edit;
mod mirror;

use std::{
    error::Error,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Parser, Subcommand};
use serde::Serialize;

use crate::world::{LockedWorld, Moment, Object, Status, World, WorldError};
use edit::Assignment;

/// A simulated cloud for Terraform, without network or account.
///
/// The cloud is a folder, called a world. Terraform starts this program as the provider `terrane/cloudsim`, whose
/// resource `cloudsim_thing` can be slow, fail, drift and collide as real infrastructure does; you start it to install
/// that provider and to see, or to change, what is in a world.
#[derive(Parser)]
#[command(version, after_long_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    command: Command,
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

Killing Terraform, or the provider, does not stop the cloud: a create or destroy that was accepted takes its course, and is in the ledger from the moment it was accepted."#;

#[derive(Subcommand)]
enum Command {
    /// Write a mirror from which `terraform init` installs the provider, and print the CLI configuration that uses it.
    Mirror {
        /// The folder to write; made if need be.
        dir: PathBuf,
        /// Put this program into the folder too: for runs that can see nothing else of this machine.
        #[arg(long)]
        copy: bool,
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
        /// The name of the object.
        name: String,
        /// KEY=VALUE, or KEY.ENTRY=VALUE in a map; an empty value unsets.
        #[arg(required = true, value_name = "KEY=VALUE")]
        assignments: Vec<Assignment>,
    },
    /// Delete an object behind Terraform's back. The ledger does not tell of it.
    Remove {
        /// The folder of the simulated cloud.
        world: PathBuf,
        /// The name of the object.
        name: String,
    },
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    match Cli::parse().command {
        Command::Mirror { dir, copy } => out.write_all(mirror::write(&dir, copy)?.as_bytes())?,
        Command::Ledger { world } => out.write_all(World::existing(&world)?.lock()?.ledger()?.as_bytes())?,
        Command::Objects { world } => {
            let now = Moment::now();
            for object in World::existing(&world)?.lock()?.objects()? {
                writeln!(out, "{}", serde_json::to_string(&Listed { status: object.status(now), object })?)?;
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
    }
    Ok(())
}

#[derive(Serialize)]
struct Listed {
    status: Status,
    #[serde(flatten)]
    object: Object,
}

fn named(world: &LockedWorld<'_>, name: String) -> Result<Object, WorldError> {
    let object = world.objects()?.into_iter().find(|object| object.name == name);
    object.ok_or(WorldError::NotFound(name))
}
