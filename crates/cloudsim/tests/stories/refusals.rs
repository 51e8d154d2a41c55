//! What clouds refuse: the common mistakes, each in the cloud's own words, and deletions in the wrong order.

use crate::rig::Rig;

const AWS: &str = r#"
    terraform {
      required_providers {
        aws = { source = "hashicorp/aws" }
      }
    }
    provider "aws" {
      region = "us-east-1"
    }
"#;

/// What is said, on one line.
fn flat(told: &str) -> String {
    told.replace(['\n', '│', '╷', '╵'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn common_mistakes_are_refused_by_the_cloud() {
    let rig = Rig::new();
    let vpc = "resource \"aws_vpc\" \"main\" { cidr_block = \"10.0.0.0/16\" }\n";
    let subnet = |name: &str, cidr: &str| {
        format!("resource \"aws_subnet\" \"{name}\" {{\n vpc_id = aws_vpc.main.id\n cidr_block = \"{cidr}\"\n}}\n")
    };
    let google = r#"
        terraform {
          required_providers {
            google = { source = "hashicorp/google" }
          }
        }
        provider "google" {
          project = "demo-project"
        }
    "#;
    let azure = r#"
        terraform {
          required_providers {
            azurerm = { source = "hashicorp/azurerm" }
          }
        }
        provider "azurerm" {
          features {}
          subscription_id = "11111111-2222-4333-8444-555555555555"
        }
    "#;
    let mistakes = [
        (AWS.to_owned() + r#"resource "aws_vpc" "main" { cidr_block = "10.0.0.0/8" }"#, "InvalidVpc.Range"),
        ([AWS, vpc, &subnet("a", "10.1.0.0/24")].concat(), "InvalidSubnet.Range: The CIDR '10.1.0.0/24' is invalid."),
        (
            [AWS, vpc, &subnet("a", "10.0.0.0/20"), &subnet("b", "10.0.8.0/24")].concat(),
            "conflicts with another subnet",
        ),
        (
            AWS.to_owned() + "resource \"aws_subnet\" \"a\" {\n vpc_id = \"vpc-123\"\n cidr_block = \"10.0.0.0/24\"\n}",
            "InvalidVpcID.NotFound: The vpc ID 'vpc-123' does not exist",
        ),
        (
            AWS.to_owned() + "resource \"aws_s3_bucket\" \"a\" { bucket = \"Not_A_Bucket\" }",
            "only lowercase alphanumeric characters and hyphens",
        ),
        (AWS.replace("us-east-1", "us-east-9") + vpc, "invalid AWS Region: us-east-9"),
        (
            google.to_owned() + "resource \"google_compute_network\" \"a\" { name = \"Capital\" }",
            "doesn't match regexp",
        ),
        (
            google.to_owned()
                + "resource \"google_container_cluster\" \"a\" {\n name = \"a\"\n location = \"mars-north1\"\n}",
            "Location \"mars-north1\" does not exist",
        ),
        (
            google.to_owned()
                + "resource \"google_container_cluster\" \"a\" {\n name = \"a\"\n location = \"us-central1\"\n min_master_version = \"1.12\"\n}",
            "Master version \"1.12\" is unsupported",
        ),
        (
            azure.to_owned()
                + "resource \"azurerm_virtual_network\" \"a\" {\n name = \"a\"\n location = \"westeurope\"\n resource_group_name = \"none\"\n address_space = [\"10.0.0.0/16\"]\n}",
            "ResourceGroupNotFound: Resource group 'none' could not be found.",
        ),
        (
            azure.to_owned()
                + "resource \"azurerm_resource_group\" \"a\" {\n name = \"a\"\n location = \"Atlantis\"\n}",
            "The provided location 'atlantis' is not available",
        ),
    ];
    for (at, (root, said)) in mistakes.into_iter().enumerate() {
        let refused = flat(&rig.root(&format!("mistake-{at}"), &root).apply_fails());
        assert!(refused.contains(said), "{said}: {refused}");
        rig.cloudsim(&["pace", &rig.world(), "instant"]);
        rig.cloudsim(&["reset", &rig.world()]);
        assert_eq!(rig.objects().len(), 0);
    }
}

#[test]
fn what_is_in_use_is_not_deleted() {
    let rig = Rig::new();
    let below = rig.root(
        "below",
        &(AWS.to_owned()
            + r#"
        resource "aws_vpc" "main" {
          cidr_block = "10.0.0.0/16"
          tags       = { Name = "main" }
        }
    "#),
    );
    below.apply();
    let above = rig.root(
        "above",
        &(AWS.to_owned()
            + r#"
        data "aws_vpcs" "main" {
          tags = { Name = "main" }
        }
        resource "aws_subnet" "main" {
          vpc_id     = data.aws_vpcs.main.ids[0]
          cidr_block = "10.0.0.0/24"
        }
    "#),
    );
    above.apply();

    let refused = flat(&below.fails(&["destroy", "-auto-approve"]));
    assert!(refused.contains("DependencyViolation: The vpc 'vpc-"), "{refused}");
    assert_eq!(rig.objects().len(), 2);
    above.destroy();
    below.destroy();
    assert_eq!(rig.objects().len(), 0);
}

#[test]
fn a_changed_name_is_a_new_object_and_a_skipped_version_is_refused() {
    let rig = Rig::new();
    let root = |name: &str, version: &str| {
        format!(
            r#"
            terraform {{
              required_providers {{
                linode = {{ source = "linode/linode" }}
              }}
            }}
            resource "linode_lke_cluster" "main" {{
              label       = "{name}"
              region      = "eu-central"
              k8s_version = "{version}"
              pool {{
                type  = "g6-standard-2"
                count = 1
              }}
            }}
            resource "linode_object_storage_bucket" "main" {{
              label  = "{name}"
              region = "eu-central"
            }}
            "#
        )
    };
    let stack = rig.root("stack", &root("one", "1.31"));
    stack.apply();
    stack.write(&root("two", "1.31"));
    let plan = stack.succeeds(&["plan"]);
    assert!(plan.contains("1 to add, 1 to change, 1 to destroy"), "{plan}");
    stack.write(&root("one", "1.33"));
    let refused = flat(&stack.apply_fails());
    assert!(refused.contains("Cannot upgrade from 1.31 to 1.33"), "{refused}");
    stack.write(&root("one", "1.32"));
    stack.apply();
    assert!(!stack.has_changes());
    stack.write(&root("one", "1.31"));
    let refused = flat(&stack.apply_fails());
    assert!(refused.contains("Cannot upgrade from 1.32 to 1.31"), "{refused}");
}
