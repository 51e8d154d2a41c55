//! One root module per provider, written as for the real one: from nothing to a cluster, through drift and growth, to
//! nothing again.

use serde_json::{Value, json};

use crate::rig::{Rig, Stack};

/// Which object is changed by hand, and how.
struct Drift<'a> {
    r#type: &'a str,
    name: &'a str,
    assignment: &'a str,
}

/// The whole life of a root whose variable `desired` can be raised.
fn life(root: &str, drift: &Drift<'_>) -> (Rig, Stack) {
    let rig = Rig::new();
    let stack = rig.root("stack", root);
    stack.succeeds(&["validate"]);
    stack.succeeds(&["plan"]);
    assert!(!rig.path("world").join("ledger.jsonl").exists(), "a plan changes nothing");
    stack.apply();
    assert!(!stack.has_changes(), "{}", stack.succeeds(&["plan"]));

    let object = named(&rig, drift);
    rig.cloudsim(&["edit", &rig.world(), object["id"].as_str().expect("an id"), drift.assignment]);
    assert!(stack.has_changes(), "{} is not found", drift.assignment);
    stack.apply();
    assert!(!stack.has_changes(), "{}", stack.succeeds(&["plan"]));

    let grown = stack.succeeds(&["apply", "-auto-approve", "-var", "desired=3"]);
    assert!(grown.contains("0 destroyed"), "{grown}");
    assert!(!grown.contains("0 added, 0 changed"), "{grown}");
    (rig, stack)
}

/// Nothing is left, neither in the state nor in the cloud.
fn end(rig: &Rig, stack: &Stack) {
    stack.destroy();
    assert_eq!(stack.state().len(), 0);
    assert_eq!(rig.objects(), Vec::<Value>::new());
}

fn named(rig: &Rig, drift: &Drift<'_>) -> Value {
    let mut objects = rig.objects().into_iter();
    let found = objects.find(|object| object["type"] == drift.r#type && object["name"] == drift.name);
    found.unwrap_or_else(|| panic!("there is no {} {}", drift.r#type, drift.name))
}

#[test]
fn aws() {
    let drift = Drift { r#type: "aws_vpc", name: "main", assignment: "tags.Name=by-hand" };
    let (rig, stack) = life(include_str!("../roots/aws.tf"), &drift);
    let endpoint = stack.output("endpoint");
    assert!(endpoint.as_str().unwrap().ends_with(".gr7.eu-central-1.eks.amazonaws.com"), "{endpoint}");
    assert_eq!(stack.output("account"), "123456789012");
    let vpc = stack.attributes("aws_vpc.main");
    assert_eq!(vpc["tags_all"], json!({ "owner": "terrane", "Name": "main" }));
    assert_eq!(vpc["arn"], format!("arn:aws:ec2:eu-central-1:123456789012:vpc/{}", vpc["id"].as_str().unwrap()));
    assert!(stack.output("tagged").as_u64().unwrap() >= 8, "what has tags is found by them");
    let role: Value =
        serde_json::from_str(stack.attributes("aws_iam_role.cluster")["assume_role_policy"].as_str().unwrap()).unwrap();
    assert_eq!(role["Statement"][0]["Principal"], json!({ "Service": "eks.amazonaws.com" }));
    end(&rig, &stack);
}

#[test]
fn google() {
    let drift = Drift { r#type: "google_container_node_pool", name: "main", assignment: "node_count=9" };
    let (rig, stack) = life(include_str!("../roots/google.tf"), &drift);
    assert_eq!(stack.output("networks"), json!(["demo"]));
    assert_eq!(stack.output("ca"), true);
    assert_eq!(stack.output("number").as_str().map(str::len), Some(12));
    let pool = stack.attributes("google_container_node_pool.main");
    assert_eq!(pool["id"], "projects/demo-project/locations/europe-west1/clusters/demo/nodePools/main");
    assert_eq!(pool["node_count"], 3);
    end(&rig, &stack);
}

#[test]
fn azurerm() {
    let drift = Drift { r#type: "azurerm_virtual_network", name: "demo", assignment: "tags.owner=somebody" };
    let (rig, stack) = life(include_str!("../roots/azurerm.tf"), &drift);
    assert_eq!(stack.attributes("azurerm_resource_group.main")["location"], "westeurope");
    assert!(stack.output("endpoint").as_str().unwrap().ends_with(".hcp.westeurope.azmk8s.io:443"));
    assert_eq!(stack.output("tagged"), 2);
    end(&rig, &stack);
}

#[test]
fn digitalocean() {
    let drift =
        Drift { r#type: "digitalocean_kubernetes_cluster", name: "demo", assignment: "node_pool.0.node_count=7" };
    let (rig, stack) = life(include_str!("../roots/digitalocean.tf"), &drift);
    assert!(stack.output("endpoint").as_str().unwrap().ends_with(".k8s.ondigitalocean.com"));
    end(&rig, &stack);
}

#[test]
fn linode() {
    let drift = Drift { r#type: "linode_lke_cluster", name: "demo", assignment: "pool.0.count=7" };
    let (rig, stack) = life(include_str!("../roots/linode.tf"), &drift);
    let look = "data \"linode_vpcs\" \"all\" {}\noutput \"vpcs\" { value = data.linode_vpcs.all.vpcs[*].label }\n";
    let provider = include_str!("../roots/linode.tf").split("variable").next().unwrap();
    let looking = rig.root("looking", &(provider.to_owned() + look));
    looking.apply();
    assert_eq!(looking.output("vpcs"), json!(["demo"]));
    assert!(stack.output("versions").as_array().unwrap().contains(&json!("1.33")));
    let kubeconfig = stack.output("kubeconfig");
    assert!(kubeconfig.as_str().unwrap().contains(".linodelke.net:443"), "{kubeconfig}");
    end(&rig, &stack);
}

#[test]
fn kubernetes() {
    let drift = Drift { r#type: "kubernetes_config_map_v1", name: "demo", assignment: "data.key=other" };
    let (rig, stack) = life(include_str!("../roots/kubernetes.tf"), &drift);
    assert!(stack.output("namespaces").as_array().unwrap().contains(&json!("demo")));
    assert_eq!(stack.attributes("kubernetes_manifest.main")["object"]["spec"]["size"], 3);
    end(&rig, &stack);
}

#[test]
fn helm() {
    let drift = Drift { r#type: "helm_release", name: "ingress", assignment: "version=4.0.0" };
    let (rig, stack) = life(include_str!("../roots/helm.tf"), &drift);
    assert_eq!(stack.output("status"), "deployed");
    end(&rig, &stack);
}
