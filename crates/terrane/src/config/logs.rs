//! Settings of what a process tells of itself.

use anyhow::bail;
use clap::Args;

use super::settings::{Picker, Setting, Source};

#[derive(Debug, Clone, Args)]
pub struct LogFlags {
    /// What to log, e.g. info or info,api=debug [default: info]
    #[arg(long, env = "TERRANE_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// pretty or json [default: pretty on a terminal, else json]
    #[arg(long, env = "TERRANE_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Send traces to this OTLP endpoint over HTTP, e.g. http://localhost:4318/v1/traces
    #[arg(long, env = "TERRANE_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
}

#[derive(Debug, Clone)]
pub struct LogConfig {
    pub log: Setting<String>,
    pub log_format: Setting<String>,
    pub otlp_endpoint: Setting<Option<String>>,
}

impl LogConfig {
    pub(super) fn read(
        picker: &Picker<'_>,
        flags: LogFlags,
        log: Option<String>,
        log_format: Option<String>,
        otlp_endpoint: Option<String>,
    ) -> anyhow::Result<LogConfig> {
        let text = |value: Option<String>| value.filter(|value| !value.is_empty());
        let config = LogConfig {
            log: picker.pick(["log", "log", "TERRANE_LOG"], text(flags.log), log, "info".into()),
            log_format: picker.pick(
                ["log_format", "log-format", "TERRANE_LOG_FORMAT"],
                text(flags.log_format),
                log_format,
                "auto".into(),
            ),
            otlp_endpoint: picker.pick(
                ["otlp_endpoint", "otlp-endpoint", "TERRANE_OTLP_ENDPOINT"],
                text(flags.otlp_endpoint).map(Some),
                otlp_endpoint.map(Some),
                None,
            ),
        };
        if !["auto", "pretty", "json"].contains(&config.log_format.value.as_str()) {
            bail!("--log-format is pretty or json, not {:?}", config.log_format.value);
        }
        Ok(config)
    }

    pub(super) fn rows(&self) -> Vec<(&'static str, String, &Source)> {
        vec![
            ("log", self.log.value.clone(), &self.log.source),
            ("log_format", self.log_format.value.clone(), &self.log_format.source),
            ("otlp_endpoint", self.otlp_endpoint.value.clone().unwrap_or("-".into()), &self.otlp_endpoint.source),
        ]
    }
}
