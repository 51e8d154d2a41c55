//! In words: limits of the account, of the rate of requests, and of what a cloud has in store.

use super::cloud::Cloud;
use super::facts::{after, after_any, between, clause, number, place, retry_after, size, word};
use super::gist;
use super::told::{Case, Told};

/// Which limit, and how far from enough it is.
#[derive(Debug, Default, PartialEq, Eq)]
struct Limit {
    name: String,
    had: Option<String>,
    used: Option<String>,
    /// Altogether.
    needed: Option<String>,
    /// Beyond what is in use.
    more: Option<String>,
}

pub(super) fn quota(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let limit = Limit::of(text);
    let place = place(text).map(|place| format!(" in {place}")).unwrap_or_default();
    let what = match &limit {
        None => format!("a limit of the account is reached{place}: {}", case.gist()),
        Some(limit) => {
            let had = limit.had.as_ref().map(|had| format!(" of {had}")).unwrap_or_default();
            format!("the {} limit{had} is reached{place}{}", limit.name, limit.demand())
        }
    };
    let to = limit.and_then(|limit| limit.needed).map(|needed| format!(" to at least {needed}")).unwrap_or_default();
    let whereabouts = match case.cloud {
        Some(Cloud::Aws) => "under AWS Service Quotas, in the region in question",
        Some(Cloud::Gcp) => "under Google Cloud's IAM & Admin > Quotas",
        Some(Cloud::Azure) => "in the Azure portal under Subscriptions > Usage + quotas",
        Some(Cloud::DigitalOcean) => "with a support ticket to DigitalOcean",
        Some(Cloud::Linode) => "with a support ticket to Linode",
        Some(Cloud::Kubernetes) => "in the namespace's ResourceQuota",
        None => "with the provider",
    };
    Told::new(what, format!("Raise the limit{to} {whereabouts}, or remove what is no longer needed; then reconcile"))
}

impl Limit {
    fn demand(&self) -> String {
        let parts: Vec<String> = [(&self.needed, "needed"), (&self.more, "more needed"), (&self.used, "in use")]
            .into_iter()
            .filter_map(|(count, what)| count.as_ref().map(|count| format!("{count} {what}")))
            .collect();
        if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
    }

    fn of(text: &str) -> Option<Limit> {
        let owned = |found: Option<&str>| found.map(str::to_owned);
        let count = |mark: &str| owned(after(text, mark).and_then(number));
        if let Some(name) = between(text, "exceeding approved ", " quota") {
            let needed = count("new limit required: ");
            let more = if needed.is_none() { count("additional required: ") } else { None };
            return Some(Limit {
                name: name.into(),
                had: count("current limit: "),
                used: count("current usage: "),
                needed,
                more,
            });
        }
        if let Some(name) =
            after(text, "insufficient regional quota").and_then(|rest| after(rest, "resource ")).and_then(word)
        {
            return Some(Limit {
                name: name.into(),
                had: count("quota of "),
                needed: count("requires "),
                ..Limit::default()
            });
        }
        if let Some(rest) = after(text, "exceeded quota: ") {
            let amounts =
                |mark: &str| owned(between(rest, mark, ", used:").or_else(|| between(rest, mark, ", limited:")));
            let had = after(rest, "limited: ").map(|limit| clause(limit).to_owned());
            return Some(Limit {
                name: word(rest)?.into(),
                had,
                used: amounts("used: "),
                more: amounts("requested: "),
                needed: None,
            });
        }
        if let Some(name) = after_any(text, &["quota limits of ", "exceeding quota limit of "]).and_then(word) {
            return Some(Limit {
                name: name.into(),
                had: count("maximum allowed: "),
                used: count("in use: "),
                more: count("requested: "),
                needed: None,
            });
        }
        if let Some(name) = after(text, "insufficient ")
            .and_then(word)
            .filter(|name| after(text, &format!("insufficient {name} quota")).is_some())
        {
            return Some(Limit { name: name.into(), had: None, used: None, needed: None, more: count("requested ") });
        }
        if let Some(name) = after(text, "quota '").or_else(|| after(text, "quota \"")).and_then(word) {
            return Some(Limit { name: name.into(), had: count("limit: "), ..Limit::default() });
        }
        if let Some(name) = after(text, "exceed quota for ").and_then(word) {
            return Some(Limit { name: name.into(), had: count(&format!("{name}: ")), ..Limit::default() });
        }
        if let Some(name) = between(text, "than your current ", " limit of") {
            let needed = between(text, "more ", " than").and_then(|more| after(more, "(")).and_then(number);
            return Some(Limit {
                name: name.into(),
                had: count("limit of "),
                needed: owned(needed),
                ..Limit::default()
            });
        }
        if let Some(name) = between(text, "maximum number of ", " has been reached").filter(|name| name.len() < 40) {
            return Some(Limit { name: name.into(), ..Limit::default() });
        }
        Limit::of_code(text)
    }

    /// From a code such as `NatGatewayLimitExceeded`, or a sentence such as "will exceed your droplet limit".
    fn of_code(text: &str) -> Option<Limit> {
        let named = |name: &str| Limit { name: name.into(), ..Limit::default() };
        let before = |mark: &str| text.find(mark).and_then(|at| text[..at].rsplit([' ', '"', '=', '(']).next());
        let name = match before("LimitExceeded").filter(|code| !code.is_empty())? {
            "Vpc" => "VPC".to_owned(),
            "Vcpu" => "vCPU".to_owned(),
            "Address" => "Elastic IP address".to_owned(),
            "NatGateway" => "NAT gateway".to_owned(),
            code => spaced(code),
        };
        Some(Limit { had: after(text, "limit of ").and_then(number).map(str::to_owned), ..named(&name) })
    }
}

/// `InternetGateway` as words.
fn spaced(code: &str) -> String {
    let mut words = String::new();
    for c in code.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

pub(super) fn throttle(case: &Case<'_>) -> Told {
    let retry_after = retry_after(case.text.plain());
    let what = format!("{} asks to slow down: {}", case.other_side(), case.gist());
    let when = match retry_after {
        Some(seconds) => format!("after the {seconds} s it asks for"),
        None => "with growing pauses".to_owned(),
    };
    let hint = format!("Nothing to fix: it is tried again {when}. If it goes on, let fewer operations run at once");
    Told { retry_after, ..Told::new(what, hint) }
}

pub(super) fn capacity(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let nodes = case.text.says("nodes are available")
        || case.text.says("insufficient cpu")
        || case.text.says("insufficient memory");
    if nodes {
        return Told::new(
            format!("the cluster has no room: {}", case.gist()),
            "Add nodes or larger ones, or ask for less CPU and memory; it is tried again later",
        );
    }
    let size = size(text).unwrap_or("this");
    let what = match place(text) {
        Some(place) => format!("{} has no room for {size} in {place} just now", case.other_side()),
        None => format!("{} has no room for it just now: {}", case.other_side(), case.gist()),
    };
    let others = after_any(text, &["choose from these availability zones: ", "or choosing ", "by choosing "])
        .map(|rest| gist::cut(clause(rest), 100))
        .map(|zones| format!(" ({zones} would do)"))
        .unwrap_or_default();
    Told::new(what, format!("Choose another zone{others} or another size; the same is tried again later by itself"))
}
