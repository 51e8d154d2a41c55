//! The configuration file: TOML, every key optional.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::engine::EngineFile;
use super::runner::RunnerFile;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub listen: Option<String>,
    pub data_dir: Option<PathBuf>,
    pub database: Option<String>,
    pub require_tokens: Option<bool>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub secrets_key_file: Option<PathBuf>,
    pub log: Option<String>,
    pub log_format: Option<String>,
    pub otlp_endpoint: Option<String>,
    pub broker: Option<String>,
    /// `[engine]`
    #[serde(default)]
    pub engine: EngineFile,
    /// `[runner]`
    #[serde(default)]
    pub runner: RunnerFile,
}

/// Read the file that was asked for, or `terrane.toml` in the working directory where there is one.
pub fn read(asked: Option<&Path>) -> anyhow::Result<(File, Option<PathBuf>)> {
    let path = match asked {
        Some(path) if !path.exists() => bail!("there is no configuration file {}", path.display()),
        Some(path) => path.to_path_buf(),
        None if Path::new("terrane.toml").exists() => PathBuf::from("terrane.toml"),
        None => return Ok((File::default(), None)),
    };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = toml::from_str(&text).with_context(|| format!("{} is not a configuration file", path.display()))?;
    Ok((file, Some(path)))
}
