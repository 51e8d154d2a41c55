//! What Prometheus reads at `/metrics`. Labels are bounded: routes are templates, never paths.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use store::WriterStats;

use crate::engine::Register;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

pub struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    durations: Family<Route, Histogram>,
    pub watchers: Gauge,
    commits: Counter<u64, AtomicU64>,
    writes: Counter<u64, AtomicU64>,
    waiting: Gauge,
    tasks: Gauge,
}

impl Metrics {
    /// The API's own, and those that somebody else registers.
    pub fn with(others: Option<Register>) -> Self {
        let mut registry = Registry::with_prefix("terrane");
        let requests = Family::default();
        let durations: Family<Route, Histogram> = Family::new_with_constructor(|| Histogram::new(SECONDS));
        let (watchers, waiting, tasks) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (commits, writes) = (Counter::default(), Counter::default());
        let build: Family<Build, Gauge> = Family::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build", "The program's version", build);
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_duration_seconds", "Time to answer a request", durations.clone());
        registry.register("watchers", "Watch streams open", watchers.clone());
        registry.register("store_commits", "Groups of writes committed", commits.clone());
        registry.register("store_writes", "Writes committed", writes.clone());
        registry.register("store_writes_waiting", "Writes waiting for the next commit", waiting.clone());
        registry.register("tasks", "Tasks alive in the process", tasks.clone());
        if let Some(register) = others {
            register(&mut registry);
        }
        Metrics { registry, requests, durations, watchers, commits, writes, waiting, tasks }
    }

    pub fn observe(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let method = name(method);
        self.requests.get_or_create(&Answered { method, route: route.into(), status }).inc();
        self.durations.get_or_create(&Route { method, route: route.into() }).observe(took.as_secs_f64());
    }

    /// The exposition text, with the store's own counts brought up to date.
    pub fn text(&self, store: WriterStats) -> String {
        self.commits.inc_by(store.groups.saturating_sub(self.commits.get()));
        self.writes.inc_by(store.writes.saturating_sub(self.writes.get()));
        self.waiting.set(store.waiting as i64);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.tasks.set(runtime.metrics().num_alive_tasks() as i64);
        }
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "OTHER",
    }
}
