//! In words: the state, Terraform and its plugins, the runner's disk, and whatever has no better name.

use super::facts::{after, after_any, between, provider, word};
use super::gist::cut;
use super::signs;
use super::told::{Case, Told};

pub(super) fn state_lock(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    let field =
        |name: &str, next: &str| between(text, name, next).filter(|value| !value.contains(": ") || name == "Created:");
    let who = field("Who:", "Version:").map(|who| format!(" by {}", cut(who, 80)));
    let since = between(text, "Created:", " Info:").or_else(|| after(text, "Created:").map(|rest| rest.trim()));
    let since = since.map(|since| format!(" since {}", short_time(since)));
    let doing = field("Operation:", "Who:")
        .map(|doing| format!(" ({})", doing.trim_start_matches("OperationType").to_lowercase()));
    let id = after(text, "Lock Info: ID:").and_then(word).map(|id| format!(" (`terraform force-unlock {id}`)"));
    let known = who.is_some() || since.is_some();
    let what = format!(
        "the state is locked{}{}{}",
        who.unwrap_or_default(),
        since.unwrap_or_default(),
        doing.unwrap_or_default()
    );
    let what = if known { what } else { format!("{what}: {}", case.gist()) };
    Told::new(
        what,
        format!(
            "It is tried again by itself. Release the lock by hand{} only if its holder is certainly gone",
            id.unwrap_or_default()
        ),
    )
}

/// `2026-01-02 10:00:00.123 +0000 UTC` to the second.
fn short_time(time: &str) -> String {
    let seconds = time.split('.').next().unwrap_or(time);
    let end = seconds.char_indices().nth(19).map_or(seconds.len(), |(at, _)| at);
    format!("{} UTC", seconds[..end].trim_end())
}

pub(super) fn state_corruption(case: &Case<'_>) -> Told {
    let text = case.text.plain();
    if let Some(version) =
        between(text, "was created by Terraform v", ",").or_else(|| between(text, "was created by OpenTofu v", ","))
    {
        return Told::new(
            format!("the state was written by version {version}, which is newer than the one in use"),
            format!("Use version {version} or later, or restore a state from before it was used"),
        );
    }
    if case.text.says_any(&[
        "failed to save state",
        "failed to persist state*",
        "error saving state",
        "failed to write state",
    ]) {
        return Told::new(
            format!("the state could not be written back: {}", case.gist()),
            "Do not apply again before the state is stored: the run keeps it as errored.tfstate",
        );
    }
    Told::new(
        format!("the state cannot be used: {}", case.gist()),
        "Choose one of the resource's restore points and restore it; nothing is changed until then",
    )
}

pub(super) fn crash(case: &Case<'_>) -> Told {
    let text = case.text;
    if text.says_any(&[
        "*out of memory*",
        "cannot allocate memory",
        "signal: killed",
        "exit status 137",
        "oomkilled",
        "oom-killed",
    ]) {
        return Told::new(
            "the run was ended for want of memory",
            "Raise the job's memory limit, or run fewer operations in parallel; log and last state are kept",
        );
    }
    let bug = text.says("provider produced*") || text.says("provider returned invalid*");
    let plugin = || {
        let rest = after_any(text.plain(), &["terraform-provider-", "provider[\"", "provider \""])?;
        let name = word(rest)?.trim_end_matches(['"', ']', '.']);
        // `aws_v5.31.0_x5` is the plugin's file.
        Some(match name.split_once("_v") {
            Some((name, version)) => format!("{name} {}", version.split('_').next().unwrap_or(version)),
            None => name.to_owned(),
        })
    };
    let name = plugin().map(|name| format!(" {}", cut(&name, 60))).unwrap_or_default();
    let what = if text.says("terraform crash") {
        "Terraform crashed".to_owned()
    } else if bug {
        format!("the provider{name} contradicts itself: {}", case.gist())
    } else if text.says("panic:") && name.is_empty() {
        format!("a program crashed: panic: {}", cut(after(text.plain(), "panic:").unwrap_or_default().trim(), 160))
    } else {
        format!("the provider{name} crashed")
    };
    Told::new(
        what,
        "Log and last state are kept. It is tried again once; if it comes back, use another version of the provider and report it to its makers",
    )
}

pub(super) fn disk(case: &Case<'_>) -> Told {
    let path = after_any(case.text.plain(), &["write ", "mkdir ", "open ", "copy to "]).and_then(word);
    let path =
        path.filter(|path| path.starts_with('/')).map(|path| format!(" at {}", cut(path, 120))).unwrap_or_default();
    Told::new(
        format!("the runner's disk is full{path}"),
        "An operator has to make room on the runner; it is tried again by itself, on another one where there is one",
    )
}

pub(super) fn installation(case: &Case<'_>) -> Told {
    let text = case.text;
    let what = match provider(text.plain()) {
        Some(provider) => format!("provider {provider} could not be installed"),
        None => "a provider or module could not be installed".to_owned(),
    };
    let gist = case.gist();
    let named = [
        "Error while installing ",
        "Error while importing ",
        "Could not retrieve the list of available versions for provider ",
    ];
    let why = match gist.split_once(": ") {
        Some((start, why)) if named.iter().any(|name| start.starts_with(name)) => why,
        _ => &gist,
    };
    let what = format!("{what}: {why}");
    if text.says_any(&["*checksum*", "*signature*"]) && !text.says("could not connect") {
        Told::new(
            what,
            "What was downloaded is not what the module's lock file expects. Compare it with the provider's published \
             checksums; if they are right, renew .terraform.lock.hcl with `terraform providers lock`",
        )
        .lasting()
    } else if text.says_any(signs::PASSES) {
        Told::new(
            what,
            "It is tried again by itself. If it stays, check the way from the runner to the registry, or use a mirror",
        )
    } else {
        Told::new(what, "Correct the provider's or module's source and version in the module, then reconcile").lasting()
    }
}

pub(super) fn rejected(case: &Case<'_>) -> Told {
    if case.text.says_any(signs::STOPPED) {
        return Told::new(
            format!("{} was stopped before it was done", case.command),
            "Reconcile to go on from where it stopped",
        );
    }
    let gist = case.gist();
    let what = match (gist.is_empty(), case.diagnostic.summary.trim()) {
        (true, _) => format!("{} failed and did not say why", case.command),
        (false, summary) if summary.is_empty() || case.diagnostic.detail.trim().is_empty() => gist,
        (false, summary) => format!("{}: {gist}", cut(summary, 120)),
    };
    let hint = if case.text.says("provisioner error") || case.text.says("error running command") {
        "A command that the module runs has failed: read its output in the run's log and correct it, then reconcile"
    } else {
        "Terrane does not know this error; the run's log has all of it, and it is tried again later"
    };
    Told::new(what, hint)
}
