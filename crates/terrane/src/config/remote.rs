//! Settings of a runner that is a process of its own: where its control plane is, and those of every runner.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{ArgMatches, Args};
use link::Broker;
use reqwest::Url;
use secrecy::SecretString;

use super::file;
use super::logs::{LogConfig, LogFlags};
use super::runner::{RunnerConfig, RunnerFlags};
use super::settings::{Picker, broker};

#[derive(Debug, Clone, Args)]
pub struct RemoteFlags {
    /// The control plane's address; https, unless it is on this machine
    #[arg(long, env = "TERRANE_SERVER", value_name = "URL")]
    pub server: String,
    /// The file with the token that `terrane runners enrol` printed
    #[arg(long, env = "TERRANE_RUNNER_TOKEN_FILE", value_name = "FILE")]
    pub token_file: PathBuf,
    /// Certificates (PEM) of a private authority that vouches for the server
    #[arg(long, env = "TERRANE_CA_CERT", value_name = "FILE")]
    pub ca_cert: Option<PathBuf>,
    /// RabbitMQ, as the control plane has it; without it the API serves alone
    #[arg(long, env = "TERRANE_BROKER", hide_env_values = true, value_name = "amqp://…")]
    pub broker: Option<String>,
    /// Where workspaces and the like are kept [default: .terrane]
    #[arg(long, env = "TERRANE_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The configuration file (TOML), of which a runner reads `[runner]` and what it logs [default: terrane.toml where there is one]
    #[arg(long, env = "TERRANE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub logs: LogFlags,
    #[command(flatten)]
    pub runner: Box<RunnerFlags>,
}

/// How such a runner is to run.
#[derive(Debug)]
pub struct RemoteConfig {
    pub server: Url,
    pub token: SecretString,
    pub ca_cert: Option<PathBuf>,
    pub broker: Option<Broker>,
    pub logs: LogConfig,
    pub runner: RunnerConfig,
}

impl RemoteConfig {
    pub fn read(flags: RemoteFlags, matches: &ArgMatches) -> anyhow::Result<RemoteConfig> {
        let given = |path: Option<PathBuf>| path.filter(|path| !path.as_os_str().is_empty());
        let (file, path) = file::read(given(flags.config).as_deref())?;
        let picker = Picker { matches, file: path };
        let data_dir = given(flags.data_dir).or(file.data_dir).unwrap_or_else(|| ".terrane".into());
        let token = std::fs::read_to_string(&flags.token_file)
            .with_context(|| format!("--token-file {}: cannot be read", flags.token_file.display()))?;
        let token = token.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("--token-file {}: holds no token; `terrane runners enrol` prints one", flags.token_file.display());
        }
        Ok(RemoteConfig {
            server: server(&flags.server)?,
            token: token.to_owned().into(),
            ca_cert: given(flags.ca_cert),
            broker: broker(&picker, flags.broker.filter(|url| !url.is_empty()), file.broker)?.value,
            logs: LogConfig::read(&picker, flags.logs, file.log, file.log_format, file.otlp_endpoint)?,
            // Its jobs are other people's: what they may use is named, or is not allowed.
            runner: RunnerConfig::read(&picker, *flags.runner, file.runner, &data_dir, false),
        })
    }
}

/// States and secrets go there: never in the open.
fn server(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text).with_context(|| format!("--server {text:?} is not an address"))?;
    let host = url.host_str().unwrap_or_default();
    let here = host == "localhost"
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" if !host.is_empty() => Ok(url),
        "http" if here => Ok(url),
        "http" => {
            bail!("--server {text}: secrets and states go there; use https (--tls-cert and --tls-key on the server)")
        }
        _ => bail!("--server {text:?} is not an address such as https://terrane.example"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_never_go_in_the_open() {
        for good in ["https://terrane.example", "http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000"] {
            assert!(server(good).is_ok(), "{good}");
        }
        for bad in
            ["http://terrane.example", "http://10.0.0.1:8000", "http://localhost.evil.example", "ftp://x", "x", ""]
        {
            assert!(server(bad).is_err(), "{bad}");
        }
    }
}
