//! Clusters, and what is in them: made by a cloud, filled by Kubernetes and Helm, and gone with all they hold.

use serde_json::Value;

use crate::rig::{Rig, eventually};

const PROVIDERS: &str = r#"
    terraform {
      required_providers {
        digitalocean = { source = "digitalocean/digitalocean" }
        kubernetes   = { source = "hashicorp/kubernetes" }
        helm         = { source = "hashicorp/helm" }
      }
    }
    provider "digitalocean" {}
    provider "kubernetes" {
      host  = digitalocean_kubernetes_cluster.main.endpoint
      token = digitalocean_kubernetes_cluster.main.kube_config[0].token
    }
    provider "helm" {
      kubernetes = {
        host = digitalocean_kubernetes_cluster.main.endpoint
      }
    }
"#;
const CLUSTER: &str = r#"
    resource "digitalocean_kubernetes_cluster" "main" {
      name    = "demo"
      region  = "fra1"
      version = "1.33.6-do.0"
      node_pool {
        name       = "main"
        size       = "s-2vcpu-4gb"
        node_count = 1
      }
    }
"#;
const INSIDE: &str = r#"
    resource "kubernetes_namespace_v1" "main" {
      metadata {
        name = "demo"
      }
    }
    resource "helm_release" "main" {
      name      = "web"
      chart     = "web"
      namespace = kubernetes_namespace_v1.main.metadata[0].name
    }
"#;

#[test]
fn a_cluster_and_what_is_in_it_are_made_by_one_apply() {
    let rig = Rig::new();
    let stack = rig.root("stack", &[PROVIDERS, CLUSTER, INSIDE].concat());
    stack.apply();
    assert!(!stack.has_changes());
    assert_eq!(rig.objects().len(), 3);
    stack.destroy();
    assert_eq!(rig.objects().len(), 0);
}

#[test]
fn what_is_in_a_cluster_goes_with_it_and_a_lost_cluster_does_not_answer() {
    let rig = Rig::new();
    let output = r#"output "endpoint" { value = digitalocean_kubernetes_cluster.main.endpoint }"#;
    let cloud = rig.root("cloud", &[PROVIDERS, CLUSTER, output].concat());
    cloud.apply();
    let endpoint = cloud.output("endpoint");
    let inside = rig.root(
        "inside",
        &format!("provider \"kubernetes\" {{\n  host = {endpoint}\n}}\nprovider \"helm\" {{\n  kubernetes = {{ host = {endpoint} }}\n}}\n{INSIDE}"),
    );
    inside.apply();
    assert_eq!(rig.objects().len(), 3);
    cloud.destroy();
    assert_eq!(rig.objects().len(), 0);
    let refused = inside.fails(&["plan"]);
    assert!(refused.contains("no such host"), "{refused}");
    assert_eq!(inside.state().len(), 2, "what cannot be reached is not forgotten");
}

#[test]
fn a_cluster_takes_its_time_and_whoever_dies_does_not_stop_it() {
    let rig = Rig::new();
    // Six minutes in three seconds.
    rig.cloudsim(&["pace", &rig.world(), "120"]);
    let stack = rig.root("stack", &[PROVIDERS, CLUSTER].concat());
    let mut terraform = stack.start(&["apply", "-auto-approve"]);
    eventually("the create begins", || rig.object("demo"), |cluster| cluster["status"] == "creating");
    terraform.kill().unwrap();
    terraform.wait().unwrap();
    eventually("the cluster is ready", || rig.object("demo"), |cluster| cluster["status"] == "ready");
    assert_eq!(stack.state(), Vec::<String>::new(), "it is in the cloud and in no state");

    rig.cloudsim(&["pace", &rig.world(), "instant"]);
    let refused = stack.apply_fails();
    assert!(refused.contains("a cluster with this name already exists"), "{refused}");
    stack.succeeds(&["import", "digitalocean_kubernetes_cluster.main", "demo"]);
    assert!(!stack.has_changes());
    stack.destroy();
    assert_eq!(rig.object("demo"), Value::Null);
}

#[test]
fn another_credential_is_another_account() {
    let rig = Rig::new();
    let root = |token: &str| {
        format!(
            r#"
            terraform {{
              required_providers {{
                digitalocean = {{ source = "digitalocean/digitalocean" }}
              }}
            }}
            provider "digitalocean" {{
              token = "{token}"
            }}
            data "digitalocean_tags" "all" {{}}
            resource "digitalocean_tag" "mine" {{
              name = "mine"
            }}
            output "seen" {{ value = length(data.digitalocean_tags.all.tags) }}
            "#
        )
    };
    let [one, other] = ["one", "other"].map(|token| rig.root(token, &root(token)));
    one.apply();
    other.apply();
    assert_eq!(other.output("seen"), 0, "the other does not see the first one's");
    let accounts: Vec<_> = rig.objects().iter().map(|object| object["account"].clone()).collect();
    assert_eq!(accounts.len(), 2);
    assert_ne!(accounts[0], accounts[1]);
    let world = rig.objects().iter().map(Value::to_string).collect::<String>();
    assert!(!world.contains("\"one\""), "the account does not tell the credential");
}
