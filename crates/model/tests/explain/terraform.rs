//! Terraform and OpenTofu themselves.

use model::Class::*;
use model::explain::{Command, Context, Exit, explain};
use model::plugin::Step;

use super::{applying, assert_classes, of_text};

const LOCK: &str = "Error acquiring the state lock\nError message: resource temporarily unavailable\nLock Info:\n  ID:        2c05e5c1-7e57-3325-cef0-7210307dc109\n  Path:      terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       ann@build-7\n  Version:   1.11.4\n  Created:   2026-11-15 14:52:24.126058131 +0000 UTC\n  Info:      \n\n\nTerraform acquires a state lock to protect the state from being written\nby multiple users at the same time. Please resolve the issue above and try\nagain. For most commands, you can disable locking with the \"-lock=false\"\nflag, but this is not recommended.";

#[test]
fn what_terraform_says_of_a_module() {
    assert_classes(
        applying(),
        &[
            (
                InvalidConfig,
                "Unsupported argument\nAn argument named \"inptu\" is not expected here. Did you mean \"input\"?",
            ),
            (
                InvalidConfig,
                "Reference to undeclared input variable\nAn input variable with the name \"q\" has not been declared. This variable can be declared with a variable \"q\" {} block.",
            ),
            (
                InvalidConfig,
                "Invalid value for variable\nThe quota must not exceed the account limit: access denied for more than 5 already exists.\n\nThis was checked by the validation rule at main.tf:3,3-13.",
            ),
            (
                InvalidConfig,
                "Missing required argument\nThe argument \"region\" is required, but no definition was found.",
            ),
            (
                InvalidConfig,
                "No value for required variable\nThe root module input variable \"size\" is not set, and has no default value.",
            ),
            (
                InvalidConfig,
                "Invalid count argument\nThe \"count\" value depends on resource attributes that cannot be determined until apply",
            ),
            (InvalidConfig, "Cycle: aws_security_group.a, aws_security_group.b"),
            (InvalidConfig, "Resource precondition failed\nThe zone must not throttle; timed out."),
            (
                InvalidConfig,
                "Instance cannot be destroyed\nResource aws_db_instance.main has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed.",
            ),
            (InvalidConfig, "expected instance_tenancy to be one of [\"default\" \"dedicated\"], got shared"),
            (
                InvalidConfig,
                "Unsupported Terraform Core version\nThis configuration does not support Terraform version 1.5.0.",
            ),
            (InvalidConfig, "Conflicting configuration arguments\n\"cidr_block\": conflicts with ipv4_ipam_pool_id"),
            (InvalidConfig, "Invalid Attribute Value Match\nAttribute name string length must be between 1 and 63"),
            (
                InvalidConfig,
                "Invalid function argument\nInvalid value for \"path\" parameter: no file exists at \"x.json\"",
            ),
        ],
    );
}

