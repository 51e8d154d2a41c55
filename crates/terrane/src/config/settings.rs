//! All settings of the server, in one place, each with its origin: `terrane config` prints exactly this.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{ArgMatches, Args, parser::ValueSource};
use controller::Leases;
use link::Broker;
use store::Location;

use super::database::DatabaseFlags;
use super::engine::{EngineConfig, EngineFlags};
use super::file;
use super::logs::{LogConfig, LogFlags};
use super::runner::{APPLY_LEASE, JOB_LEASE, RunnerConfig, RunnerFlags, lease};
use super::secrets::{SecretsKey, secrets_key};

#[derive(Debug, Clone, Args)]
pub struct ServerFlags {
    /// Where to listen; anything but the loopback interface requires tokens [default: 127.0.0.1:8000, a controller's 127.0.0.1:8001]
    #[arg(long, env = "TERRANE_LISTEN", value_name = "ADDR:PORT")]
    pub listen: Option<String>,
    /// Where the embedded database and its like are kept [default: .terrane]
    #[arg(long, env = "TERRANE_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub database: DatabaseFlags,
    /// Ask for a token on the loopback interface too
    #[arg(long, env = "TERRANE_REQUIRE_TOKENS", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub require_tokens: Option<bool>,
    /// Serve TLS with this certificate (PEM, with its chain)
    #[arg(long, env = "TERRANE_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, env = "TERRANE_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// The keys that seal secrets: base64 of 32 bytes, one per line [default: secrets.key beside an embedded database]
    #[arg(long, env = "TERRANE_SECRETS_KEY_FILE", value_name = "FILE")]
    pub secrets_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub logs: LogFlags,
    /// The configuration file (TOML) [default: terrane.toml where there is one]
    #[arg(long, env = "TERRANE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// RabbitMQ, over which runners elsewhere hear of work and send what jobs print; without it they use the API alone
    #[arg(long, env = "TERRANE_BROKER", hide_env_values = true, value_name = "amqp://…")]
    pub broker: Option<String>,
    #[command(flatten)]
    pub engine: Box<EngineFlags>,
    #[command(flatten)]
    pub runner: Box<RunnerFlags>,
    /// How long a job is a runner's without being renewed, before anything is applied [default: 30s]
    #[arg(long, env = "TERRANE_JOB_LEASE", value_name = "TIME", help_heading = "Runner")]
    pub job_lease: Option<String>,
    /// The same while Terraform applies: an outage of up to half of it interrupts no apply [default: 10m]
    #[arg(long, env = "TERRANE_APPLY_LEASE", value_name = "TIME", help_heading = "Runner")]
    pub apply_lease: Option<String>,
}

