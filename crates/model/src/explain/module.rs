//! In words: what was asked for cannot be, is there already, or is held by something else.

use super::facts::{after, after_any, between, clause, word};
use super::gist::cut;
use super::signs;
use super::told::{Case, Told};

pub(super) fn invalid(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let own = case.diagnostic;
    let place = own.place().map(|place| format!(" ({place})")).unwrap_or_default();
    let summary = own.summary.trim();
    let what = if summary.is_empty() || own.detail.trim().is_empty() || !is_title(summary) {
        case.gist()
    } else {
        format!("{}: {}", lower_first(summary), case.gist())
    };
    let hint = if case.text.says_any(signs::PROTECTED) {
        "Take the protection off first, if it really is to go; then reconcile".to_owned()
    } else if case.text.says_any(signs::POLICY) {
        "Change what is asked for so that the named policy allows it, or have the policy changed; then reconcile"
            .to_owned()
    } else {
        correction(case, text)
    };
    Told::new(format!("{what}{place}"), hint)
}

fn correction(case: &Case<'_>, text: &str) -> String {
    let field = field(case, text);
    if let Some(meant) = after(text, "did you mean ").and_then(word) {
        let wrong = field.unwrap_or_else(|| "it".into());
        return format!("Write {} for {wrong}, then reconcile", meant.trim_end_matches('?'));
    }
    match (field, allowed(text)) {
        (Some(field), Some(allowed)) => format!("Set {field} to one of {allowed}, then reconcile"),
        (Some(field), None) => format!("Correct {field}, then reconcile"),
        (None, Some(allowed)) => format!("Allowed are {allowed}; correct it, then reconcile"),
        (None, None) => "Correct the resource's spec or its module, then reconcile".to_owned(),
    }
}

/// Which field is wrong.
fn field(case: &Case<'_>, text: &str) -> Option<String> {
    let quoted = || {
        let marks = [
            "argument named ",
            "attribute named ",
            "block type named ",
            "blocks of type ",
            "input variable with the name ",
            "the argument ",
            "for field ",
            "invalid value for field ",
            "root module input variable ",
            "for parameter ",
            "input variable ",
            "invalid value for attribute ",
        ];
        after_any(text, &marks).filter(|rest| rest.starts_with(['"', '\''])).and_then(word)
    };
    let expected = || between(text, "expected ", " to be ").filter(|field| !field.contains(' '));
    let variable = || {
        let snippet = case.diagnostic.snippet.as_ref()?;
        let block = snippet.context.as_deref().unwrap_or(&snippet.code);
        after(block, "variable ").and_then(word)
    };
    let bracketed = || {
        let (_, rest) = text.split_once("] [")?;
        rest.split(']').next().filter(|field| !field.contains(' '))
    };
    let pointed = || {
        let (before, _) = text.split_once(": Invalid value: ").or_else(|| text.split_once(": Unsupported value: "))?;
        before.rsplit(' ').next()
    };
    let found = quoted().or_else(expected).or_else(pointed).or_else(bracketed).or_else(variable)?;
    Some(cut(found, 80)).filter(|field| !field.is_empty())
}

/// What would be right, as the text lists it.
fn allowed(text: &str) -> Option<String> {
    let marks = [
        "to be one of ",
        "must be one of ",
        "must be one of: ",
        "valid values are ",
        "valid values: ",
        "supported values: ",
        "supported versions are ",
        "allowed values are ",
        "available vm sizes are ",
        "possible values are ",
        "expected one of ",
    ];
    let rest = after_any(text, &marks)?.trim_start_matches([' ', ':']);
    let end = rest.find("], got").map(|at| at + 1).or_else(|| rest.find(", got"));
    let listed = clause(&rest[..end.unwrap_or(rest.len())]);
    let listed = listed.trim_matches(['[', ']', '\'']);
    let unpaired = listed.matches('"').count() % 2 == 1;
    let listed = if unpaired { listed.trim_end_matches('"') } else { listed };
    Some(cut(listed, 200)).filter(|listed| !listed.is_empty())
}

/// A title such as "Unsupported argument", and no sentence of a cloud.
fn is_title(summary: &str) -> bool {
    summary.len() < 80 && !summary.contains(": ")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    let abbreviation = rest.starts_with(|c: char| c.is_uppercase());
    if abbreviation { text.to_owned() } else { first.to_lowercase().chain(rest.chars()).collect() }
}

pub(super) fn conflict(case: &Case<'_>) -> Told {
    let text = case.text;
    if text.says("plan is stale") || text.says("configuration was changed .. since") {
        return Told::new(
            format!("what was planned is out of date: {}", case.gist()),
            "Reconcile to get a new plan, and approve that one",
        );
    }
    if text.says_any(&[
        "has been modified; please apply",
        "etag mismatch",
        "field manager conflict",
        "conflict with .. manager",
    ]) {
        return Told::new(
            format!("somebody else changed it meanwhile: {}", case.gist()),
            "Find out who else manages it; then reconcile",
        );
    }
    let id = after(text.plain(), "with the id ").and_then(word).map(|id| format!(" (its id is {})", cut(id, 200)));
    Told::new(
        format!("it is there already, and not ours: {}", case.gist()),
        format!(
            "Take it over with an `import` block in the module{}, choose another name, or remove the one that is there; \
             then reconcile",
            id.unwrap_or_default()
        ),
    )
}

pub(super) fn dependency(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let busy = case.text.says_any(&[
        "*in progress*",
        "*inprogress*",
        "operation .. in progress",
        "pending event",
        "*busy",
        "incompatible operation",
        "is not ready, resourcenotready",
        "*concurrentmodification*",
    ]);
    if busy {
        return Told::new(
            format!("something else is at work on it: {}", case.gist()),
            "Nothing to fix: it is tried again once that may be done",
        );
    }
    if case.text.says_any(&["*scopelocked*", "scope(s) are locked"]) {
        return Told::new(
            format!("a management lock holds it: {}", case.gist()),
            "Remove the named lock, if it really is to go; it is tried again by itself",
        );
    }
    let marks = [
        "being used by ",
        "in use by ",
        "is used by ",
        "has a dependent object ",
        "referenced by ",
        "because it is attached to ",
        "still in use by ",
        "associated with ",
    ];
    let holder = after_any(text, &marks)
        .map(|rest| clause(rest.split(" and cannot").next().unwrap_or(rest)).trim_matches(['"', '\'', '.', ' ']))
        .map(|holder| cut(holder, 120))
        .filter(|holder| !holder.is_empty());
    let what = format!("something else still needs it: {}", case.gist());
    Told::new(
        what,
        match holder {
            Some(holder) => format!("Remove what holds it, if nothing else does: {holder}. It is tried again by itself"),
            None => "Remove what was attached to it by hand or by a controller (load balancers, network interfaces, volumes, nodes); \
                     it is tried again by itself"
                .to_owned(),
        },
    )
}
