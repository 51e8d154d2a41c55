//! Where the database is: a URL, or the five variables by which PostgreSQL has long been configured here.

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

/// `DB_HOST` and its kin; any of them selects PostgreSQL, the rest have defaults.
#[derive(Debug, Clone, Args)]
pub struct SeedDatabase {
    #[arg(long, env = "DB_HOST", hide = true)]
    pub db_host: Option<String>,
    #[arg(long, env = "DB_PORT", hide = true)]
    pub db_port: Option<u16>,
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

    pub fn location(&self) -> Location {
        let part = |given: &Option<String>, default: &str| encode(given.as_deref().unwrap_or(default));
        let host = self.db_host.as_deref().unwrap_or("localhost");
        let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_string() };
        Location::Postgres(format!(
            "postgres://{}:{}@{host}:{}/{}",
            part(&self.db_user, "operator"),
            part(&self.db_password, "operator"),
            self.db_port.unwrap_or(5432),
            part(&self.db_name, "operator_controller"),
        ))
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
