//! The user's commands: everything here speaks to a server through its API, as anybody could.
//!
//! `connection` and `contexts` say which server; `api_client`, `answer` and `watch` speak to it; `address` finds what a
//! user names and `documents` reads what a user writes; `failure` is how a command ends when it does not end well. Then
//! one file for each command.

mod account;
mod address;
mod alerts;
mod answer;
mod api_client;
mod apply;
mod choices;
mod connection;
mod context;
mod contexts;
mod delete;
mod describe;
mod diff;
mod documents;
mod events;
mod failure;
mod get;
mod history;
mod jobs;
mod layouts;
mod meter;
mod operations;
mod output;
mod outputs;
mod plan;
mod plugin;
mod plugins;
mod print;
mod prompt;
mod reconcile;
mod rest;
mod runners;
mod secret;
mod state;
mod table;
mod tenant;
mod time;
mod token;
mod types;
mod wait;
mod waiting;
mod watch;
mod whoami;

use std::process::ExitCode;

use clap::Subcommand;
use model::Choice;

use api_client::ApiClient;
use connection::Connection;
use failure::{Code, Failure};

#[derive(Subcommand)]
pub enum Command {
    /// Declare types and resources from files: what is missing is created, what differs is changed
    #[command(after_help = "\
Examples:
  terrane apply -f examples/database.yaml
  terrane apply -f examples/ --dry-run
  terrane apply -f cluster.yaml --wait --timeout 30m
  cat cluster.json | terrane apply -f -")]
    Apply(apply::Apply),
    /// List resources, types, tenants or tokens
    #[command(after_help = "\
Examples:
  terrane get                                   all resources
  terrane get databasecluster -l env=prod       of one type, by labels
  terrane get databasecluster/production-pg -o yaml
  terrane get types
  terrane get --status failed --watch")]
    Get(get::Get),
    /// Show everything about one resource: what it waits for, conditions, operations, failure, drift, spec, events
    #[command(after_help = "Example:\n  terrane describe databasecluster/production-pg")]
    Describe(describe::Describe),
    /// Show what apply would change; exits with 1 where there are differences
    #[command(after_help = "Example:\n  terrane diff -f examples/database.yaml")]
    Diff(diff::Diff),
    /// Delete resources or types, and stay until they are gone
    #[command(after_help = "\
Examples:
  terrane delete databasecluster/production-pg
  terrane delete -l env=test --no-wait
  terrane delete -f examples/database.yaml
  terrane delete type DatabaseCluster/v1

A delete destroys what the resource stands for. Use --forget where that cannot be done from here: the account or
cluster behind it is gone, its credentials are lost for good, its plugin is no longer there, or somebody else is to
manage it from now on. Nothing is destroyed then, finalizers are not waited for, and what may remain is printed.
  terrane delete databasecluster/production-pg --forget")]
    Delete(delete::Delete),
    /// Show every attempt to reconcile a resource
    #[command(after_help = "Example:\n  terrane history databasecluster/production-pg --limit 5")]
    History(history::History),
    /// Show every operation on a resource, the one under way first
    #[command(
        visible_alias = "ops",
        after_help = "\
Examples:
  terrane operations databasecluster/production-pg
  terrane ops databasecluster/production-pg --limit 1 -o yaml"
    )]
    Operations(operations::Operations),
    /// Print what a resource's newest job has printed; with -f, as it does
    #[command(after_help = "\
Examples:
  terrane logs databasecluster/production-pg -f
  terrane logs databasecluster/production-pg --job 12")]
    Logs(jobs::Logs),
    /// List what runners did for a resource and are doing
    #[command(after_help = "Example:\n  terrane jobs databasecluster/production-pg")]
    Jobs(jobs::Jobs),
    /// Show what a resource's newest plan changes, attribute by attribute
    #[command(after_help = "Example:\n  terrane plan databasecluster/production-pg")]
    Plan(jobs::Plan),
    /// Consent to the plan that waits for it
    #[command(after_help = "\
Examples:
  terrane plan databasecluster/production-pg
  terrane approve databasecluster/production-pg

The very plan that is shown is applied, and nothing else: if the spec or the state has changed since it was made, it is refused.")]
    Approve(jobs::Approve),
    /// Stop the job that is under way for a resource
    #[command(after_help = "\
Examples:
  terrane cancel databasecluster/production-pg            in good order
  terrane cancel databasecluster/production-pg --force    at once