#[test]
fn what_terraform_says_of_the_state() {
    assert_classes(
        applying(),
        &[
            (StateLock, LOCK),
            (
                StateLock,
                "Error acquiring the state lock\nError message: operation error DynamoDB: PutItem, https response error StatusCode: 400, RequestID: T, ConditionalCheckFailedException: The conditional request failed\nLock Info:\n  ID: 1\n  Who: bob@laptop",
            ),
            (
                StateLock,
                "Error acquiring the state lock\nError message: operation error S3: PutObject, https response error StatusCode: 412, api error PreconditionFailed: At least one of the pre-conditions you specified did not hold",
            ),
            (StateLock, "Error locking state: Error acquiring the state lock: state blob is already locked"),
            (StateLock, "Error acquiring the state lock\nError message: HTTP remote state already locked: ID=7a"),
            (
                StateLock,
                "Error acquiring the state lock\nError message: writing \"gs://states/prod/default.tflock\" failed: googleapi: Error 412: At least one of the pre-conditions you specified did not hold., conditionNotMet",
            ),
            (StateLock, "Error acquiring the state lock\nError message: workspace is already locked by another run"),
            (StateLock, "ConditionalCheckFailedException: The conditional request failed"),
            (
                Credentials,
                "Error acquiring the state lock\nError message: operation error DynamoDB: PutItem, https response error StatusCode: 400, api error AccessDeniedException: User: arn:aws:iam::1:user/x is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:us-east-1:1:table/locks\n\nTerraform acquires a state lock to protect the state from being written by multiple users",
            ),
            (
                Network,
                "Error acquiring the state lock\nError message: Post \"https://dynamodb.us-east-1.amazonaws.com/\": dial tcp 52.1.1.1:443: i/o timeout",
            ),
            (
                StateCorruption,
                "Error acquiring the state lock\nError message: Unsupported state file format: The state file uses format version 5, which is not supported by Terraform 1.11.4.\n\nTerraform acquires a state lock to protect the state from being written",
            ),
            (
                StateCorruption,
                "state snapshot was created by Terraform v1.13.0, which is newer than current v1.11.4; upgrade to Terraform v1.13.0 or greater to work with this state",
            ),
            (
                StateCorruption,
                "Error refreshing state: state data in S3 does not have the expected content.\n\nThe checksum calculated for the state stored in S3 does not match the checksum stored in DynamoDB.\n\nCalculated checksum: a\nStored checksum:     b",
            ),
            (
                StateCorruption,
                "Error refreshing state: 2 problems:\n\n- Unsupported state file format: The state file could not be parsed as JSON: syntax error at byte offset 2.",
            ),
            (
                StateCorruption,
                "Saved plan does not match the given state\nThe given plan file can not be applied because it was created from a different state lineage.",
            ),
            (
                StateCorruption,
                "Resource instance managed by newer provider version\nThe current state of aws_vpc.main was created by a newer provider version than is currently selected.",
            ),
            (
                StateCorruption,
                "Failed to write state: cannot import state with lineage \"a\" over unrelated state with lineage \"b\"",
            ),
            (
                StateCorruption,
                "Failed to decode resource from state\nError decoding \"aws_vpc.main\" from prior state: unsupported attribute \"x\"",
            ),
            (
                Conflict,
                "Saved plan is stale\nThe given plan file can no longer be applied because the state was changed by another operation after the plan was created.",
            ),
            (Credentials, "Error refreshing state: AccessDenied: Access Denied\n\tstatus code: 403, request id: 1"),
            (InvalidConfig, "Failed to get existing workspaces: S3 bucket \"tf-state\" does not exist."),
            (
                Network,
                "Failed to save state\nError saving state: failed to upload state: RequestError: send request failed caused by: Put \"https://s3.amazonaws.com/b/k\": dial tcp: lookup s3.amazonaws.com: no such host",
            ),
        ],
    );
}

