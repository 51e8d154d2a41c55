//! In words: credentials that are missing, wrong or expired, and permissions that are not there.

use super::cloud::Cloud;
use super::facts::{after, after_any, between, clause, word};
use super::gist::cut;
use super::told::{Case, Told};

const MISSING: &[&str] = &[
    "no valid credential*",
    "no valid providers in chain",
    "nocredentialproviders*",
    "find default credentials",
    "no ec2 imds role found",
    "no credentials*",
    "missing credentials",
    "attempted to load application default credentials",
    "token is required",
    "token must be set",
    "could not load credentials",
    "please run 'az login'",
    "subscription id could not be determined",
];
const NOT_ENABLED: &[&str] =
    &["service_disabled", "accessnotconfigured", "has not been used in project", "not registered to use namespace"];

pub(super) fn credentials(case: &Case<'_>) -> Told {
    let text = case.text;
    let side = case.other_side();
    if text.says("expired") || text.says("expiredtoken*") || text.says("requestexpired*") {
        return Told::new(
            format!("the credential for {side} has expired: {}", case.gist()),
            "Store a fresh one in the tenant's secret, then reconcile",
        );
    }
    if text.says_any(MISSING) {
        return Told::new(
            format!("no credential for {side} was found"),
            format!("Give the tenant a secret with {}, then reconcile", expected(case.cloud)),
        );
    }
    if text.says_any(NOT_ENABLED) {
        return Told::new(
            format!("the service is not enabled for this account: {}", case.gist()),
            match case.cloud {
                Some(Cloud::Azure) => "Register the named resource provider for the subscription, then reconcile",
                _ => "Enable the named API for the project, wait a few minutes, then reconcile",
            },
        );
    }
    match Denied::of(text.plain()) {
        Some(denied) => denied.told(case.cloud),
        None => Told::new(
            format!("{side} denies access: {}", case.gist()),
            format!(
                "Check that the tenant's credential ({}) is right and may do this, then reconcile",
                expected(case.cloud)
            ),
        ),
    }
}

fn expected(cloud: Option<Cloud>) -> &'static str {
    match cloud {
        Some(Cloud::Aws) => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role to assume",
        Some(Cloud::Gcp) => "GOOGLE_CREDENTIALS",
        Some(Cloud::Azure) => "ARM_CLIENT_ID, ARM_CLIENT_SECRET, ARM_TENANT_ID and ARM_SUBSCRIPTION_ID",
        Some(Cloud::DigitalOcean) => "DIGITALOCEAN_TOKEN",
        Some(Cloud::Linode) => "LINODE_TOKEN",
        Some(Cloud::Kubernetes) => "the cluster's address and token",
        None => "the credential that the provider expects",
    }
}

/// What may not be done, on what, by whom.
#[derive(Debug, PartialEq, Eq)]
struct Denied {
    permission: String,
    on: Option<String>,
    whom: Option<String>,
}

impl Denied {
    fn of(text: &str) -> Option<Denied> {
        let whom = after(text, "user: ")
            .or_else(|| after(text, "the client "))
            .or_else(|| after(text, "user \""))
            .and_then(word);
        let object = |marks: &[&str]| after_any(text, marks).and_then(word);
        let (permission, on) =
            if let Some(rest) = after(text, "authorized to perform").filter(|rest| !rest.starts_with(" this")) {
                (word(rest)?.to_owned(), object(&["on resource: "]))
            } else if let Some(rest) = after(text, "authorization to perform action ") {
                (word(rest)?.to_owned(), object(&["over scope "]))
            } else if let Some(rest) = after(text, " cannot ").filter(|rest| after(rest, " resource \"").is_some()) {
                let place = between(rest, "in the namespace \"", "\"").map(|name| format!("namespace {name}"));
                let permission = format!("{} {}", word(rest)?, word(after(rest, " resource ")?)?);
                return Some(Denied {
                    permission,
                    on: place.or(Some("the cluster".into())),
                    whom: whom.map(str::to_owned),
                });
            } else if let Some(name) =
                between(text, "required '", "' permission").or_else(|| between(text, "required \"", "\" permission"))
            {
                (name.to_owned(), object(&["permission for "]))
            } else if let Some(name) = between(text, "permission '", "' denied")
                .or_else(|| between(text, "permission ", " denied"))
                .filter(|name| name.contains('.') && !name.contains(' '))
            {
                (name.to_owned(), object(&["denied on resource ", "denied for ", "denied on "]))
            } else if let Some(name) =
                between(text, "does not have ", " access").filter(|name| name.contains('.') && !name.contains(' '))
            {
                (name.to_owned(), None)
            } else {
                (of_operation(text)?, None)
            };
        let named = |found: Option<&str>| found.map(|found| cut(found, 120));
        Some(Denied { permission: cut(&permission, 120), on: named(on), whom: named(whom) })
    }

    fn told(self, cloud: Option<Cloud>) -> Told {
        let on = self.on.map(|on| format!(" on {on}")).unwrap_or_default();
        let whom = self.whom.unwrap_or_else(|| "the credential in use".into());
        let whereabouts = match cloud {
            Some(Cloud::Aws) => "by an IAM policy (mind service control policies)",
            Some(Cloud::Gcp) => "by an IAM role",
            Some(Cloud::Azure) => "by a role assignment",
            Some(Cloud::Kubernetes) => "by a Role and a RoleBinding",
            _ => "where tokens are given their scopes",
        };
        Told::new(
            format!("{} is denied{on}", self.permission),
            format!("Grant {} to {whom} {whereabouts}, then reconcile", self.permission),
        )
    }
}

/// AWS names the call, and the permission after it: `operation error EC2: CreateVpc` needs `ec2:CreateVpc`.
fn of_operation(text: &str) -> Option<String> {
    let rest = clause(after(text, "operation error ")?);
    let (service, rest) = rest.split_once(": ")?;
    Some(format!("{}:{}", service.to_lowercase().replace(' ', ""), word(rest)?))
}
