//! A template of two clouds and three components, small enough to read.

use nova::{Blueprint, Catalogue, Interface, Interfaces, Takes};
use serde_json::json;

pub const BLUEPRINT: &str = r#"
template: sample
version: 1.2.0
kind: Cluster
title: Sample cluster
description: Two clouds, three components.
providers:
  near:
    defaults: {size: small, kubernetes_version: "1.33"}
    root: |
      terraform {
        required_version = ">= 1.5"
      }
  far:
    defaults: {size: large, kubernetes_version: "1.32"}
    limits: {node_count: {maximum: 20}}
    root: |
      terraform {
        required_version = ">= 1.5"
      }
variables:
  type: object
  required: [provider, region]
  properties:
    provider: {type: string, title: Cloud}
    region: {type: string, title: Region}
    node_count: {type: integer, minimum: 1, maximum: 100, default: 3, title: Nodes, x-unit: nodes}
    size: {type: string, title: Size of a node}
    kubernetes_version: {type: string}
    high_availability: {type: boolean, default: false}
    enable_monitoring: {type: boolean, default: true}
    tags: {type: object, additionalProperties: {type: string}, default: {}}
catalogue: {region: region, instance_type: size, kubernetes_version: kubernetes_version}
rules:
  - check: "!spec.high_availability || spec.node_count >= 3"
    field: node_count
    message: high availability needs at least 3 nodes
changes:
  - check: spec.region == old.region
    field: region
    message: a cluster stays in its region; make another one there
  - check: int(spec.kubernetes_version.split('.')[1]) >= int(old.kubernetes_version.split('.')[1])
    field: kubernetes_version
    message: a cluster does not go back to an older version
components:
  - name: monitoring
    module: monitoring
    version: 1.0.0
    when: spec.enable_monitoring
    after: [kubernetes]
    inputs: {endpoint: {from: kubernetes.endpoint}, retention: 14, labels: {"team a": "x${y}"}}
  - name: kubernetes
    module: PROVIDER/kubernetes
    version: 1.0.0
    inputs:
      cluster_name: {var: cluster_name}
      network_id: {from: network.network_id}
      node_count: {var: node_count}
  - name: network
    module: PROVIDER/network
    version: 1.0.0
    inputs: {cluster_name: {var: cluster_name}, region: {var: region}, ownership: {var: ownership}}
outputs:
  endpoint: {from: kubernetes.endpoint, description: Where the API answers}
  token: {from: kubernetes.token, description: Who may talk to it, sensitive: true}
  dashboard: {from: monitoring.dashboard, description: Where to look}
"#;

pub fn blueprint() -> Blueprint {
    Blueprint::read(BLUEPRINT).expect("a blueprint")
}

pub fn catalogues() -> Vec<Catalogue> {
    let text = |provider: &str, title: &str, region: &str| {
        format!(
            "provider: {provider}\ntitle: {title}\nas_of: 2026-01-01\n\
             regions: [{{id: {region}-1, title: One, zones: 3}}, {{id: {region}-2, title: Two, zones: 1}}]\n\
             instance_types: [{{id: small, vcpus: 2, memory_gib: 4}}, {{id: large, vcpus: 8, memory_gib: 32}}, \
             {{id: other, vcpus: 8, memory_gib: 30, only_in: [{region}-2]}}]\n\
             kubernetes_versions: [{{id: '1.33', default: true}}, {{id: '1.32'}}]\n"
        )
    };
    [text("near", "Nearby", "here"), text("far", "Faraway", "there")]
        .iter()
        .map(|text| Catalogue::read(text).expect("a catalogue"))
        .collect()
}

pub fn interfaces() -> Interfaces {
    let module = |inputs: &[(&str, bool)], outputs: &[&str]| Interface {
        version: "1.0.0".parse().expect("a version"),
        inputs: inputs
            .iter()
            .map(|(name, required)| ((*name).to_owned(), Takes { kind: "any".into(), required: *required }))
            .collect(),
        outputs: outputs.iter().map(|name| (*name).to_owned()).collect(),
    };
    let network = module(&[("cluster_name", true), ("region", true), ("ownership", false)], &["network_id"]);
    let kubernetes =
        module(&[("cluster_name", true), ("network_id", true), ("node_count", false)], &["endpoint", "token"]);
    let monitoring = module(&[("endpoint", true), ("retention", false), ("labels", false)], &["dashboard"]);
    [
        ("near/network", network.clone()),
        ("far/network", network),
        ("near/kubernetes", kubernetes.clone()),
        ("far/kubernetes", kubernetes),
        ("monitoring", monitoring),
    ]
    .into_iter()
    .map(|(path, module)| (path.to_owned(), module))
    .collect()
}

pub fn spec() -> serde_json::Value {
    json!({ "provider": "near", "region": "here-1" })
}
