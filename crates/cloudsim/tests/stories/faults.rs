//! What somebody wished to go wrong, in the words of the clouds.

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
    resource "aws_vpc" "main" {
      cidr_block = "10.0.0.0/16"
      tags       = { Name = "main" }
    }
"#;
const LINODE: &str = r#"
    terraform {
      required_providers {
        linode = { source = "linode/linode" }
      }
    }
    resource "linode_vpc" "main" {
      label  = "main"
      region = "eu-central"
    }
"#;

#[test]
fn each_kind_of_fault_is_told_in_the_cloud_s_own_words() {
    let rig = Rig::new();
    let stacks = [rig.root("aws", AWS), rig.root("linode", LINODE)];
    for (kind, said) in [
        ("quota", ["VcpuLimitExceeded: You have requested more vCPU", "Account Limit reached"]),
        ("throttling", ["Throttling: Rate exceeded", "Too many requests"]),
        ("capacity", ["InsufficientInstanceCapacity", "Insufficient capacity"]),
        ("permission", ["AccessDenied: User: arn:aws:iam::123456789012:user/terraform", "Unauthorized"]),
        ("credentials", ["ExpiredToken", "Invalid Token"]),
        ("outage", ["InternalError", "Service Unavailable"]),
        ("network", ["i/o timeout", "i/o timeout"]),
        ("timeout", ["timeout while waiting for state", "timeout while waiting for state"]),
    ] {
        for (stack, said) in stacks.iter().zip(said) {
            rig.cloudsim(&["fault", &rig.world(), kind, "--times", "1"]);
            let told = stack.apply_fails().replace(['\n', '│'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(said), "{kind}: {told}");
        }
    }
    assert_eq!(rig.cloudsim(&["fault", &rig.world()]), "", "what struck so often is over");
    assert_eq!(rig.objects().len(), 0);
    for stack in &stacks {
        stack.apply();
    }
}

#[test]
fn a_fault_strikes_so_often_and_only_where_it_is_meant_to() {
    let rig = Rig::new();
    let stack = rig.root("stack", AWS);
    for elsewhere in [
        ["--region", "eu-west-1"],
        ["--type", "aws_subnet"],
        ["--action", "destroy"],
        ["--provider", "google"],
        ["--account", "000000000000"],
        ["--percent", "0"],
    ] {
        rig.cloudsim(&["fault", &rig.world(), "outage", elsewhere[0], elsewhere[1]]);
    }
    rig.cloudsim(&[
        "fault",
        &rig.world(),
        "throttling",
        "--region",
        "us-east-1",
        "--type",
        "aws_vpc",
        "--action",
        "create",
        "--times",
        "2",
        "--percent",
        "100",
        "--message",
        "Throttling: not so fast",
    ]);
    for _ in 0..2 {
        let refused = stack.apply_fails();
        assert!(refused.contains("Throttling: not so fast"), "{refused}");
    }
    stack.apply();

    let refused = stack.fails(&["destroy", "-auto-approve"]);
    assert!(refused.contains("InternalError"), "{refused}");
    assert_eq!(rig.objects().len(), 1);
    rig.cloudsim(&["fault", &rig.world(), "--clear"]);
    stack.destroy();
    assert_eq!(rig.objects().len(), 0);
}

#[test]
fn a_create_that_fails_in_part_leaves_its_object_in_cloud_and_state() {
    let rig = Rig::new();
    let stack = rig.root("stack", AWS);
    rig.cloudsim(&["fault", &rig.world(), "timeout", "--type", "aws_vpc", "--times", "1", "--partial"]);
    stack.apply_fails();
    let left = rig.object("main")["id"].clone();
    assert_eq!(stack.attributes("aws_vpc.main")["id"], left, "it is tainted, and not forgotten");
    let applied = stack.apply();
    assert!(applied.contains("1 added, 0 changed, 1 destroyed"), "{applied}");
    assert_ne!(rig.object("main")["id"], left);
    assert_eq!(rig.objects().len(), 1);
}

#[test]
fn a_quota_counts_what_there_is() {
    let rig = Rig::new();
    let many = |count: usize| AWS.replace("cidr_block = ", &format!("count = {count}\ncidr_block = "));
    let stack = rig.root("stack", &many(3));
    rig.cloudsim(&[
        "fault",
        &rig.world(),
        "quota",
        "--type",
        "aws_vpc",
        "--beyond",
        "2",
        "--message",
        "VpcLimitExceeded: The maximum number of VPCs has been reached.",
    ]);
    let refused = stack.apply_fails();
    assert!(refused.contains("VpcLimitExceeded"), "{refused}");
    assert_eq!((rig.objects().len(), stack.state().len()), (2, 2));
    rig.cloudsim(&["fault", &rig.world(), "--clear"]);
    stack.apply();
    assert_eq!((rig.objects().len(), stack.state().len()), (3, 3));
}

#[test]
fn reads_fail_only_if_they_are_asked_to() {
    let rig = Rig::new();
    let stack = rig.root("stack", AWS);
    stack.apply();
    rig.cloudsim(&["fault", &rig.world(), "outage"]);
    assert!(!stack.has_changes());
    rig.cloudsim(&["fault", &rig.world(), "network", "--action", "read", "--clear"]);
    let refused = stack.fails(&["plan"]);
    assert!(refused.contains("i/o timeout"), "{refused}");
    assert_eq!(stack.state().len(), 1, "what cannot be read is not forgotten");
}
