//! `terrane context`: name servers, and choose one.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::connection::DEFAULT_SERVER;
use super::contexts::{Context, Contexts};
use super::failure::Failure;
use super::print;
use super::table::Table;

#[derive(Subcommand)]
pub enum Command {
    /// List the contexts; the one in use has a star
    List,
    /// Use a context from now on
    Use { name: String },
    /// Make a context, or change what is given of it
    #[command(after_help = "\
Examples:
  terrane context set prod --server https://terrane.example.com --tenant acme --token -   (asks standard input)
  terrane bootstrap | terrane context set local --token -")]
    Set(Set),
    /// Show a context, without its token
    Show {
        /// The one in use where absent
        name: Option<String>,
    },
    /// Forget a context
    Delete { name: String },
}

#[derive(Args)]
pub struct Set {
    name: String,
    /// The server's address, e.g. https://terrane.example.com
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The token; `-` reads it from standard input, where no process list shows it
    #[arg(long)]
    token: Option<String>,
    /// The tenant to work in
    #[arg(long)]
    tenant: Option<String>,
    /// Certificates (PEM) of a private authority that vouches for the server
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
}

pub fn run(command: Option<Command>) -> Result<(), Failure> {
    match command {
        None | Some(Command::List) => list(),
        Some(Command::Use { name }) => {
            let mut kept = Contexts::read()?;
            kept.named(&name)?;
            kept.current = Some(name.clone());
            kept.write()?;
            print::note(&format!("using context {name}"));
            Ok(())
        }
        Some(Command::Set(set)) => change(set),
        Some(Command::Show { name }) => show(name),
        Some(Command::Delete { name }) => {
            let mut kept = Contexts::read()?;
            kept.named(&name)?;
            kept.contexts.remove(&name);
            kept.current = kept.current.filter(|current| *current != name);
            kept.write()?;
            print::note(&format!("context {name} forgotten"));
            Ok(())
        }
    }
}

fn list() -> Result<(), Failure> {
    let kept = Contexts::read()?;
    if kept.contexts.is_empty() {
        print::note(&format!(
            "No contexts; commands go to {DEFAULT_SERVER}. Make one with `terrane context set NAME --server URL`."
        ));
        return Ok(());
    }
    let mut table = Table::new(&["", "NAME", "SERVER", "TENANT"]);
    for (name, context) in &kept.contexts {
        let star = if kept.current.as_ref() == Some(name) { "*" } else { "" };
        table.row(vec![star.into(), name.clone(), server_of(context), context.tenant.clone().unwrap_or_default()]);
    }
    table.print()
}

fn server_of(context: &Context) -> String {
    context.server.clone().unwrap_or_else(|| DEFAULT_SERVER.into())
}

fn change(set: Set) -> Result<(), Failure> {
    model::check_name("NAME", &set.name).map_err(|error| Failure::usage(error.to_string()))?;
    if let Some(server) = &set.server {
        super::connection::parse_server(server)?;
    }
    let token = match set.token.as_deref() {
        Some("-") => Some(token_from_stdin()?),
        _ => set.token,
    };
    let mut kept = Contexts::read()?;
    let context = kept.contexts.entry(set.name.clone()).or_default();
    // A token belongs to the server it was made for: it does not follow the context to another one.
    if set.server.is_some() && set.server != context.server {
        context.token = None;
    }
    context.server = set.server.or(context.server.take());
    context.token = token.or(context.token.take());
    context.tenant = set.tenant.or(context.tenant.take());
    // The command may be given in one folder and used in another.
    let ca_cert = set.ca_cert.map(|path| std::path::absolute(&path).unwrap_or(path));
    context.ca_cert = ca_cert.or(context.ca_cert.take());
    let first = kept.current.is_none();
    if first {
        kept.current = Some(set.name.clone());
    }
    kept.write()?;
    print::note(&if first || kept.current.as_ref() == Some(&set.name) {
        format!("context {} is set and in use", set.name)
    } else {
        format!("context {} is set; use it with `terrane context use {}`", set.name, set.name)
    });
    Ok(())
}

fn token_from_stdin() -> Result<String, Failure> {
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| Failure::usage(format!("cannot read the token from standard input: {error}")))?;
    let token = line.trim().to_string();
    if token.is_empty() { Err(Failure::usage("--token -: standard input holds no token")) } else { Ok(token) }
}

fn show(name: Option<String>) -> Result<(), Failure> {
    let kept = Contexts::read()?;
    let name = name.or_else(|| kept.current.clone()).ok_or_else(|| {
        Failure::not_found("no context is in use").next_step("make one with `terrane context set NAME --server URL`")
    })?;
    let context = kept.named(&name)?;
    print::line(&format!("name:     {name}"))?;
    print::line(&format!("server:   {}", server_of(context)))?;
    print::line(&format!("tenant:   {}", context.tenant.as_deref().unwrap_or("-")))?;
    print::line(&format!("token:    {}", if context.token.is_some() { "set" } else { "-" }))?;
    let ca_cert = context.ca_cert.as_ref().map_or("-".into(), |path| path.display().to_string());
    print::line(&format!("ca-cert:  {ca_cert}"))
}
