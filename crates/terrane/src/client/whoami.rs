//! `terrane whoami`: who the server takes us for, and which server that is.

use clap::Args;
use serde_json::Value;

use super::api_client::ApiClient;
use super::connection::Connection;
use super::failure::Failure;
use super::output::{Format, text_of};
use super::print;

#[derive(Args)]
pub struct Whoami {
    /// The form of the output: table, json or yaml
    #[arg(short, long, value_enum, default_value_t = Format::Table, hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    pub connection: Connection,
}

pub async fn run(client: &ApiClient, args: &Whoami) -> Result<(), Failure> {
    let me: Value = client.get("/api/v1/whoami", &[]).await?;
    match args.output {
        Format::Json => print::json(&me),
        Format::Yaml => print::yaml(&me),
        _ => {
            for field in ["actor", "role", "tenant"] {
                print::line(&format!("{:<8} {}", format!("{field}:"), print::clean(&text_of(&me, field))))?;
            }
            print::line(&format!("server:  {}", client.server()))
        }
    }
}
