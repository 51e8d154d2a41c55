//! Which server a command speaks to, as whom and in which tenant: from flags and the environment, else from a context,
//! else the server on this machine.

use std::path::PathBuf;

use clap::Args;
use reqwest::Url;

use super::contexts::{Context, Contexts};
use super::failure::Failure;

pub const DEFAULT_SERVER: &str = "http://localhost:8000";

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    #[command(flatten)]
    pub way: Way,
    /// The tenant to work in; the token's own where absent
    #[arg(long, env = "TERRANE_TENANT")]
    pub tenant: Option<String>,
}

/// How to get to a server: all of a connection but the tenant, for what belongs to none.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub struct Way {
    /// The server's address [default: the context's, else http://localhost:8000]
    #[arg(long, env = "TERRANE_SERVER", value_name = "URL")]
    pub server: Option<String>,
    /// The token to show it
    #[arg(long, env = "TERRANE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// The context to take these from [default: the one chosen with `terrane context use`]
    #[arg(long, env = "TERRANE_CONTEXT", value_name = "NAME")]
    pub context: Option<String>,
    /// Certificates (PEM) of a private authority that vouches for the server
    #[arg(long, env = "TERRANE_CA_CERT", value_name = "FILE")]
    pub ca_cert: Option<PathBuf>,
}

/// A connection with nothing left to decide.
#[derive(Debug)]
pub struct Resolved {
    pub server: Url,
    pub token: Option<String>,
    pub tenant: Option<String>,
    pub ca_cert: Option<PathBuf>,
}

impl Connection {
    pub fn resolve(self) -> Result<Resolved, Failure> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let Way { server, token, context, ca_cert } = self.way;
        let server = given(server);
        let kept = Contexts::read()?;
        let context = match given(context) {
            Some(name) => Some(kept.named(&name)?.clone()),
            None => kept.current.as_ref().and_then(|name| kept.contexts.get(name)).cloned(),
        };
        // A token is shown to no other server than the one it was kept for.
        let context = context.filter(|context| is_for(context, server.as_deref())).unwrap_or_default();
        let server = server.or(context.server).unwrap_or_else(|| DEFAULT_SERVER.into());
        Ok(Resolved {
            server: parse_server(&server)?,
            token: given(token).or(context.token),
            tenant: given(self.tenant).or(context.tenant),
            ca_cert: ca_cert.or(context.ca_cert),
        })
    }
}

fn is_for(context: &Context, server: Option<&str>) -> bool {
    let Some(asked) = server else { return true };
    let kept = context.server.as_deref().unwrap_or(DEFAULT_SERVER);
    matches!((Url::parse(asked), Url::parse(kept)), (Ok(asked), Ok(kept)) if asked == kept)
}

pub fn parse_server(text: &str) -> Result<Url, Failure> {
    let wrong = || Failure::usage(format!("--server {text:?} is not an address such as {DEFAULT_SERVER}"));
    let url = Url::parse(text).map_err(|_| wrong())?;
    if !["http", "https"].contains(&url.scheme()) || url.host().is_none() || url.query().is_some() {
        return Err(wrong());
    }
    Ok(url)
}