impl ServerFlags {
    /// An empty variable is an unset one: that is how compose files and CI pass what is not set.
    fn without_empty(self) -> Self {
        let text = |value: Option<String>| value.filter(|value| !value.is_empty());
        let path = |value: Option<PathBuf>| value.filter(|value| !value.as_os_str().is_empty());
        ServerFlags {
            listen: text(self.listen),
            data_dir: path(self.data_dir),
            database: self.database.without_empty(),
            require_tokens: self.require_tokens,
            tls_cert: path(self.tls_cert),
            tls_key: path(self.tls_key),
            secrets_key_file: path(self.secrets_key_file),
            logs: self.logs,
            config: path(self.config),
            broker: text(self.broker),
            engine: self.engine,
            runner: self.runner,
            job_lease: text(self.job_lease),
            apply_lease: text(self.apply_lease),
        }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    File(PathBuf),
    Environment(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Environment(name) => write!(f, "environment {name}"),
            Source::Flag(name) => write!(f, "flag --{name}"),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Setting<T> {
    pub value: T,
    pub source: Source,
}

/// How the server is to run.
#[derive(Debug, Clone)]
pub struct Config {
    pub listen: Setting<SocketAddr>,
    pub data_dir: Setting<PathBuf>,
    pub database: Setting<Location>,
    pub require_tokens: Setting<bool>,
    pub tls_cert: Setting<Option<PathBuf>>,
    pub tls_key: Setting<Option<PathBuf>>,
    pub secrets_key: Setting<SecretsKey>,
    pub logs: LogConfig,
    pub engine: EngineConfig,
    pub runner: RunnerConfig,
    pub job_lease: Setting<Duration>,
    pub apply_lease: Setting<Duration>,
    pub broker: Setting<Option<Broker>>,
}

/// Picks the first of flag or environment, file, default.
pub(super) struct Picker<'a> {
    pub(super) matches: &'a ArgMatches,
    pub(super) file: Option<PathBuf>,
}

impl Picker<'_> {
    fn source(&self, id: &'static str, flag: &'static str, variable: &'static str) -> Source {
        match self.matches.value_source(id) {
            Some(ValueSource::EnvVariable) => Source::Environment(variable),
            _ => Source::Flag(flag),
        }
    }

    pub(super) fn pick<T>(
        &self,
        names: [&'static str; 3],
        given: Option<T>,
        in_file: Option<T>,
        default: T,
    ) -> Setting<T> {
        let [id, flag, variable] = names;
        match (given, in_file, &self.file) {
            (Some(value), _, _) => Setting { value, source: self.source(id, flag, variable) },
            (None, Some(value), Some(path)) => Setting { value, source: Source::File(path.clone()) },
            _ => Setting { value: default, source: Source::Default },
        }
    }
}

impl Config {
    pub fn read(flags: ServerFlags, matches: &ArgMatches) -> anyhow::Result<Config> {
        let flags = flags.without_empty();
        let (mut file, path) = file::read(flags.config.as_deref())?;
        let picker = Picker { matches, file: path };
        let listen = picker.pick(
            ["listen", "listen", "TERRANE_LISTEN"],
            flags.listen,
            file.listen,
            "127.0.0.1:8000".to_string(),
        );
        let data_dir =
            picker.pick(["data_dir", "data-dir", "TERRANE_DATA_DIR"], flags.data_dir, file.data_dir, ".terrane".into());
        let database = database(&picker, flags.database, file.database, &data_dir.value)?;
        let secrets_key_file = picker.pick(
            ["secrets_key_file", "secrets-key-file", "TERRANE_SECRETS_KEY_FILE"],
            flags.secrets_key_file.map(Some),
            file.secrets_key_file.map(Some),
            None,
        );
        let engine = EngineConfig::read(&picker, *flags.engine, file.engine)?;
        let listen = Setting { value: parse_listen(&listen.value)?, source: listen.source };
        let require_tokens = picker.pick(
            ["require_tokens", "require-tokens", "TERRANE_REQUIRE_TOKENS"],
            flags.require_tokens,
            file.require_tokens,
            false,
        );
        let open = !require_tokens.value && listen.value.ip().is_loopback();
        let config = Config {
            engine,
            broker: broker(&picker, flags.broker, file.broker)?,
            job_lease: lease(&picker, JOB_LEASE, flags.job_lease, file.runner.job_lease.take())?,
            apply_lease: lease(&picker, APPLY_LEASE, flags.apply_lease, file.runner.apply_lease.take())?,
            runner: RunnerConfig::read(&picker, *flags.runner, file.runner, &data_dir.value, open),
            secrets_key: secrets_key(secrets_key_file, &database.value)?,
            listen,
            data_dir,
            database,
            require_tokens,
            tls_cert: picker.pick(
                ["tls_cert", "tls-cert", "TERRANE_TLS_CERT"],
                flags.tls_cert.map(Some),
                file.tls_cert.map(Some),
                None,
            ),
            tls_key: picker.pick(
                ["tls_key", "tls-key", "TERRANE_TLS_KEY"],
                flags.tls_key.map(Some),
                file.tls_key.map(Some),
                None,
            ),
            logs: LogConfig::read(&picker, flags.logs, file.log, file.log_format, file.otlp_endpoint)?,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> anyhow::Result<()> {
        if self.tls_cert.value.is_some() != self.tls_key.value.is_some() {
            bail!("TLS needs both --tls-cert and --tls-key");
        }
        Ok(())
    }

    /// Whether callers need a token.
    pub fn asks_for_tokens(&self) -> bool {
        self.require_tokens.value || !self.listen.value.ip().is_loopback()
    }

    pub fn leases(&self) -> Leases {
        Leases { before: self.job_lease.value, applying: self.apply_lease.value }
    }

    /// Name, value and origin of every setting; no secret among them.
    pub fn rows(&self) -> Vec<(&'static str, String, &Source)> {
        let path = |path: &Option<PathBuf>| path.as_ref().map_or("-".into(), |path| path.display().to_string());
        let mut rows = vec![
            ("listen", self.listen.value.to_string(), &self.listen.source),
            ("data_dir", self.data_dir.value.display().to_string(), &self.data_dir.source),
            ("database", self.database.value.to_string(), &self.database.source),
            ("require_tokens", self.require_tokens.value.to_string(), &self.require_tokens.source),
            ("tls_cert", path(&self.tls_cert.value), &self.tls_cert.source),
            ("tls_key", path(&self.tls_key.value), &self.tls_key.source),
            ("secrets_key", self.secrets_key.value.to_string(), &self.secrets_key.source),
        ];
        rows.extend(self.logs.rows());
        rows.extend(self.engine.rows());
        rows.extend(self.runner.rows());
        rows.push(("broker", self.broker.value.as_ref().map_or("-".into(), Broker::to_string), &self.broker.source));
        for (name, lease) in [("job_lease", &self.job_lease), ("apply_lease", &self.apply_lease)] {
            rows.push((name, format!("{}s", lease.value.as_secs_f64()), &lease.source));
        }
        rows
    }
}

pub(super) fn broker(
    picker: &Picker<'_>,
    given: Option<String>,
    in_file: Option<String>,
) -> anyhow::Result<Setting<Option<Broker>>> {
    let url = picker.pick(["broker", "broker", "TERRANE_BROKER"], given, in_file, String::new());
    let value = if url.value.is_empty() { None } else { Some(Broker::at(&url.value).context("--broker")?) };
    Ok(Setting { value, source: url.source })
}

fn parse_listen(text: &str) -> anyhow::Result<SocketAddr> {
    let numeric = text.strip_prefix("localhost:").map_or(text.to_string(), |port| format!("127.0.0.1:{port}"));
    numeric.parse().with_context(|| format!("--listen {text:?} is not ADDR:PORT, such as 127.0.0.1:8000"))
}

fn database(
    picker: &Picker<'_>,
    flags: DatabaseFlags,
    in_file: Option<String>,
    data_dir: &std::path::Path,
) -> anyhow::Result<Setting<Location>> {
    let embedded = Location::Sqlite(data_dir.join("terrane.db"));
    if flags.database.is_none() && flags.seed.is_given() {
        return Ok(Setting { value: flags.seed.location()?, source: Source::Environment("DB_*") });
    }
    let url = picker.pick(["database", "database", "TERRANE_DATABASE"], flags.database, in_file, String::new());
    if url.value.is_empty() {
        return Ok(Setting { value: embedded, source: Source::Default });
    }
    let location = Location::parse(&url.value).map_err(|error| anyhow::anyhow!("--database: {error}"))?;
    Ok(Setting { value: location, source: url.source })
}
