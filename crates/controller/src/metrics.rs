//! What there is to measure. Labels are bounded: plugins are those that are registered, the rest are enums.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use model::OperationKind;
use model::plugin::Step;
use model::reconcile::{End, Report};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use store::Claim;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OperationLabels {
    kind: String,
    /// succeeded or failed.
    result: String,
    /// Of a failure; empty otherwise.
    class: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct CallLabels {
    plugin: String,
    step: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KindLabels {
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ClassLabels {
    class: String,
}

pub struct Metrics {
    operations: Family<OperationLabels, Counter>,
    alerts: Family<ClassLabels, Counter>,
    durations: Family<KindLabels, Histogram, fn() -> Histogram>,
    calls: Family<CallLabels, Histogram, fn() -> Histogram>,
    active: Family<KindLabels, Gauge>,
    pub claims_lost: Counter,
    pub queue_depth: Gauge,
    pub oldest_due: Gauge<f64, AtomicU64>,
    pub leading: Gauge,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.5, 14))
}

/// From a tenth of a second to the better part of a day.
fn long() -> Histogram {
    Histogram::new(exponential_buckets(0.1, 3.0, 13))
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            operations: Family::default(),
            alerts: Family::default(),
            durations: Family::new_with_constructor(long),
            calls: Family::new_with_constructor(seconds),
            active: Family::default(),
            claims_lost: Counter::default(),
            queue_depth: Gauge::default(),
            oldest_due: Gauge::default(),
            leading: Gauge::default(),
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "operations",
            "Operations that ended, by kind, result and class of failure",
            self.operations.clone(),
        );
        registry.register(
            "alerts",
            "Operations that failed so that a person should know at once, by class of failure",
            self.alerts.clone(),
        );
        registry.register(
            "operation_duration_seconds",
            "From the start of an operation to its end, waiting included",
            self.durations.clone(),
        );
        registry.register("plugin_call_duration_seconds", "One call of a plugin", self.calls.clone());
        registry.register("active_operations", "Claims that execute now in this process", self.active.clone());
        registry.register("claims_lost", "Claims that lapsed under this process", self.claims_lost.clone());
        registry.register("queue_depth", "Resources that are due, as the leader sees it", self.queue_depth.clone());
        registry.register("queue_oldest_due_seconds", "How long the first of them has waited", self.oldest_due.clone());
        registry.register("leading", "1 in the controller that leads", self.leading.clone());
    }

    /// Counts as active until dropped.
    pub(crate) fn begin(&self, kind: OperationKind) -> Active {
        let gauge = self.active.get_or_create(&KindLabels { kind: kind.as_str().into() }).clone();
        gauge.inc();
        Active(gauge)
    }

    pub(crate) fn called(&self, plugin: &str, step: Step, took: Duration) {
        let labels = CallLabels { plugin: plugin.into(), step: step.as_str().into() };
        self.calls.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(crate) fn ended(&self, claim: &Claim, report: &Report) {
        let (result, class) = match &report.end {
            End::Succeeded { .. } | End::Destroyed | End::Observed { .. } => ("succeeded", ""),
            End::Failed { failure } => ("failed", failure.class.as_str()),
            End::Waits { .. } | End::Noted | End::HandedBack => return,
        };
        if let End::Failed { failure } = &report.end
            && failure.alert
        {
            self.alerts.get_or_create(&ClassLabels { class: class.into() }).inc();
        }
        let kind = claim.operation.body.kind.as_str().to_string();
        let labels = OperationLabels { kind: kind.clone(), result: result.into(), class: class.into() };
        self.operations.get_or_create(&labels).inc();
        let now = jiff::Timestamp::now().as_microsecond();
        let took = (now - claim.operation.body.started_at.as_microsecond()).max(0);
        self.durations.get_or_create(&KindLabels { kind }).observe(took as f64 / 1e6);
    }
}

pub(crate) struct Active(Gauge);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.dec();
    }
}
