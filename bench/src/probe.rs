//! A plugin that only notes when it was called.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

type Calls = Arc<Mutex<HashMap<String, Instant>>>;

pub struct Probe {
    pub address: SocketAddr,
    calls: Calls,
}

impl Probe {
    pub async fn listen() -> anyhow::Result<Probe> {
        let calls = Calls::default();
        let router = Router::new().route("/", get(describe).post(call)).with_state(calls.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Probe { address, calls })
    }

    /// As `--plugin` takes it.
    pub fn flag(&self) -> String {
        format!("probe=http://{}/", self.address)
    }

    /// When it was first called for this resource.
    pub async fn called(&self, name: &str) -> anyhow::Result<Instant> {
        let started = Instant::now();
        loop {
            if let Some(at) = self.calls.lock().map_err(|_| anyhow::anyhow!("a caller panicked"))?.get(name) {
                return Ok(*at);
            }
            anyhow::ensure!(started.elapsed().as_secs() < 60, "the plugin was never called for {name}");
            tokio::time::sleep(std::time::Duration::from_micros(200)).await;
        }
    }
}

async fn describe() -> Json<Value> {
    Json(json!({
        "name": "probe", "version": "1", "contracts": ["terrane.plugin/v1"], "steps": ["validate"], "config_schema": {},
    }))
}

async fn call(State(calls): State<Calls>, Json(call): Json<Value>) -> Json<Value> {
    let now = Instant::now();
    let name = call["resource"]["name"].as_str().unwrap_or_default().to_string();
    if let Ok(mut calls) = calls.lock() {
        calls.entry(name).or_insert(now);
    }
    Json(json!({ "result": "done" }))
}