A job that waits for a runner is over at once, and nothing was changed. One under way is interrupted: Terraform ends
what it has begun and writes its state. With --force it is killed, and what it was making may exist without being in
the state; such things are then listed by `terrane describe` under what may exist.")]
    Cancel(jobs::Cancel),
    /// Try again what failed, from its beginning
    #[command(after_help = "\
Example:
  terrane retry databasecluster/production-pg

What can be done about a failure is told by `terrane describe`: retry, continue, rollback, cleanup, import.")]
    Retry(choices::Chosen),
    /// Go on from the state that a failed operation has reached, and keep it whatever happens
    #[command(after_help = "\
Example:
  terrane continue databasecluster/production-pg

Terraform plans anew on what was made so far and applies the rest. If it fails again, nothing is cleaned up.")]
    Continue(choices::Chosen),
    /// Go back to what last went well; the plan is shown first
    #[command(after_help = "\
Examples:
  terrane rollback databasecluster/production-pg
  terrane rollback databasecluster/production-pg --yes

The spec, the configuration and the module's commit of the last generation that went well are applied. The spec itself stays as
it is: `terrane reconcile` applies it again once it is mended.")]
    Rollback(choices::Rollback),
    /// Destroy what a failed first provision has left
    #[command(after_help = "\
Example:
  terrane cleanup databasecluster/production-pg

Afterwards nothing is provisioned until the spec changes or `terrane retry` asks for it.")]
    Cleanup(choices::Chosen),
    /// Take something that exists already into a resource's state, and go on
    #[command(after_help = "\
Example:
  terrane import databasecluster/production-pg aws_s3_bucket.logs production-pg-logs

For when an operation failed because something exists already: most often what an earlier run made and could not write down.")]
    Import(choices::Import),
    /// List the failures that a person should know of at once
    #[command(after_help = "Example:\n  terrane alerts")]
    Alerts(alerts::Alerts),
    /// Show what the last reconciliation produced
    #[command(after_help = "\
Examples:
  terrane outputs databasecluster/production-pg
  terrane outputs databasecluster/production-pg --reveal        sensitive ones too, for editors
  psql \"$(terrane outputs databasecluster/production-pg url)\"")]
    Outputs(outputs::Outputs),
    /// See and mend what Terraform knows of a resource: its state, the state's versions, locks
    #[command(subcommand)]
    State(state::Command),
    /// Reconcile resources now
    #[command(after_help = "Example:\n  terrane reconcile databasecluster/production-pg")]
    Reconcile(reconcile::Reconcile),
    /// Wait until resources are ready, deleted, of a status, or have a condition
    #[command(after_help = "\
Examples:
  terrane wait databasecluster/production-pg --for=ready --timeout 20m
  terrane wait databasecluster/production-pg --for=condition=Ready
  terrane wait databasecluster/production-pg --for=condition=Drifted=False
  terrane wait databasecluster/production-pg --for=delete

A resource that has failed and will not be tried again by itself ends the wait at once, with exit code 1.")]
    Wait(wait::Wait),
    /// Show who changed what, and when
    #[command(after_help = "\
Examples:
  terrane events databasecluster/production-pg
  terrane events --kind resource_type --since 120
  terrane events --watch")]
    Events(events::Events),
    /// List resource types, or show one with its schema
    #[command(after_help = "\
Examples:
  terrane types
  terrane types DatabaseCluster/v1")]
    Types(types::Types),
    /// List the plugins: how changes come in, and who makes them real
    #[command(after_help = "Example:\n  terrane plugins -o yaml")]
    Plugins(plugins::Plugins),
    /// For plugin authors: check a plugin against the contract
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Set, list and delete the secrets that plugins use
    #[command(subcommand)]
    Secret(secret::Command),
    /// Register, list and delete the cloud accounts that Terraform works with
    #[command(subcommand)]
    Account(account::Command),
    /// Make, list and revoke tokens
    #[command(subcommand)]
    Token(token::Command),
    /// Enrol, list and remove the runners that do jobs elsewhere
    #[command(subcommand)]
    Runners(runners::Command),
    /// Make, list and delete tenants
    #[command(subcommand)]
    Tenant(tenant::Command),
    /// Name servers, and choose the one to use
    Context {
        #[command(subcommand)]
        command: Option<context::Command>,
    },
    /// Show who the server takes you for
    #[command(after_help = "Example:\n  terrane whoami --context prod")]
    Whoami(whoami::Whoami),
}

