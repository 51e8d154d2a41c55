//! Who may come in: the rule for tokens, the first token, and the lock on the data folder.

use std::fs::{File, TryLockError};
use std::io::Write;

use anyhow::{Context, bail};
use api::Access;
use model::{Actor, Role, Scope};
use store::{Location, NewToken, Store};

use super::serve;
use crate::config::Config;

/// Decide whether to ask for tokens; refuse to start where nobody could then come in.
pub async fn decide(config: &Config, store: &Store) -> anyhow::Result<Access> {
    if !config.asks_for_tokens() {
        return Ok(Access::Open);
    }
    if !store.has_tokens().await? {
        bail!(
            "{} requires tokens, and there are none yet: make the first with `terrane bootstrap`, with the same --database or --data-dir",
            config.listen.value
        );
    }
    Ok(Access::Tokens)
}

/// The first token, for an operator. Its secret goes to standard output, this once.
pub async fn bootstrap(config: Config, name: String) -> anyhow::Result<()> {
    model::check_name("--name", &name)?;
    serve::prepare(&config)?;
    Store::migrate(&config.database.value).await?;
    let store = Store::open(&config.database.value).await?;
    let secret = api::new_token().map_err(|error| anyhow::anyhow!("no randomness to be had: {error}"))?;
    let new = NewToken {
        name: name.clone(),
        role: Role::Operator,
        expires_at: None,
        prefix: secret.prefix,
        hash: secret.hash,
    };
    let made = store
        .write(0, move |tx| {
            let new = new.clone();
            Box::pin(async move { tx.create_token(&Scope::fleet(), &Actor::system(), &new).await })
        })
        .await;
    store.close().await;
    made.with_context(|| format!("token {name} was not made; choose another --name, or revoke that one"))?;
    eprintln!("operator token {name}, shown this once; send it as Authorization: Bearer, or:");
    let scheme = if config.tls_cert.value.is_some() { "https" } else { "http" };
    eprintln!("  terrane context set main --server {scheme}://{} --token -   # and paste it", config.listen.value);
    writeln!(std::io::stdout(), "{}", secret.token)
        .with_context(|| format!("the secret could not be printed and is lost: revoke token {name}, and make another"))
}

/// The embedded database serves one process; a second one on the same folder is told so.
pub fn lock(config: &Config) -> anyhow::Result<Option<File>> {
    let Location::Sqlite(path) = &config.database.value else { return Ok(None) };
    let path = path.with_extension("lock");
    let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            write!(file, "{}", std::process::id())?;
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => {
            let holder = std::fs::read_to_string(&path).unwrap_or_default();
            bail!(
                "another terrane (process {}) uses {}; stop it, choose another --data-dir, or use PostgreSQL to run several",
                holder.trim(),
                config.database.value
            )
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}
