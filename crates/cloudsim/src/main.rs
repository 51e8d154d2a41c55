//! Terraform providers whose cloud is a folder, and the commands by which people and tests look into that folder. Who
//! starts the program decides which of the two it is, and its first argument which provider.

mod catalogue;
mod cli;
mod clouds;
mod conduct;
mod environment;
mod plugin;
mod protocol;
mod provider;
mod random;
mod schema;
mod template;
mod value;
mod world;

use std::{env, error::Error, iter, process::ExitCode};

use environment::Environment;
use provider::Provider;
use rustix::fs::Mode;
use rustix::process::umask;

fn main() -> ExitCode {
    // A world is everybody's who may write its folder: providers often run under another user each.
    umask(Mode::empty());
    let environment = Environment::read();
    let outcome = if environment.started_by_terraform { serve(environment) } else { cli::run() };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let reasons = iter::successors(Some(&*error), |&error| error.source()).map(ToString::to_string);
            eprintln!("cloudsim: {}", reasons.collect::<Vec<_>>().join(": "));
            ExitCode::FAILURE
        }
    }
}

/// One thread is enough: whatever takes long here is waiting.
fn serve(environment: Environment) -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_else(|| "cloudsim".to_owned());
    let certificate = environment.client_certificate.clone();
    let provider = Provider::new(catalogue::provider(&name)?, environment);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(plugin::serve(provider, certificate.as_deref()))?)
}
