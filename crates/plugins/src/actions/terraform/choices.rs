//! What a person can do about a failure, and how that is put.

use model::job::{Goal, JobReport, Suspect};
use model::plugin::{Call, Step};
use model::{Choice, Class, Failure, Retry};

use super::memory::Memory;
use super::report::suspect;
use super::stage::Stage;

/// A run that failed for good, with what can be done about it. `ask`: nothing is done until a person chooses.
pub(super) fn of(
    call: &Call,
    stage: &Stage,
    report: &JobReport,
    memory: &Memory,
    mut failure: Failure,
    ask: bool,
) -> Failure {
    failure.choices = choices(call, stage, report, memory);
    failure.alert = stage.goal == Goal::Destroy || matches!(failure.class, Class::Crash | Class::Uncertain);
    if ask {
        failure.retry = Some(Retry::OnChange);
    }
    if failure.class == Class::Conflict && failure.address.is_some() && stage.goal == Goal::Apply {
        failure.choices.push(Choice::Import);
        failure.hint = import_hint(call, memory, &failure);
    } else if memory.may_hold_more() && stage.goal == Goal::Apply {
        failure.choices.push(Choice::Import);
    }
    failure
}

fn choices(call: &Call, stage: &Stage, report: &JobReport, memory: &Memory) -> Vec<Choice> {
    let mut choices = vec![Choice::Retry];
    if stage.goal != Goal::Apply {
        return choices;
    }
    let something = !report.objects.is_empty();
    choices.extend(something.then_some(Choice::Continue));
    choices.extend(memory.can_roll_back(call).then_some(Choice::Rollback));
    choices.extend((something && memory.applied.is_none()).then_some(Choice::Cleanup));
    choices
}

/// What exists already may be what an earlier run began and could not write down.
fn import_hint(call: &Call, memory: &Memory, failure: &Failure) -> String {
    let address = failure.address.as_deref().unwrap_or_default();
    let begun = memory.suspects.iter().find(|suspect| suspect.may_be_new() && suspect.address == address);
    let id = begun.and_then(|begun| begun.id.as_deref().or(begun.name.as_deref())).unwrap_or("ID");
    let command = format!("terrane import {}/{} {} {id}", call.resource.type_name, call.resource.name, quoted(address));
    match begun {
        Some(begun) => {
            let when = "An earlier run was cut off while it made this, so it is most likely the same";
            format!("{when} ({}). To take it over: {command}", suspect(begun))
        }
        None => format!("{} If it is to be managed here: {command}", sentence(&failure.hint)),
    }
}

/// As a shell takes it.
fn quoted(text: &str) -> String {
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    if plain { text.into() } else { format!("'{text}'") }
}

/// A person stopped it.
pub(super) fn stopped(call: &Call, stage: &Stage, report: &JobReport, memory: &Memory) -> Failure {
    let failure = Failure::new(Class::Cancelled, call.step, "a person stopped it")
        .with_hint("What was made until then is in the state; to undo it all: terrane delete");
    match stage.cleans_up_after {
        Some(_) => Failure { choices: vec![Choice::Cleanup, Choice::Continue, Choice::Retry], ..failure },
        None => {
            let mut choices = choices(call, stage, report, memory);
            choices.extend((memory.may_hold_more() && stage.goal == Goal::Apply).then_some(Choice::Import));
            Failure { choices, ..failure }
        }
    }
}

/// It was stopped before a runner had it, or its plan was refused.
pub(super) fn unbegun(call: &Call, memory: &Memory) -> Failure {
    let mut choices = vec![Choice::Retry];
    choices.extend(memory.can_roll_back(call).then_some(Choice::Rollback));
    let failure = Failure::new(Class::Cancelled, call.step, "a person stopped it before it was begun");
    Failure { choices, ..failure.with_hint("Nothing was changed.") }
}

/// A person does not want what a failed provision has left.
pub(super) fn given_up() -> Failure {
    Failure::new(Class::Cancelled, Step::Apply, "the failed provision was given up by a person")
}

pub(super) fn cleaned_up(first: &Failure, remains: bool) -> Failure {
    let but = if remains { ", but for what may exist without being in the state" } else { "" };
    let message = format!("{}; what had been made was removed again{but}", first.message);
    let next = "Nothing is provisioned until the spec changes or somebody asks for it.";
    let hint = format!("{} {next}", sentence(&first.hint));
    Failure {
        message,
        hint: hint.trim_start().into(),
        retry: Some(Retry::OnChange),
        choices: vec![Choice::Retry],
        alert: remains,
        ..first.clone()
    }
}

pub(super) fn not_cleaned_up(first: &Failure, then: &Failure) -> Failure {
    let message = format!("{}; and removing what had been made failed: {}", first.message, then.message);
    let hint = format!("{} What remains is listed under `holds`. {}", sentence(&first.hint), sentence(&then.hint));
    Failure {
        message,
        hint: hint.trim().into(),
        retry: Some(Retry::OnChange),
        choices: vec![Choice::Cleanup, Choice::Continue, Choice::Retry],
        alert: true,
        ..first.clone()
    }
}

/// All that the state has is destroyed; what no state has may be left.
pub(super) fn perhaps_more(call: &Call, suspects: &[Suspect]) -> Failure {
    let begun: Vec<_> = suspects.iter().filter(|suspect| suspect.may_be_new()).map(suspect).collect();
    let message = format!("what the state has is destroyed, but something may be left: {}", begun.join("; "));
    Failure { alert: true, choices: vec![Choice::Retry], ..Failure::new(Class::Uncertain, call.step, message) }
        .with_hint("Look for it in the cloud, and remove it there.")
}

fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.into() } else { format!("{text}.") }
}
