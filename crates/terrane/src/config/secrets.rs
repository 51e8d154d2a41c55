//! Where the key is that seals secrets: in a file, in the environment, or made by the embedded server for itself. It is never
//! a flag, where every process of the machine could read it.

use std::fmt;
use std::path::PathBuf;

use anyhow::bail;
use secrecy::SecretString;
use store::Location;

use super::settings::{Setting, Source};

#[derive(Debug, Clone)]
pub enum SecretsKey {
    /// Secrets cannot be set.
    None,
    File(PathBuf),
    /// Beside the embedded database, made at the first start.
    Own(PathBuf),
    Given(SecretString),
}

impl fmt::Display for SecretsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretsKey::None => f.write_str("-"),
            SecretsKey::File(path) | SecretsKey::Own(path) => write!(f, "{}", path.display()),
            SecretsKey::Given(_) => f.write_str("(not shown)"),
        }
    }
}

const VARIABLE: &str = "TERRANE_SECRETS_KEY";

/// Decide, given the file that a flag, a variable or the configuration file names.
pub fn secrets_key(file: Setting<Option<PathBuf>>, database: &Location) -> anyhow::Result<Setting<SecretsKey>> {
    match (super::variable(VARIABLE), file.value) {
        (Some(_), Some(_)) if !matches!(file.source, Source::File(_)) => {
            bail!("the key for secrets is given twice: in {VARIABLE} and as --secrets-key-file")
        }
        (Some(key), _) => Ok(Setting { value: SecretsKey::Given(key.into()), source: Source::Environment(VARIABLE) }),
        (None, Some(path)) => Ok(Setting { value: SecretsKey::File(path), source: file.source }),
        (None, None) => Ok(Setting { value: by_default(database), source: Source::Default }),
    }
}

fn by_default(database: &Location) -> SecretsKey {
    match database {
        Location::Sqlite(path) => SecretsKey::Own(path.with_file_name("secrets.key")),
        Location::Postgres(_) => SecretsKey::None,
    }
}
