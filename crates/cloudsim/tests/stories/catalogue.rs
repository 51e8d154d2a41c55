//! The catalogue of schemas: it is what Terraform sees, and it can be checked against what Terraform prints.

use serde_json::{Value, json};

use crate::rig::Rig;

const ALL: &str = r#"
    terraform {
      required_providers {
        aws          = { source = "hashicorp/aws" }
        azurerm      = { source = "hashicorp/azurerm" }
        digitalocean = { source = "digitalocean/digitalocean" }
        google       = { source = "hashicorp/google" }
        helm         = { source = "hashicorp/helm" }
        kubernetes   = { source = "hashicorp/kubernetes" }
        linode       = { source = "linode/linode" }
      }
    }
"#;
const AWS: &str = "registry.terraform.io/hashicorp/aws";

#[test]
fn what_terraform_prints_of_the_providers_is_what_the_catalogue_says_and_each_difference_is_told() {
    let rig = Rig::new();
    let stack = rig.root("stack", ALL);
    let printed = stack.succeeds(&["providers", "schema", "-json"]);
    let mut dump: Value = serde_json::from_str(&printed).unwrap();
    let folder = rig.path("dumps");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("all.json");
    std::fs::write(&file, &printed).unwrap();
    let folder = folder.to_str().unwrap();

    let checked = rig.cloudsim(&["check", "--against", folder]);
    assert_eq!(checked.lines().count(), 7, "{checked}");
    assert_eq!(checked.matches(" 0 differences").count(), 7, "{checked}");

    let vpc = &mut dump["provider_schemas"][AWS]["resource_schemas"]["aws_vpc"]["block"]["attributes"];
    vpc["cidr_block"]["type"] = json!("number");
    vpc["tags"]["sensitive"] = json!(true);
    vpc["brand_new"] = json!({ "type": "string", "optional": true });
    let cluster = &mut dump["provider_schemas"][AWS]["resource_schemas"]["aws_eks_cluster"]["block"]["block_types"];
    cluster["vpc_config"]["max_items"] = json!(2);
    dump["provider_schemas"][AWS]["data_source_schemas"].as_object_mut().unwrap().remove("aws_region");
    std::fs::write(&file, dump.to_string()).unwrap();
    let told = rig.cloudsim_fails(&["check", "--against", folder]);
    for difference in [
        "resource aws_vpc.cidr_block: string should be number",
        "resource aws_vpc.tags: ",
        "resource aws_vpc.brand_new: the attribute is missing",
        "resource aws_eks_cluster.vpc_config: nesting ",
        "data aws_region: there is no such type",
        "5 of what the catalogue says is not so",
    ] {
        assert!(told.contains(difference), "{difference}: {told}");
    }
}

#[test]
fn a_catalogue_file_is_made_from_a_dump() {
    let rig = Rig::new();
    let printed = rig.root("stack", ALL).succeeds(&["providers", "schema", "-json"]);
    let mut dump: Value = serde_json::from_str(&printed).unwrap();
    let providers = dump["provider_schemas"].as_object_mut().unwrap();
    providers.retain(|source, _| source.ends_with("/linode"));
    let path = |name: &str| rig.text_path(name);
    std::fs::write(path("linode.json"), dump.to_string()).unwrap();
    std::fs::write(path("types"), "linode_vpc data.linode_vpcs aws_vpc\n").unwrap();
    let made =
        rig.cloudsim(&["catalogue", "--from", &path("linode.json"), "--types", &path("types"), "--release", "2.37.0"]);
    assert!(made.starts_with("provider registry.terraform.io/linode/linode 2.37.0\n"), "{made}");
    for line in ["\nresource linode_vpc\n", "\n  label r string\n", "\ndata linode_vpcs\n", "\n  vpcs {list}\n"] {
        assert!(made.contains(line), "{line:?} is missing: {made}");
    }
    assert!(!made.contains("aws_vpc") && !made.contains("linode_lke_cluster"), "{made}");

    std::fs::write(path("types"), &made).unwrap();
    let again =
        rig.cloudsim(&["catalogue", "--from", &path("linode.json"), "--types", &path("types"), "--release", "2.37.0"]);
    assert_eq!(again, made, "a catalogue file lists its own types");

    std::fs::write(path("types"), "linode_moon").unwrap();
    let refused = rig.cloudsim_fails(&[
        "catalogue",
        "--from",
        &path("linode.json"),
        "--types",
        &path("types"),
        "--release",
        "2.37.0",
    ]);
    assert!(refused.contains("registry.terraform.io/linode/linode has no linode_moon"), "{refused}");
}

