//! Settings of the controller and of what it carries operations out with.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;

use super::settings::{Picker, Setting, Source};

#[derive(Debug, Clone, Default, Args)]
pub struct EngineFlags {
    /// Plugin steps that execute at the same time in this process [default: 5]
    #[arg(long, env = "TERRANE_MAX_CONCURRENT_RECONCILES", value_name = "N", help_heading = "Reconciling")]
    pub max_concurrent_reconciles: Option<usize>,
    /// Of these, how many may be one tenant's [default: all]
    #[arg(long, env = "TERRANE_MAX_CONCURRENT_PER_TENANT", value_name = "N", help_heading = "Reconciling")]
    pub max_concurrent_per_tenant: Option<usize>,
    /// The longest rest between two looks at what is due [default: 60s]
    #[arg(long, env = "TERRANE_RECONCILE_INTERVAL", value_name = "TIME", help_heading = "Reconciling")]
    pub reconcile_interval: Option<String>,
    /// How often to look for drift [default: 5m]
    #[arg(long, env = "TERRANE_DRIFT_INTERVAL", value_name = "TIME", help_heading = "Reconciling")]
    pub drift_interval: Option<String>,
    /// The first pause after a failed operation; each further one doubles it [default: 1m]
    #[arg(long, env = "TERRANE_BACKOFF_BASE", value_name = "TIME", help_heading = "Reconciling")]
    pub backoff_base: Option<String>,
    /// The longest pause after a failed operation [default: 1024m]
    #[arg(long, env = "TERRANE_BACKOFF_CAP", value_name = "TIME", help_heading = "Reconciling")]
    pub backoff_cap: Option<String>,
    /// How long a claim holds without being renewed: the work of a dead controller is taken over after it [default: 10s]
    #[arg(long, env = "TERRANE_LEASE", value_name = "TIME", help_heading = "Reconciling")]
    pub lease: Option<String>,
    /// Let plugins call this host, host:port, address or network though it is not public; may be given several times
    #[arg(long, env = "TERRANE_ALLOW_OUTBOUND", value_name = "HOST", value_delimiter = ',', help_heading = "Plugins")]
    pub allow_outbound: Vec<String>,
    /// An action plugin behind an HTTP endpoint; may be given several times
    #[arg(long, env = "TERRANE_PLUGINS", value_name = "NAME=URL", value_delimiter = ',', help_heading = "Plugins")]
    pub plugin: Vec<String>,
    /// Where GitHub's API is, for resources that do not say [default: https://api.github.com]
    #[arg(long, env = "GITHUB_API_URL", value_name = "URL", help_heading = "Plugins")]
    pub github_api_url: Option<String>,
    /// Where GitLab's API is, for resources that do not say [default: https://gitlab.com/api/v4]
    #[arg(long, env = "GITLAB_API_URL", value_name = "URL", help_heading = "Plugins")]
    pub gitlab_api_url: Option<String>,
}

/// The same in the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineFile {
    pub max_concurrent_reconciles: Option<usize>,
    pub max_concurrent_per_tenant: Option<usize>,
    pub reconcile_interval: Option<Time>,
    pub drift_interval: Option<Time>,
    pub backoff_base: Option<Time>,
    pub backoff_cap: Option<Time>,
    pub lease: Option<Time>,
    pub allow_outbound: Option<Vec<String>>,
    pub plugins: Option<Vec<String>>,
    pub github_api_url: Option<String>,
    pub gitlab_api_url: Option<String>,
}

/// `60`, `60s`, `5m`, `2h`: a number alone is seconds.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Time {
    Seconds(u64),
    Text(String),
}

#[derive(Debug, Clone)]
pub struct EngineConfig {
    pub max_concurrent_reconciles: Setting<usize>,
    pub max_concurrent_per_tenant: Setting<usize>,
    pub reconcile_interval: Setting<Duration>,
    pub drift_interval: Setting<Duration>,
    pub backoff_base: Setting<Duration>,
    pub backoff_cap: Setting<Duration>,
    pub lease: Setting<Duration>,
    pub allow_outbound: Setting<Vec<String>>,
    pub plugins: Setting<Vec<(String, String)>>,
    pub github_api_url: Setting<String>,
    pub gitlab_api_url: Setting<String>,
}

