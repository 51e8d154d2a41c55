//! `terrane types`: what kinds of resource there are, and what their specs may hold.

use clap::Args;

use super::address::{Finder, TYPES};
use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::layouts;
use super::output::Format;
use super::print;

#[derive(Args)]
pub struct Types {
    /// NAME for its versions, NAME/VERSION for one with its schema; all types where absent
    what: Option<String>,
    /// The form of the output
    #[arg(short, long, value_enum)]
    output: Option<Format>,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Types) -> Result<(), Failure> {
    let finder = Finder::new(client);
    match &args.what {
        Some(what) if what.contains('/') => {
            let found = finder.resource_type(what).await?;
            match args.output {
                Some(format) => layouts::TYPE.show_one(format, &found),
                None => print::yaml(&found),
            }
        }
        what => {
            let query: Vec<_> = match what {
                Some(name) => vec![("name", finder.type_name(name).await?)],
                None => vec![],
            };
            layouts::TYPE.show(args.output.unwrap_or(Format::Table), &client.list(TYPES, &query, None).await?)
        }
    }
}
