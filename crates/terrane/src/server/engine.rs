//! The reconcile engine as this process runs it: plugins, the door, keys, and the controller itself.

use std::sync::Arc;

use anyhow::Context;
use api::Plugin;
use controller::plugins::actions::github_actions::GithubSettings;
use controller::plugins::actions::gitlab_pipeline::GitlabSettings;
use controller::plugins::{Door, DoorPolicy, Registry, Remote, actions};
use controller::{Controller, Keyring, Live, Settings, Tools};
use model::Ladder;
use secrecy::SecretString;
use store::Store;

use crate::config::{Config, EngineConfig, Source, variable};

/// A controller that is ready to run, and what the API shows of it.
pub struct Engine {
    pub controller: Arc<Controller>,
    pub face: api::Engine,
}

pub fn build(config: &Config, store: &Store, keyring: Option<Arc<Keyring>>) -> anyhow::Result<Engine> {
    let registry = Arc::new(registry(&config.engine)?);
    let door = Door::new(DoorPolicy::allowing(allowed(&config.engine)?));
    let tools = Tools { registry: registry.clone(), door, keyring: keyring.clone() };
    let controller = Controller::new(store.clone(), tools, settings(&config.engine));
    let metrics = controller.metrics();
    let remote: Vec<(String, String)> = config.engine.plugins.value.clone();
    let face = api::Engine {
        actions: Arc::new(move || {
            let origin = |name: &str| remote.iter().find(|(known, _)| known == name).map(|(_, url)| host(url));
            let plugin = |descriptor: model::plugin::Descriptor| match origin(&descriptor.name) {
                Some(origin) => Plugin { descriptor, origin },
                None => Plugin::built_in(descriptor),
            };
            registry.descriptors().into_iter().map(plugin).collect()
        }),
        keyring,
        metrics: Some(Box::new(move |registry| metrics.register(registry))),
        live: Live::default(),
        leases: config.leases(),
    };
    Ok(Engine { controller, face })
}

fn settings(config: &EngineConfig) -> Settings {
    Settings {
        max_concurrent_reconciles: config.max_concurrent_reconciles.value,
        max_concurrent_per_tenant: config.max_concurrent_per_tenant.value,
        reconcile_interval: config.reconcile_interval.value,
        drift_interval: config.drift_interval.value,
        ladder: Ladder { base: config.backoff_base.value, cap: config.backoff_cap.value },
        lease: config.lease.value,
        ..Settings::default()
    }
}

fn registry(config: &EngineConfig) -> anyhow::Result<Registry> {
    let mut registry = Registry::builtin(actions::Settings {
        github: GithubSettings { token: token("GITHUB_TOKEN"), api_url: config.github_api_url.value.clone() },
        gitlab: GitlabSettings { token: token("GITLAB_TOKEN"), api_url: config.gitlab_api_url.value.clone() },
    });
    for (name, url) in &config.plugins.value {
        // The operator said where it is: that door leads there and nowhere else that is not public.
        let door = Door::new(DoorPolicy::allowing([authority(url)?]));
        registry.register(Arc::new(Remote::connect(name.clone(), url.clone(), token("TERRANE_PLUGIN_TOKEN"), door)));
    }
    Ok(registry)
}

/// What the operator lets through, and the API addresses that the operator chose.
fn allowed(config: &EngineConfig) -> anyhow::Result<Vec<String>> {
    let mut allowed = config.allow_outbound.value.clone();
    for url in [&config.github_api_url, &config.gitlab_api_url] {
        if url.source != Source::Default {
            allowed.push(authority(&url.value)?);
        }
    }
    Ok(allowed)
}

fn token(name: &str) -> Option<SecretString> {
    variable(name).map(SecretString::from)
}

/// `host:port` of a URL.
fn authority(url: &str) -> anyhow::Result<String> {
    let parsed = reqwest::Url::parse(url).with_context(|| format!("{url:?} is no URL"))?;
    let host = parsed.host_str().with_context(|| format!("{url:?} names no host"))?;
    let port = parsed.port_or_known_default().with_context(|| format!("{url:?} names no port"))?;
    Ok(format!("{host}:{port}"))
}

fn host(url: &str) -> String {
    authority(url).unwrap_or_else(|_| url.to_string())
}