impl EngineConfig {
    pub(super) fn read(picker: &Picker<'_>, flags: EngineFlags, file: EngineFile) -> anyhow::Result<EngineConfig> {
        let time = |names: [&'static str; 3], given: Option<String>, in_file: Option<Time>, default: &str| {
            let given = given.filter(|text| !text.is_empty()).map(Time::Text);
            let picked = picker.pick(names, given, in_file, Time::Text(default.into()));
            let value = to_duration(&picked.value).with_context(|| format!("--{}", names[1]))?;
            anyhow::Ok(Setting { value, source: picked.source })
        };
        let max = picker.pick(
            ["max_concurrent_reconciles", "max-concurrent-reconciles", "TERRANE_MAX_CONCURRENT_RECONCILES"],
            flags.max_concurrent_reconciles,
            file.max_concurrent_reconciles,
            5,
        );
        let plugins =
            picker.pick(["plugin", "plugin", "TERRANE_PLUGINS"], some(flags.plugin), file.plugins, Vec::new());
        let config = EngineConfig {
            max_concurrent_per_tenant: picker.pick(
                ["max_concurrent_per_tenant", "max-concurrent-per-tenant", "TERRANE_MAX_CONCURRENT_PER_TENANT"],
                flags.max_concurrent_per_tenant,
                file.max_concurrent_per_tenant,
                max.value,
            ),
            max_concurrent_reconciles: max,
            reconcile_interval: time(
                ["reconcile_interval", "reconcile-interval", "TERRANE_RECONCILE_INTERVAL"],
                flags.reconcile_interval,
                file.reconcile_interval,
                "60s",
            )?,
            drift_interval: time(
                ["drift_interval", "drift-interval", "TERRANE_DRIFT_INTERVAL"],
                flags.drift_interval,
                file.drift_interval,
                "5m",
            )?,
            backoff_base: time(
                ["backoff_base", "backoff-base", "TERRANE_BACKOFF_BASE"],
                flags.backoff_base,
                file.backoff_base,
                "1m",
            )?,
            backoff_cap: time(
                ["backoff_cap", "backoff-cap", "TERRANE_BACKOFF_CAP"],
                flags.backoff_cap,
                file.backoff_cap,
                "1024m",
            )?,
            lease: time(["lease", "lease", "TERRANE_LEASE"], flags.lease, file.lease, "10s")?,
            allow_outbound: picker.pick(
                ["allow_outbound", "allow-outbound", "TERRANE_ALLOW_OUTBOUND"],
                some(flags.allow_outbound),
                file.allow_outbound,
                Vec::new(),
            ),
            plugins: Setting { value: to_plugins(&plugins.value)?, source: plugins.source },
            github_api_url: picker.pick(
                ["github_api_url", "github-api-url", "GITHUB_API_URL"],
                flags.github_api_url.filter(|url| !url.is_empty()),
                file.github_api_url,
                "https://api.github.com".into(),
            ),
            gitlab_api_url: picker.pick(
                ["gitlab_api_url", "gitlab-api-url", "GITLAB_API_URL"],
                flags.gitlab_api_url.filter(|url| !url.is_empty()),
                file.gitlab_api_url,
                "https://gitlab.com/api/v4".into(),
            ),
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> anyhow::Result<()> {
        if self.max_concurrent_reconciles.value == 0 || self.max_concurrent_per_tenant.value == 0 {
            bail!("--max-concurrent-reconciles and --max-concurrent-per-tenant are at least 1");
        }
        if self.lease.value < Duration::from_secs(1) {
            bail!("--lease is at least 1s: a claim has to be renewed before it lapses");
        }
        if self.backoff_cap.value < self.backoff_base.value {
            bail!("--backoff-cap is not below --backoff-base");
        }
        Ok(())
    }

    pub(super) fn rows(&self) -> Vec<(&'static str, String, &Source)> {
        let time = |setting: &Setting<Duration>| format!("{}s", setting.value.as_secs_f64());
        let list = |items: Vec<String>| if items.is_empty() { "-".into() } else { items.join(",") };
        let plugins = self.plugins.value.iter().map(|(name, url)| format!("{name}={url}")).collect();
        vec![
            (
                "max_concurrent_reconciles",
                self.max_concurrent_reconciles.value.to_string(),
                &self.max_concurrent_reconciles.source,
            ),
            (
                "max_concurrent_per_tenant",
                self.max_concurrent_per_tenant.value.to_string(),
                &self.max_concurrent_per_tenant.source,
            ),
            ("reconcile_interval", time(&self.reconcile_interval), &self.reconcile_interval.source),
            ("drift_interval", time(&self.drift_interval), &self.drift_interval.source),
            ("backoff_base", time(&self.backoff_base), &self.backoff_base.source),
            ("backoff_cap", time(&self.backoff_cap), &self.backoff_cap.source),
            ("lease", time(&self.lease), &self.lease.source),
            ("allow_outbound", list(self.allow_outbound.value.clone()), &self.allow_outbound.source),
            ("plugins", list(plugins), &self.plugins.source),
            ("github_api_url", self.github_api_url.value.clone(), &self.github_api_url.source),
            ("gitlab_api_url", self.gitlab_api_url.value.clone(), &self.gitlab_api_url.source),
        ]
    }
}

/// A list that was given; an empty item is none.
pub(super) fn some<T: AsRef<std::ffi::OsStr>>(list: Vec<T>) -> Option<Vec<T>> {
    let list: Vec<_> = list.into_iter().filter(|item| !item.as_ref().is_empty()).collect();
    (!list.is_empty()).then_some(list)
}

pub(super) fn to_duration(time: &Time) -> anyhow::Result<Duration> {
    let text = match time {
        Time::Seconds(seconds) => return Ok(Duration::from_secs(*seconds)),
        Time::Text(text) => text,
    };
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let parsed: jiff::SignedDuration =
        text.parse().with_context(|| format!("{text:?} is no time; write 60, 60s, 5m or 2h"))?;
    Duration::try_from(parsed).with_context(|| format!("{text:?} lies in the past"))
}

fn to_plugins(texts: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    texts
        .iter()
        .map(|text| {
            let (name, url) = text.split_once('=').with_context(|| format!("--plugin {text:?} is not NAME=URL"))?;
            model::check_plugin_name("--plugin", name).map_err(|error| anyhow::anyhow!("{error}"))?;
            Ok((name.to_string(), url.to_string()))
        })
        .collect()
}