#[test]
fn any_provider_can_be_simulated_from_its_schemas_alone() {
    let rig = Rig::new();
    let dump = json!({ "format_version": "1.0", "provider_schemas": { "registry.terraform.io/acme/moon": {
        "provider": { "version": 0, "block": { "attributes": { "crater": { "type": "string", "optional": true } } } },
        "resource_schemas": { "moon_base": { "version": 1, "block": {
            "attributes": {
                "id": { "type": "string", "computed": true },
                "name": { "type": "string", "required": true },
                "secret": { "type": "string", "optional": true, "sensitive": true },
                "token": { "type": "string", "optional": true, "write_only": true },
                "crew": { "optional": true, "nested_type": { "nesting_mode": "map", "attributes": {
                    "role": { "type": "string", "required": true },
                    "badge": { "type": "number", "computed": true },
                } } },
                "anything": { "type": "dynamic", "optional": true },
                "position": { "type": ["object", { "x": "number", "y": "number" }], "optional": true },
            },
            "block_types": { "wing": { "nesting_mode": "set", "block": { "attributes": {
                "kind": { "type": "string", "required": true },
                "serial": { "type": "string", "computed": true },
            } } } },
        } } },
    } } });
    std::fs::write(rig.path("moon.json"), dump.to_string()).unwrap();
    let config = rig.cloudsim(&["mirror", &rig.text_path("mirror"), "--schemas", &rig.text_path("moon.json")]);
    std::fs::write(rig.path("cli.tfrc"), config).unwrap();
    let stack = rig.root(
        "stack",
        r#"
        terraform {
          required_providers {
            moon = { source = "acme/moon" }
          }
        }
        variable "size" { default = 1.5 }
        resource "moon_base" "alpha" {
          name     = "alpha"
          secret   = "dark side"
          token    = "open sesame"
          crew     = { ann = { role = "pilot" } }
          anything = { list = [1, "two", true], size = var.size }
          position = { x = 1.25, y = -3 }
          wing {
            kind = "lab"
          }
          wing {
            kind = "dome"
          }
        }
        "#,
    );
    stack.apply();
    assert!(!stack.has_changes());
    let base = stack.attributes("moon_base.alpha");
    assert_eq!(base["token"], Value::Null, "what is write-only is not kept");
    assert!(base["crew"]["ann"]["badge"].is_number(), "{base}");
    assert!(!base["wing"][0]["serial"].as_str().unwrap().is_empty());
    assert_eq!(base["position"], json!({ "x": 1.25, "y": -3 }));
    assert!(!rig.objects()[0].to_string().contains("open sesame"));
    let changed = stack.succeeds(&["apply", "-auto-approve", "-var", "size=2"]);
    assert!(changed.contains("1 changed"), "{changed}");
    stack.destroy();
    assert_eq!(rig.objects().len(), 0);
}

#[test]
fn a_mirror_may_say_where_the_world_is() {
    let rig = Rig::new();
    let elsewhere = rig.text_path("else'where");
    let config = rig.cloudsim(&["mirror", &rig.text_path("mirror"), "--copy", "--world", &elsewhere]);
    std::fs::write(rig.path("cli.tfrc"), config).unwrap();
    let stack = rig.root("stack", "resource \"kubernetes_namespace_v1\" \"a\" {\n metadata {\n name = \"a\"\n }\n}");
    let stack = stack.with_environment("CLOUDSIM_WORLD", "");
    stack.apply();
    assert_eq!(rig.cloudsim(&["objects", &elsewhere]).lines().count(), 1);
}
