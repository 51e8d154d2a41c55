//! The configuration: parsed once, from flags, the environment and a file, each value with where it came from. Nothing
//! else reads the environment.

mod database;
mod engine;
mod file;
mod logs;
mod remote;
mod runner;
mod secrets;
mod settings;

pub use engine::EngineConfig;
pub use logs::LogConfig;
pub use remote::{RemoteConfig, RemoteFlags};
pub use runner::RunnerConfig;
pub use secrets::SecretsKey;
pub use settings::{Config, ServerFlags, Source};

/// A variable by its name, where it is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this module is where the environment is read")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether the user wants no colours (no-color.org).
#[expect(clippy::disallowed_methods, reason = "this module is where the environment is read")]
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The user's folder for configuration: contexts are kept there.
#[expect(clippy::disallowed_methods, reason = "this module is where the environment is read")]
pub fn user_config_dir() -> Option<std::path::PathBuf> {
    let from_xdg = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(std::path::PathBuf::from);
    Some(from_xdg.or_else(|| Some(std::env::home_dir()?.join(".config")))?.join("terrane"))
}

/// The first of these programs that is on the PATH.
#[expect(clippy::disallowed_methods, reason = "this module is where the environment is read")]
pub fn find_on_path(names: &[&str]) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).flat_map(|dir| names.iter().map(move |name| dir.join(name)));
    candidates.find(|candidate| candidate.is_file())
}
