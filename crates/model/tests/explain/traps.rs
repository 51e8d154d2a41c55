//! Texts that look like another class than they are of, and runs with more than one error.

use proptest::prelude::*;

use model::explain::{Diagnostic, explain, explain_one, explain_text};
use model::{Class, Retry};

use super::{applying, assert_classes, destroying, of_text};

#[test]
fn names_given_by_users_decide_nothing() {
    for name in
        ["quota-exceeded", "already-exists", "access-denied", "throttle", "rate-limit-x", "timeout", "no-such-host"]
    {
        let text = format!(
            "creating IAM Role ({name}): InternalFailure: cannot write arn:aws:iam::1:role/{name} at https://x.example/{name} now"
        );
        assert_eq!(of_text(&text), Class::Outage, "{text}");
    }
}

#[test]
fn advice_is_no_finding() {
    assert_classes(
        applying(),
        &[
            (Class::InvalidConfig, "InvalidParameterValue: bad subnet. If the subnet already exists, give its id."),
            (
                Class::Network,
                "operation error EC2: DescribeVpcs, exceeded maximum number of attempts, 3, failed to get rate limit token, retry quota exceeded, 4 available, 5 requested, read: connection reset by peer",
            ),
            (Class::InvalidConfig, "InvalidParameterValue: the network must already exist"),
        ],
    );
}

#[test]
fn the_same_words_mean_another_thing_of_a_deletion() {
    let in_use = "ResourceInUseException: prod is in use";
    assert_eq!(explain_text(in_use, applying()).failure.class, Class::Conflict);
    assert_eq!(explain_text(in_use, destroying()).failure.class, Class::Dependency);
    assert_eq!(of_text(&format!("deleting EKS Cluster (prod): {in_use}")), Class::Dependency);
}

#[test]
fn an_item_of_a_table_is_nobodys_lock() {
    let text = "ConditionalCheckFailedException: The conditional request failed";
    let at = applying().at("aws_dynamodb_table_item.settings");
    assert_eq!(explain_text(text, at).failure.class, Class::Conflict);
    assert_eq!(explain_text(text, applying()).failure.class, Class::StateLock);
}

#[test]
fn only_an_installation_that_may_pass_is_tried_again() {
    let retry = |text| explain_text(text, applying()).failure.retry();
    assert_eq!(
        retry("Failed to install provider: Get \"https://releases.hashicorp.com/x\": read: connection reset by peer"),
        Retry::Later
    );
    assert_eq!(
        retry("Failed to install provider: x doesn't match any of the checksums previously recorded"),
        Retry::OnChange
    );
    assert_eq!(
        retry("Failed to query available provider packages: no available releases match the given constraints"),
        Retry::OnChange
    );
}

#[test]
fn the_cause_is_reported_and_the_others_are_counted() {
    let at =
        |address: &str, summary: &str| Diagnostic { address: Some(address.into()), ..Diagnostic::error(summary, "") };
    let errors = [
        at("helm_release.ingress", "Kubernetes cluster unreachable: dial tcp 127.0.0.1:80: connection refused"),
        at("aws_subnet.b", "RequestLimitExceeded: Request limit exceeded."),
        at(
            "aws_eks_node_group.a",
            "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows",
        ),
        Diagnostic { severity: "warning".into(), summary: "ExpiredToken".into(), ..Diagnostic::default() },
    ];
    let explanation = explain(&errors, "", applying());
    assert_eq!(explanation.failure.class, Class::Quota);
    assert_eq!(explanation.others, 2);
    assert_eq!(
        explanation.failure.message,
        "aws_eks_node_group.a: the vCPU limit of 32 is reached (and 2 other errors)"
    );
}

#[test]
fn a_crash_that_only_the_standard_error_tells_of_is_the_cause() {
    let errors = [Diagnostic::error("Unexpected thing", "whatever")];
    let printed = "panic: interface conversion: interface {} is nil\ngoroutine 7 [running]:";
    assert_eq!(explain(&errors, printed, applying()).failure.class, Class::Crash);
}

#[test]
fn a_text_of_any_length_gives_a_short_explanation() {
    let long = format!("InvalidParameterValue: {}", "ü ".repeat(400_000));
    let explanation = explain_one(&Diagnostic::error(long.clone(), long), applying());
    assert_eq!(explanation.failure.class, Class::InvalidConfig);
    assert!(explanation.failure.message.len() < 500 && explanation.failure.hint.len() < 500);
}

#[test]
fn no_text_makes_it_fail() {
    for text in [
        "",
        "'",
        "Error: ",
        "│",
        "[400]",
        "Code=\"",
        "lookup ",
        "://",
        "retry after 99999999999999999999",
        "(request \"",
        "ID: Who: Created:",
    ] {
        for signs in ["", "quota exceeded ", "access denied ", "state lock ", "i/o timeout ", "panic:"] {
            explain_text(&format!("{signs}{text}"), applying());
        }
    }
}

proptest! {
    #[test]
    fn nor_does_any_mixture_of_texts(parts in prop::collection::vec(prop_oneof![
        "\\PC{0,12}",
        prop::sample::select(vec![
            "Error: ", "googleapi: Error 403: ", "api error ", "Code=\"", "Message=\"", "[400] ", "(request \"", "quota of ", "limit of ",
            "exceeded quota: ", "lookup ", "https://", "dial tcp ", "Lock Info: ID:", "Who:", "Created:", "retry after ", "to be one of ",
            "is not authorized to perform", " cannot ", " resource \"", "did you mean ", "state lock", "LimitExceeded", "│", "\u{1b}[", "\n",
        ]).prop_map(str::to_owned),
    ], 0..12)) {
        let explanation = explain_text(&parts.concat(), applying());
        prop_assert!(!explanation.failure.message.is_empty());
    }
}

#[test]
fn an_error_that_only_announces_others_is_not_the_cause() {
    let announced = Diagnostic::error(
        "Terraform encountered problems during initialisation, including problems\nwith the configuration, described below.",
        "The Terraform configuration must be valid before initialization.",
    );
    let cause = Diagnostic::error("Unsupported argument", "An argument named \"sise\" is not expected here.");
    let told = explain(&[announced, cause], "", applying());
    assert!(told.failure.message.contains("sise"), "{}", told.failure.message);
    assert_eq!(told.others, 0);
}
