//! What a person is told when the work cannot go on by itself.

use model::plugin::Step;
use model::{Class, Failure};

use super::run::{Forge, Run};

/// Nobody can tell whether it was dispatched.
pub(super) fn uncertain<F: Forge>(forge: &F, step: Step, why: &str) -> Failure {
    let (name, noun) = (forge.name(), forge.noun());
    let message = format!("It is not known whether {name} was told to start the {noun}: {why}");
    let advice = if forge.marked() { "" } else { forge.marker_advice() };
    let again = match step {
        Step::Destroy => "Then delete the resource again: what is there by then is left alone",
        _ => "If it is not there, or has to run again, `terrane reconcile` starts it",
    };
    let hint = format!("Look whether the {noun} is there. {again}. {advice}");
    Failure::new(Class::Uncertain, step, message).with_hint(hint.trim_end())
}

pub(super) fn never_started<F: Forge>(forge: &F, step: Step, run: &Run, seconds: i64) -> Failure {
    let noun = forge.noun();
    let message = format!("The {noun} {} did not start within {}", run.url, length(seconds));
    Failure::new(Class::Timeout, step, message).with_hint(format!(
        "See whether a runner is online that has the labels or tags its jobs ask for, and whether other {noun}s are in \
         its way. Once that is mended, `terrane reconcile` goes on with it; `start_timeout` allows for more time"
    ))
}

pub(super) fn took_too_long<F: Forge>(forge: &F, step: Step, run: &Run, seconds: i64) -> Failure {
    let noun = forge.noun();
    let message = format!("The {noun} {} did not end within {}", run.url, length(seconds));
    Failure::new(Class::Timeout, step, message).with_hint(format!(
        "It goes on at {}. Cancel it there or let it end, then `terrane reconcile`; `timeout` allows for more time",
        forge.name()
    ))
}

pub(super) fn does_not_stop<F: Forge>(forge: &F, step: Step, run: &Run) -> Failure {
    let message = format!("The {} {} was cancelled, but does not stop", forge.noun(), run.url);
    Failure::new(Class::Timeout, step, message).with_hint("Stop it by hand, then delete the resource again")
}

fn length(seconds: i64) -> String {
    if seconds % 60 == 0 { format!("{} min", seconds / 60) } else { format!("{seconds} s") }
}
