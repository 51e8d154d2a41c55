//! `terrane reconcile`: have a look at reality now, rather than when it is due.

use clap::Args;

use super::address::{Address, Finder, RESOURCES, parse_address, path_of};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::{Code, Failure, Tally};
use super::print;

#[derive(Args)]
pub struct Reconcile {
    /// TYPE/NAME, one or several
    #[arg(required = true, value_parser = parse_address)]
    what: Vec<Address>,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Reconcile) -> Result<Option<Code>, Failure> {
    let finder = Finder::new(client);
    let mut tally = Tally::default();
    for address in &args.what {
        tally.count(reconcile(client, &finder, address).await)?;
    }
    Ok(tally.worst())
}

async fn reconcile(client: &ApiClient, finder: &Finder<'_>, address: &Address) -> Result<(), Failure> {
    let resource = finder.resource(address).await?;
    client.post(&format!("{}/reconcile", path_of(RESOURCES, &resource)?), &[], None).await?;
    print::line(&format!("{address} will be reconciled"))
}
