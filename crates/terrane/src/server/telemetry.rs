//! Logs for the person at 3 a.m., traces for whoever collects them. Logs go to standard error.

use std::io::IsTerminal;

use anyhow::Context;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{LogConfig, no_color};

/// Keeps the exporter; ending it sends what is left.
pub struct Telemetry(Option<SdkTracerProvider>);

pub fn start(config: &LogConfig) -> anyhow::Result<Telemetry> {
    let filter = EnvFilter::try_new(&config.log.value).with_context(|| format!("--log {:?}", config.log.value))?;
    let pretty = match config.log_format.value.as_str() {
        "pretty" => true,
        "json" => false,
        _ => std::io::stderr().is_terminal(),
    };
    let format = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = if pretty {
        format.with_target(false).with_ansi(std::io::stderr().is_terminal() && !no_color()).boxed()
    } else {
        format.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
    };
    let provider = config.otlp_endpoint.value.as_deref().map(exporter).transpose()?;
    let traces =
        provider.as_ref().map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer("terrane")));
    tracing_subscriber::registry().with(filter).with(lines).with(traces).try_init()?;
    Ok(Telemetry(provider))
}

fn exporter(endpoint: &str) -> anyhow::Result<SdkTracerProvider> {
    let exporter = SpanExporter::builder().with_http().with_endpoint(endpoint).build().context("--otlp-endpoint")?;
    let resource = Resource::builder().with_service_name("terrane").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

impl Telemetry {
    pub fn end(self) {
        if let Some(provider) = self.0
            && let Err(error) = provider.shutdown()
        {
            eprintln!("the last traces were not sent: {error}");
        }
    }
}
