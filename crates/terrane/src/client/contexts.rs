//! Contexts: servers by name, with the token and tenant to use there. Kept in a file only its owner can read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use crate::config::user_config_dir;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    /// The one in use when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default)]
    pub contexts: BTreeMap<String, Context>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

fn path() -> Result<PathBuf, Failure> {
    let dir =
        user_config_dir().ok_or_else(|| Failure::failed("no home folder to keep contexts in; set XDG_CONFIG_HOME"))?;
    Ok(dir.join("contexts.toml"))
}

impl Contexts {
    /// What is kept; nothing where there is no file yet.
    pub fn read() -> Result<Contexts, Failure> {
        let Ok(path) = path() else { return Ok(Contexts::default()) };
        let wrong = |why: String| Failure::failed(format!("cannot use {}: {why}", path.display()));
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Contexts::default()),
            Err(error) => Err(wrong(error.to_string())),
            // The parser's message quotes the line it stumbles over, which may hold a token.
            Ok(text) => toml::from_str(&text).map_err(|error: toml::de::Error| wrong(error.message().to_string())),
        }
    }

    /// By rename, so that a crash leaves the old file or the new one.
    pub fn write(&self) -> Result<(), Failure> {
        let path = path()?;
        self.write_to(&path).map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
    }

    fn write_to(&self, path: &Path) -> std::io::Result<()> {
        let text = toml::to_string_pretty(self).map_err(std::io::Error::other)?;
        if let Some(dir) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let new = path.with_extension(format!("toml.{}", std::process::id()));
        let _ = fs::remove_file(&new);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    }

    pub fn named(&self, name: &str) -> Result<&Context, Failure> {
        self.contexts.get(name).ok_or_else(|| {
            let known: Vec<_> = self.contexts.keys().map(String::as_str).collect();
            let known =
                if known.is_empty() { "there are none yet".into() } else { format!("there are: {}", known.join(", ")) };
            Failure::not_found(format!("there is no context {name}; {known}"))
                .next_step(format!("make it with `terrane context set {name} --server URL`"))
        })
    }
}
