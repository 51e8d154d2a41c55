//! Kubernetes, and Helm in it. Whether the cluster answers depends on whether its cloud still has it.

use serde_json::{Value as Json, json};

use crate::{
    protocol::Diagnostic,
    provider::{Request, Session},
    value,
};

use super::{Cloud, Refusal, host};

/// The cluster of a session that names none: always there.
const LOCAL: &str = "local";

pub struct Kubernetes;

impl Cloud for Kubernetes {
    fn begin(&self, session: &mut Session) -> Result<(), Diagnostic> {
        let named = [&session.config["host"], &session.config["kubernetes"]["host"]];
        // A plan may come before the cluster that the configuration speaks of.
        let waits = named.into_iter().chain([&session.config["kubernetes"]]).any(value::is_unknown);
        session.account = if waits { String::new() } else { host(&session.account) };
        Ok(())
    }

    fn reach(&self, request: &Request<'_>) -> Result<(), String> {
        let account = &request.session.account;
        if account == LOCAL || request.world.has_cluster(account) {
            return Ok(());
        }
        if account.is_empty() {
            return Err("Kubernetes cluster unreachable: its host is not known yet".to_owned());
        }
        Err(format!(
            "Kubernetes cluster unreachable: Get \"https://{account}/version\": dial tcp: lookup {account}: no such host"
        ))
    }

    fn data(&self, r#type: &str, request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        match r#type {
            "kubernetes_all_namespaces" => Some(namespaces(request)),
            _ => None,
        }
    }
}

fn namespaces(request: &Request<'_>) -> Result<Json, Refusal> {
    let made = request.objects("kubernetes_namespace_v1")?;
    let given = ["default", "kube-node-lease", "kube-public", "kube-system"].map(str::to_owned);
    let mut names: Vec<_> = made.iter().map(|object| object.name().to_owned()).chain(given).collect();
    names.sort();
    Ok(json!({ "namespaces": names }))
}