impl Command {
    fn connection(&self) -> Connection {
        match self {
            Command::Apply(args) => args.connection.clone(),
            Command::Get(args) => args.connection.clone(),
            Command::Describe(args) => args.connection.clone(),
            Command::Diff(args) => args.connection.clone(),
            Command::Delete(args) => args.connection.clone(),
            Command::History(args) => args.connection.clone(),
            Command::Operations(args) => args.connection.clone(),
            Command::Logs(args) => args.connection.clone(),
            Command::Jobs(args) => args.connection.clone(),
            Command::Plan(args) => args.connection.clone(),
            Command::Cancel(args) => args.connection.clone(),
            Command::Approve(args) => args.connection.clone(),
            Command::Plugins(args) => args.connection.clone(),
            Command::Secret(command) => command.connection().clone(),
            Command::Retry(args) | Command::Continue(args) | Command::Cleanup(args) => args.connection.clone(),
            Command::Rollback(args) => args.connection.clone(),
            Command::Import(args) => args.connection.clone(),
            Command::Alerts(args) => args.connection.clone(),
            Command::Account(command) => command.connection().clone(),
            Command::Outputs(args) => args.connection.clone(),
            Command::State(command) => command.connection().clone(),
            Command::Reconcile(args) => args.connection.clone(),
            Command::Wait(args) => args.connection.clone(),
            Command::Events(args) => args.connection.clone(),
            Command::Types(args) => args.connection.clone(),
            Command::Token(command) => command.connection().clone(),
            Command::Runners(command) => command.connection(),
            Command::Tenant(command) => command.connection().clone(),
            Command::Whoami(args) => args.connection.clone(),
            Command::Context { .. } | Command::Plugin(_) => Connection::default(),
        }
    }
}

pub fn run(command: Command) -> ExitCode {
    match try_run(command) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(code)) => code.into(),
        Err(failure) => {
            failure.tell();
            failure.exit_code()
        }
    }
}

/// The code to exit with where what went wrong has been told already.
fn try_run(command: Command) -> Result<Option<Code>, Failure> {
    if let Command::Context { command } = command {
        return context::run(command).map(|()| None);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("no runtime: {error}")))?;
    if let Command::Plugin(command) = &command {
        return runtime.block_on(plugin::run(command));
    }
    let client = ApiClient::new(command.connection().resolve()?)?;
    runtime.block_on(execute(client, command))
}

async fn execute(client: ApiClient, command: Command) -> Result<Option<Code>, Failure> {
    match command {
        Command::Apply(args) => return apply::run(&client, &args).await,
        Command::Get(args) => return get::run(&client, &args).await,
        Command::Diff(args) => return diff::run(&client, &args).await,
        Command::Delete(args) => return delete::run(&client, &args).await,
        Command::Reconcile(args) => return reconcile::run(&client, &args).await,
        Command::Describe(args) => describe::run(&client, &args).await?,
        Command::History(args) => history::run(&client, &args).await?,
        Command::Operations(args) => operations::run(&client, &args).await?,
        Command::Logs(args) => jobs::logs(&client, &args).await?,
        Command::Jobs(args) => jobs::jobs(&client, &args).await?,
        Command::Plan(args) => jobs::plan(&client, &args).await?,
        Command::Cancel(args) => jobs::cancel(&client, &args).await?,
        Command::Approve(args) => jobs::approve(&client, &args).await?,
        Command::Plugins(args) => plugins::run(&client, &args).await?,
        Command::Secret(command) => secret::run(&client, &command).await?,
        Command::Retry(args) => choices::choose(&client, Choice::Retry, &args).await?,
        Command::Continue(args) => choices::choose(&client, Choice::Continue, &args).await?,
        Command::Cleanup(args) => choices::choose(&client, Choice::Cleanup, &args).await?,
        Command::Rollback(args) => choices::rollback(&client, &args).await?,
        Command::Import(args) => choices::import(&client, &args).await?,
        Command::Alerts(args) => alerts::run(&client, &args).await?,
        Command::Account(command) => account::run(&client, &command).await?,
        Command::Outputs(args) => outputs::run(&client, &args).await?,
        Command::State(command) => state::run(&client, &command).await?,
        Command::Wait(args) => wait::run(&client, &args).await?,
        Command::Events(args) => events::run(&client, &args).await?,
        Command::Types(args) => types::run(&client, &args).await?,
        Command::Token(command) => token::run(client, &command).await?,
        Command::Runners(command) => runners::run(&client, &command).await?,
        Command::Tenant(command) => tenant::run(&client, &command).await?,
        Command::Whoami(args) => whoami::run(&client, &args).await?,
        Command::Context { .. } | Command::Plugin(_) => {}
    }
    Ok(None)
}
