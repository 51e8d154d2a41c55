use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use nova::{Root, check, render};
use serde_json::{Value, json};

use crate::sample::{blueprint, catalogues};

fn root(spec: Value) -> Root {
    let wish = check(&blueprint(), &catalogues(), &spec).expect("a wish");
    let ownership = BTreeMap::from([("terrane-tenant".to_owned(), "acme".to_owned())]);
    render(&blueprint(), &wish, "prod", &ownership).expect("a root")
}

#[test]
fn components_stand_in_the_order_in_which_they_need_each_other() {
    let root = root(json!({ "provider": "far", "region": "there-1" }));
    let main = &root.files["main.tf"];
    let place = |text: &str| main.find(text).unwrap_or_else(|| panic!("no {text} in {main}"));
    assert!(place("module \"network\"") < place("module \"kubernetes\""));
    assert!(place("module \"kubernetes\"") < place("module \"monitoring\""));
    assert!(main.contains("network_id   = module.network.network_id\n"), "{main}");
    assert!(main.contains(r#"labels    = { "team a" = "x$${y}" }"#), "{main}");
    assert!(main.contains("  depends_on = [module.kubernetes]\n"), "{main}");
    assert_eq!(
        root.modules.iter().map(String::as_str).collect::<Vec<_>>(),
        ["far/kubernetes", "far/network", "monitoring"]
    );
    assert_eq!(root.variables["cluster_name"], "prod");
}

#[test]
fn what_is_not_wanted_is_not_there() {
    let root = root(json!({ "provider": "near", "region": "here-1", "enable_monitoring": false }));
    assert!(!root.files["main.tf"].contains("monitoring"));
    assert!(!root.files["outputs.tf"].contains("dashboard"));
    assert!(!root.modules.contains("monitoring"));
}

const NETWORK: &str = r#"
variable "cluster_name" { type = string }
variable "region" { type = string }
variable "ownership" { type = map(string) }
resource "terraform_data" "network" { input = var.ownership }
output "network_id" { value = "${var.cluster_name}-${var.region}" }
"#;
const KUBERNETES: &str = r#"
variable "cluster_name" { type = string }
variable "network_id" { type = string }
variable "node_count" { type = number }
output "endpoint" { value = "https://${var.network_id}.${var.node_count}" }
output "token" {
  value     = "t"
  sensitive = true
}
"#;
const MONITORING: &str = r#"
variable "endpoint" { type = string }
variable "retention" { type = number }
variable "labels" { type = map(string) }
output "dashboard" { value = "${var.endpoint}/${var.labels["team a"]}" }
"#;

#[expect(clippy::disallowed_methods, reason = "a person runs plain terraform in a rendered root")]
fn terraform(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("terraform");
    command.args(arguments).current_dir(folder).env("TF_CLI_CONFIG_FILE", "/dev/null").env("TF_IN_AUTOMATION", "1");
    let ran = command.output().expect("terraform is there");
    let told = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "terraform {arguments:?}: {told}");
    told
}

#[test]
fn a_root_runs_with_plain_terraform_and_is_formatted_as_it_would() {
    let root = root(json!({ "provider": "near", "region": "here-1", "node_count": 5, "tags": { "a": "b" } }));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in &root.files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    for (path, text) in [("near/network", NETWORK), ("near/kubernetes", KUBERNETES), ("monitoring", MONITORING)] {
        let module = folder.path().join("modules").join(path);
        std::fs::create_dir_all(&module).expect("a folder");
        std::fs::write(module.join("main.tf"), text).expect("written");
    }
    assert_eq!(terraform(folder.path(), &["fmt", "-check", "-diff"]), "");
    terraform(folder.path(), &["init", "-input=false", "-no-color"]);
    terraform(folder.path(), &["apply", "-input=false", "-auto-approve", "-no-color"]);
    let outputs: Value = serde_json::from_str(&terraform(folder.path(), &["output", "-json"])).expect("the outputs");
    assert_eq!(outputs["endpoint"]["value"], "https://prod-here-1.5");
    assert_eq!(outputs["dashboard"]["value"], "https://prod-here-1.5/x${y}");
    assert_eq!(outputs["token"]["sensitive"], true);
    let again = terraform(folder.path(), &["plan", "-input=false", "-detailed-exitcode", "-no-color"]);
    assert!(again.contains("No changes"), "{again}");
}
