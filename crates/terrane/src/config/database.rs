//! Where the database is: a URL, or the five variables by which PostgreSQL has long been configured here.

use anyhow::Context;
use clap::Args;
use store::Location;

#[derive(Debug, Clone, Args)]
pub struct DatabaseFlags {
    /// The database: sqlite:FILE, or postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "TERRANE_DATABASE", value_name = "URL", hide_env_values = true)]
    pub database: Option<String>,
    #[command(flatten)]
    pub seed: SeedDatabase,
}

impl DatabaseFlags {
    pub fn without_empty(self) -> Self {
        let text = |value: Option<String>| value.filter(|value| !value.is_empty());
        let SeedDatabase { db_host, db_port, db_name, db_user, db_password } = self.seed;
        DatabaseFlags {
            database: text(self.database),
            seed: SeedDatabase {
                db_host: text(db_host),
                db_port: text(db_port),
                db_name: text(db_name),
                db_user: text(db_user),
                db_password: text(db_password),
            },
        }
    }
}

/// `DB_HOST` and its kin; any of them selects PostgreSQL, the rest have defaults.
#[derive(Debug, Clone, Args)]
pub struct SeedDatabase {
    #[arg(long, env = "DB_HOST", hide = true)]
    pub db_host: Option<String>,
    #[arg(long, env = "DB_PORT", hide = true)]
    pub db_port: Option<String>,
    #[arg(long, env = "DB_NAME", hide = true)]
    pub db_name: Option<String>,
    #[arg(long, env = "DB_USER", hide = true)]
    pub db_user: Option<String>,
    #[arg(long, env = "DB_PASSWORD", hide = true, hide_env_values = true)]
    pub db_password: Option<String>,
}

impl SeedDatabase {
    pub fn is_given(&self) -> bool {
        self.db_host.is_some()
            || self.db_port.is_some()
            || self.db_name.is_some()
            || self.db_user.is_some()
            || self.db_password.is_some()
    }

    pub fn location(&self) -> anyhow::Result<Location> {
        let part = |given: &Option<String>, default: &str| encode(given.as_deref().unwrap_or(default));
        let host = self.db_host.as_deref().unwrap_or("localhost");
        let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_string() };
        let port = self.db_port.as_deref().unwrap_or("5432");
        let port: u16 = port.parse().with_context(|| format!("DB_PORT {port:?} is not a port"))?;
        Ok(Location::Postgres(format!(
            "postgres://{}:{}@{host}:{}/{}",
            part(&self.db_user, "operator"),
            part(&self.db_password, "operator"),
            port,
            part(&self.db_name, "operator_controller"),
        )))
    }
}

/// Percent-encode all that could be taken for a part of the URL.
fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