#[test]
fn what_terraform_says_of_its_plugins() {
    assert_classes(
        applying(),
        &[
            (
                Installation,
                "Failed to query available provider packages\nCould not retrieve the list of available versions for provider hashicorp/aws: could not connect to registry.terraform.io: failed to request discovery document: Get \"https://registry.terraform.io/.well-known/terraform.json\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)",
            ),
            (
                Installation,
                "Failed to query available provider packages\nCould not retrieve the list of available versions for provider hashicorp/awss: provider registry registry.terraform.io does not have a provider named registry.terraform.io/hashicorp/awss",
            ),
            (
                Installation,
                "Failed to query available provider packages\nCould not retrieve the list of available versions for provider hashicorp/google: no available releases match the given constraints ~> 99.0",
            ),
            (
                Installation,
                "Failed to install provider\nError while installing hashicorp/aws v5.31.0: the local package for registry.terraform.io/hashicorp/aws 5.31.0 doesn't match any of the checksums previously recorded in the dependency lock file (this might be because the available checksums are for packages targeting different platforms)",
            ),
            (
                Installation,
                "Failed to install provider\nError while installing linode/linode v2.0.0: github.com: Get \"https://github.com/linode/x.zip\": read: connection reset by peer",
            ),
            (
                Installation,
                "Failed to resolve provider packages\nCould not resolve provider hashicorp/azurerm: could not query provider registry for registry.opentofu.org/hashicorp/azurerm: the request failed after 2 attempts, please try again later: 502 Bad Gateway",
            ),
            (
                Installation,
                "Inconsistent dependency lock file\nThe following dependency selections recorded in the lock file are inconsistent with the current configuration:\n  - provider registry.terraform.io/hashicorp/aws: required by this configuration but no version is selected",
            ),
            (
                Installation,
                "Required plugins are not installed\nThe installed provider plugins are not consistent with the packages selected in the dependency lock file",
            ),
            (
                Installation,
                "Incompatible provider version\nProvider registry.terraform.io/hashicorp/template v2.2.0 does not have a package available for your current platform, darwin_arm64.",
            ),
            (
                Installation,
                "Failed to download module\nCould not download module \"vpc\" (main.tf:1) source code from \"git::https://github.com/org/none\": error downloading: repository not found",
            ),
            (
                Credentials,
                "Failed to download module\nCould not download module \"vpc\" (main.tf:1) source code from \"git::ssh://git@github.com/org/vpc\": error downloading: git@github.com: Permission denied (publickey). fatal: Could not read from remote repository.",
            ),
            (
                Crash,
                "!!!!!!!!!!!!!!!!!!!!!!!!!!! TERRAFORM CRASH !!!!!!!!!!!!!!!!!!!!!!!!!!!!\n\nTerraform crashed! This is always indicative of a bug within Terraform.",
            ),
            (
                Crash,
                "Plugin did not respond\nThe plugin encountered an error, and failed to respond to the plugin6.(*GRPCProvider).ApplyResourceChange call. The plugin logs may contain more details.",
            ),
            (
                Crash,
                "Request cancelled\nThe plugin.(*GRPCProvider).ReadResource request was cancelled.\n\nStack trace from the terraform-provider-aws_v5.31.0_x5 plugin:\n\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]",
            ),
            (
                Crash,
                "Failed to load plugin schemas\nError while loading schemas for plugin components: Failed to obtain provider schema: Could not load the schema for provider registry.terraform.io/hashicorp/aws: failed to instantiate provider: Unrecognized remote plugin message: fork/exec: cannot allocate memory",
            ),
            (Crash, "rpc error: code = Unavailable desc = transport is closing"),
            (
                Crash,
                "rpc error: code = Unavailable desc = connection error: desc = \"transport: error while dialing: dial unix /tmp/plugin123: connect: connection refused\"",
            ),
            (Crash, "fatal error: runtime: out of memory"),
            (
                Crash,
                "Provider produced inconsistent result after apply\nWhen applying changes to aws_x.y, provider \"provider[\\\"registry.terraform.io/hashicorp/aws\\\"]\" produced an unexpected new value: Root object was present, but now absent.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
            ),
            (
                Disk,
                "Failed to install provider\nError while installing hashicorp/aws v5.31.0: write /srv/stack/.terraform/providers/terraform-provider-aws: no space left on device",
            ),
            (Disk, "Failed to write state: write /var/lib/x/terraform.tfstate: disk quota exceeded"),
            (Rejected, "local-exec provisioner error\nError running command './bootstrap.sh': exit status 4. Output: "),
            (Rejected, "execution halted"),
            (Rejected, "operation canceled"),
            (Rejected, "The frobnicator declined"),
            (
                Rejected,
                "waiting for EKS Add-On (prod:coredns) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: the pods did not like it",
            ),
        ],
    );
}

#[test]
fn a_run_that_says_nothing_is_told_by_how_it_ended() {
    let plan = Context::new(Step::Plan, Command::Plan);
    let killed = explain(&[], "", plan.ended(Exit::Signal(9)));
    assert_eq!(killed.failure.class, Crash);
    assert_eq!(killed.failure.message, "terraform plan was killed by signal 9 (most likely for want of memory)");

    let late = explain(&[], "", plan.ended(Exit::OutOfTime { seconds: 1800 }));
    assert_eq!(late.failure.class, Timeout);
    assert_eq!(late.failure.message, "terraform plan was stopped: the job's limit of 30 min is over");

    let silent = explain(&[], "  \n", plan.ended(Exit::Code(1)));
    assert_eq!(
        (silent.failure.class, silent.failure.message.as_str()),
        (Rejected, "terraform plan failed and did not say why")
    );
}

#[test]
fn a_kill_after_an_error_is_explained_by_the_error() {
    let at = applying().ended(Exit::Signal(9));
    assert_eq!(explain(&[], "Error: write /x: no space left on device", at).failure.class, Disk);
    assert_eq!(explain(&[], "aws_vpc.main: Creating...", at).failure.class, Crash);
}

#[test]
fn a_lock_is_told_with_its_holder() {
    let explanation = explain(&model::explain::Diagnostic::printed(&format!("Error: {LOCK}")), "", applying());
    assert_eq!(explanation.failure.message, "the state is locked by ann@build-7 since 2026-11-15 14:52:24 UTC (apply)");
    assert_eq!(of_text(LOCK), StateLock);
}
