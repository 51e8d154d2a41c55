//! `terrane doctor`: everything that could be wrong before the first start, with what to do about each.

use std::path::Path;
use std::process::ExitCode;

use store::{Location, Store};

use super::say;
use crate::config::{Config, ServerFlags};

enum Finding {
    Good(String),
    /// Works, but worth knowing.
    Note(String),
    Bad {
        what: String,
        mend: String,
    },
}

pub fn run(flags: ServerFlags) -> ExitCode {
    let findings = match super::read(flags) {
        Err(error) => {
            vec![Finding::Bad { what: format!("configuration: {error:#}"), mend: "see `terrane up --help`".into() }]
        }
        Ok(config) => match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(examine(&config)),
            Err(error) => vec![Finding::Bad {
                what: format!("no runtime: {error}"),
                mend: "raise the limits of this user".into(),
            }],
        },
    };
    let mut well = true;
    for finding in findings {
        match finding {
            Finding::Good(what) => say(&format!("ok    {what}")),
            Finding::Note(what) => say(&format!("note  {what}")),
            Finding::Bad { what, mend } => {
                well = false;
                say(&format!("BAD   {what}\n      → {mend}"));
            }
        }
    }
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn examine(config: &Config) -> Vec<Finding> {
    vec![listen(config), database(config).await, tokens(config).await, terraform()]
}

fn listen(config: &Config) -> Finding {
    match std::net::TcpListener::bind(config.listen.value) {
        Ok(_) => Finding::Good(format!("{} is free to listen on", config.listen.value)),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            Finding::Note(format!("{} is in use: by a running server, or choose another --listen", config.listen.value))
        }
        Err(error) => Finding::Bad {
            what: format!("cannot listen on {}: {error}", config.listen.value),
            mend: "choose another --listen".into(),
        },
    }
}

async fn database(config: &Config) -> Finding {
    let location = &config.database.value;
    if let Location::Sqlite(path) = location
        && !path.exists()
    {
        return folder(path).unwrap_or(Finding::Good(format!("{location} will be made at the first start")));
    }
    match Store::open(location).await {
        Ok(store) => {
            let version = store.database().await.unwrap_or_default();
            store.close().await;
            Finding::Good(format!("{location} answers and is up to date ({version})"))
        }
        Err(error) => {
            let what = format!("{location}: {:#}", anyhow::Error::from(error));
            let mend = match location {
                Location::Sqlite(_) => "check the file and its owner, or choose another --data-dir",
                Location::Postgres(_) => {
                    "check that PostgreSQL runs, the address, user and password; `terrane migrate` creates the tables"
                }
            };
            Finding::Bad { what, mend: mend.into() }
        }
    }
}

/// What keeps a file from being made there: tried in the nearest folder that exists.
fn folder(file: &Path) -> Option<Finding> {
    let here = Path::new(".");
    let above = |dir: &&Path| !dir.as_os_str().is_empty();
    let dir = file.ancestors().skip(1).filter(above).find(|dir| dir.exists()).unwrap_or(here);
    let trial = dir.join(format!(".terrane-doctor-{}", std::process::id()));
    let tried = std::fs::DirBuilder::new().create(&trial).and_then(|()| std::fs::remove_dir(&trial));
    tried.err().map(|error| Finding::Bad {
        what: format!("{} cannot be made: {}: {error}", file.display(), dir.display()),
        mend: "choose another --data-dir, or let this user write there".into(),
    })
}

async fn tokens(config: &Config) -> Finding {
    if !config.asks_for_tokens() {
        return Finding::Good("no token is asked for: only this machine can reach the server".into());
    }
    let has_tokens = match Store::open(&config.database.value).await {
        Ok(store) => {
            let has_tokens = store.has_tokens().await.unwrap_or(false);
            store.close().await;
            has_tokens
        }
        Err(_) => false,
    };
    if has_tokens {
        return Finding::Good("tokens are asked for, and there are some".into());
    }
    Finding::Bad {
        what: format!("{} requires tokens, and there are none", config.listen.value),
        mend: "make the first with `terrane bootstrap`".into(),
    }
}

fn terraform() -> Finding {
    match crate::config::find_on_path(&["terraform", "tofu"]) {
        Some(path) => Finding::Good(format!("{} is there for Terraform runs", path.display())),
        None => Finding::Note(
            "neither terraform nor tofu is on PATH; resources of the terraform plugin will need one".into(),
        ),
    }
}
