//! The keys for secrets, read from where the settings say. An embedded server makes its own, once.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use controller::Keyring;
use secrecy::{ExposeSecret, SecretString};
use store::Store;
use tracing::warn;

use crate::config::{Config, SecretsKey};

/// The ring, where there is a key. A key that is given and cannot be used is a reason not to start.
pub async fn open(config: &Config, store: &Store) -> anyhow::Result<Option<Arc<Keyring>>> {
    let ring = match &config.secrets_key.value {
        SecretsKey::None => return Ok(None),
        SecretsKey::Given(text) => Keyring::parse(text).context("TERRANE_SECRETS_KEY")?,
        SecretsKey::File(path) => read(path)?,
        SecretsKey::Own(path) if path.exists() => read(path)?,
        SecretsKey::Own(path) => {
            make(path).with_context(|| format!("cannot make {}", path.display()))?;
            let ring = read(path)?;
            if !store.secrets_of_other_keys(ring.current(), 1).await?.is_empty() {
                warn!(
                    file = %path.display(),
                    "there are secrets that the new key does not open: put the old key back from a backup, or set them anew"
                );
            }
            ring
        }
    };
    Ok(Some(Arc::new(ring)))
}

fn read(path: &Path) -> anyhow::Result<Keyring> {
    let text: SecretString =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?.into();
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        warn!(file = %path.display(), "others may read the key for secrets: chmod 600 it");
    }
    Keyring::parse(&text).with_context(|| format!("{} holds no key for secrets", path.display()))
}

/// Whole or not at all: a key that was half written would seal nothing.
fn make(path: &Path) -> anyhow::Result<()> {
    let draft = path.with_extension("key.new");
    let _ = fs::remove_file(&draft);
    let mut file = File::options().create_new(true).write(true).mode(0o600).open(&draft)?;
    writeln!(file, "{}", Keyring::generate()?.expose_secret())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    Ok(())
}
