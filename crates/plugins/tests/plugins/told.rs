//! What a person reads when Terraform has failed: texts as clouds and Terraform print them, and what becomes of each: cause,
//! step, resource, fix and choices.

use model::explain::{Command, Context, explain_text};
use model::job::{JobEnd, JobReport};
use model::plugin::{Outcome, Step};
use serde_json::json;

use crate::harness::failed;
use crate::terraform::{Told, having};

const TEXTS: [(&str, &str, Command); 16] = [
    (
        "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to.",
        "aws_instance.node[3]",
        Command::Apply,
    ),
    (
        "googleapi: Error 403: Insufficient regional quota to satisfy request: resource \"CPUS\": request requires '12.0' and is short '4.0'. project has a quota of '72.0' with '8.0' available, quotaExceeded",
        "google_container_cluster.main",
        Command::Apply,
    ),
    ("Throttling: Rate exceeded\n\tstatus code: 400, request id: 9a1d0b6e", "aws_route53_record.api", Command::Apply),
    (
        "InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity in the Availability Zone you requested (eu-west-1b).",
        "aws_instance.gpu",
        Command::Apply,
    ),
    (
        "creating EKS Cluster (prod): AccessDeniedException: User: arn:aws:iam::123456789012:user/ci is not authorized to perform: eks:CreateCluster on resource: arn:aws:eks:eu-west-1:123456789012:cluster/prod",
        "aws_eks_cluster.prod",
        Command::Apply,
    ),
    ("ExpiredToken: The security token included in the request is expired", "aws_s3_bucket.logs", Command::Apply),
    (
        "Post \"https://management.azure.com/subscriptions/x\": dial tcp 20.62.1.4:443: i/o timeout",
        "azurerm_resource_group.main",
        Command::Apply,
    ),
    (
        "googleapi: Error 503: The service is currently unavailable., backendError",
        "google_sql_database_instance.db",
        Command::Apply,
    ),
    (
        "waiting for EKS Cluster (prod) create: timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING', timeout: 30m0s)",
        "aws_eks_cluster.prod",
        Command::Apply,
    ),
    ("InvalidParameterException: unsupported Kubernetes version 1.19", "aws_eks_cluster.prod", Command::Apply),
    (
        "creating IAM Role (deploy): EntityAlreadyExists: Role with name deploy already exists.",
        "aws_iam_role.deploy",
        Command::Apply,
    ),
    (
        "deleting EC2 VPC (vpc-0a1b): DependencyViolation: The vpc 'vpc-0a1b' has dependencies and cannot be deleted.",
        "aws_vpc.main",
        Command::Destroy,
    ),
    (
        "Error acquiring the state lock\n\nError message: ConditionalCheckFailedException: The conditional request failed\nLock Info:\n  ID:        0f4c9d0e\n  Who:       ana@build-7\n  Created:   2026-11-02 09:14:07 UTC",
        "",
        Command::Plan,
    ),
    (
        "state snapshot was created by Terraform v1.13.0, which is newer than current v1.11.4; upgrade to Terraform v1.13.0 or greater to work with this state",
        "",
        Command::Plan,
    ),
    (
        "The plugin encountered an error, and failed to respond to the plugin.(*GRPCProvider).ApplyResourceChange call.",
        "aws_lambda_function.hook",
        Command::Apply,
    ),
    (
        "Failed to query available provider packages\n\nCould not retrieve the list of available versions for provider hashicorp/aws: could not connect to registry.terraform.io: no such host",
        "",
        Command::Init,
    ),
];

/// As the resource's status tells it once the tries are spent.
async fn told(text: &str, address: &str, command: Command) -> String {
    let (step, memory) = match command {
        Command::Destroy => (Step::Destroy, json!({ "began": true })),
        _ => (Step::Apply, json!(null)),
    };
    let context = Context::new(
        match command {
            Command::Init => Step::Validate,
            Command::Plan => Step::Plan,
            _ => step,
        },
        command,
    );
    let context = if address.is_empty() { context } else { context.at(address) };
    let failure = explain_text(text, context).failure;
    let report = JobReport::ended(JobEnd::Failed { failure });
    let report = if command == Command::Init { report } else { having(report, &["aws_vpc.main"]) };
    let mut resource = Told::new(step, json!({ "on_failure": "keep" }));
    resource.call.memory = memory;
    resource.ask().await;
    for _ in 0..10 {
        let answer = resource.ends(report.clone()).await;
        if let Outcome::Failed(_) = &answer.outcome {
            return failed(&answer).to_string();
        }
        resource.ask().await;
    }
    panic!("it does not end");
}

#[tokio::test]
async fn a_person_is_told_the_cause_the_step_the_resource_the_fix_and_the_choices() {
    let mut page = String::new();
    for (text, address, command) in TEXTS {
        let sentence = told(text, address, command).await;
        assert!(sentence.contains(address) && sentence.contains(", during "), "{sentence}");
        assert!(sentence.contains("What can be done: retry"), "{sentence}");
        page += &format!("> {}\n{sentence}\n\n", text.lines().next().unwrap_or_default());
    }
    insta::assert_snapshot!(page);
}
