//! In words: the other side cannot be reached, does not work, or takes too long.

use super::cloud::Cloud;
use super::facts::{after, after_any, between, clause, host, request_id, word};
use super::gist::cut;
use super::status;
use super::told::{Case, Told};

pub(super) fn network(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let reasons: [(&[&str], &str); 8] = [
        (
            &["no such host", "name resolution", "could not resolve host", "server misbehaving"],
            "its name does not resolve",
        ),
        (&["connection refused"], "the connection is refused"),
        (&["connection reset*", "broken pipe", "forcibly closed", "goaway*"], "the connection was cut"),
        (&["tls handshake timeout"], "the TLS handshake takes too long"),
        (&["x509:", "tls: *"], "its certificate is not accepted"),
        (&["eof", "unexpected eof"], "the answer ended half-way"),
        (&["network is unreachable", "no route to host"], "there is no route to it"),
        (
            &["i/o timeout", "client.timeout*", "deadline exceeded", "timed out", "*timeout*"],
            "it does not answer in time",
        ),
    ];
    let reason = reasons.iter().find(|(signs, _)| case.text.says_any(signs)).map(|(_, reason)| *reason);
    let host = host(text);
    let local =
        host.is_some_and(|host| host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("[::1]"));
    let what = match (host, reason) {
        (Some(host), Some(reason)) => format!("{host} cannot be reached: {reason}"),
        (Some(host), None) => format!("{host} cannot be reached: {}", case.gist()),
        (None, _) => format!("{} cannot be reached: {}", case.other_side(), case.gist()),
    };
    if local {
        return Told::new(
            what,
            "The provider looks for a cluster on the runner itself: its host, token or kubeconfig is not set, or the \
             cluster they are read from does not exist yet",
        );
    }
    let to = host.unwrap_or("the provider");
    Told::new(
        what,
        format!(
            "It is tried again by itself. If it stays, check the way from the runner to {to}: DNS, firewall, proxy"
        ),
    )
}

pub(super) fn outage(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let status =
        status::of(case.text).filter(|status| *status >= 500).map(|status| format!(" ({status})")).unwrap_or_default();
    let page = match case.cloud {
        Some(Cloud::Aws) => " See health.aws.amazon.com.",
        Some(Cloud::Gcp) => " See status.cloud.google.com.",
        Some(Cloud::Azure) => " See azure.status.microsoft.",
        Some(Cloud::DigitalOcean) => " See status.digitalocean.com.",
        Some(Cloud::Linode) => " See status.linode.com.",
        Some(Cloud::Kubernetes) | None => "",
    };
    let quote = request_id(text).map(|id| format!(" Their support wants the request id {id}.")).unwrap_or_default();
    Told::new(
        format!("{} does not work at the moment{status}: {}", case.other_side(), case.gist()),
        format!("The fault is on their side; it is tried again by itself.{page}{quote}")
            .trim_end_matches('.')
            .to_owned(),
    )
}

pub(super) fn timeout(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let wanted = after_any(text, &["state to become ", "wanted target "]).and_then(word);
    let last = after_any(text, &["last state: ", "last state "]).and_then(word);
    let limit = after_any(text, &["timeout: ", "timed out after ", "timeout of "]).and_then(word);
    let limit = limit.map(|limit| format!("after {limit} ")).unwrap_or_default();
    let about = || {
        Some(cut(clause(between(text, "waiting for ", ": ")?), 80))
            .filter(|about| !about.starts_with("state to become"))
    };
    let what = match (last, wanted) {
        (Some(last), Some(wanted)) => format!("{limit}it was still '{last}' and not '{wanted}'"),
        (Some(last), None) if after(text, "to be gone").is_some() => {
            format!("{limit}it was still there, in state '{last}'")
        }
        (Some(last), None) => format!("{limit}it was still '{last}'"),
        _ => match about() {
            Some(about) => format!("waiting for {about} took too long: {}", case.gist()),
            None => format!("it took too long: {}", case.gist()),
        },
    };
    Told::new(
        what,
        "It may still get there: look at it in the cloud's console, then reconcile to go on from where it is; if it is \
         only slow, raise the resource's `timeouts` in the module",
    )
}
