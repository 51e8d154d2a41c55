//! How the ends of commands and jobs are put to people.

use model::explain::{Command, Context, Diagnostic, Exit, explain};
use model::job::{Goal, JobEnd};
use model::{Class, Failure};

use super::cage::Ended;
use super::guard::Why;
use super::job::{Job, Ran};
use crate::progress::Stage;

const CONTINUE: &str =
    "The state is kept as of the last resource that was finished; `terrane continue` goes on from there.";

/// A Terraform command that failed.
pub fn of_command(job: &Job<'_>, stage: Stage, ran: &Ran, diagnostics: &[Diagnostic]) -> Failure {
    let command = match (stage, job.terraform().goal) {
        (Stage::Fetch | Stage::Init, _) => Command::Init,
        (Stage::Plan, _) => Command::Plan,
        (Stage::Show, _) => Command::Show,
        (Stage::Apply, Goal::Destroy) => Command::Destroy,
        (Stage::Apply, _) => Command::Apply,
    };
    let exit = match &ran.ended {
        Ended::Code(code) => Exit::Code(*code),
        Ended::Signal(signal) => Exit::Signal(*signal),
        Ended::NotStarted(why) => {
            let message = format!("{} could not be started: {why}.", job.settings.terraform.display());
            return job.failure(Class::Installation, stage, message);
        }
        Ended::Gone | Ended::Halted => {
            return job.failure(Class::Crash, stage, "The box that the job ran in was killed from outside.");
        }
    };
    let context = Context::new(job.step(stage), command).ended(exit);
    let failure = explain(diagnostics, &ran.tail, context).failure;
    // What it is made of is redacted, but it may have been put together anew.
    let clean = |text: &str| job.log.redactor.text(text);
    Failure { message: clean(&failure.message), hint: clean(&failure.hint), ..failure }
}

/// Git has its own words.
pub fn of_fetch(job: &Job<'_>, url: &str, wanted: &str, ran: &Ran) -> Failure {
    let said = ran.tail.lines().find_map(|line| line.trim().strip_prefix("fatal: ")).unwrap_or("Git did not say why");
    let has = |words: &[&str]| words.iter().any(|word| ran.tail.contains(word));
    let (class, hint) =
        if has(&["Authentication failed", "could not read Username", "Permission denied", "access denied"]) {
            (Class::Credentials, "Give the job credentials for this repository, or make it readable.")
        } else if has(&["Could not resolve host", "timed out", "Connection refused", "unable to access", "early EOF"]) {
            (Class::Network, "Check that this runner can reach the Git server.")
        } else if has(&["couldn't find remote ref", "unknown revision", "not found", "does not appear to be"]) {
            (Class::InvalidConfig, "Check the repository's address and the tag, branch or commit.")
        } else {
            (Class::Installation, "")
        };
    let message = format!("The module's source {url} at {wanted} cannot be fetched: {}.", said.trim_end_matches('.'));
    job.failure(class, Stage::Fetch, message).with_hint(hint)
}

/// A job that was ended by its supervisor.
pub fn of_halt(job: &Job<'_>, stage: Stage, why: Why, killed: bool) -> JobEnd {
    let how = if killed { "killed" } else { "interrupted" };
    let failure = match why {
        Why::Stopped => return JobEnd::Cancelled,
        Why::Timeout => {
            let seconds = job.assignment.limits.timeout_seconds;
            let context = Context::new(job.step(stage), Command::Apply).ended(Exit::OutOfTime { seconds });
            let told = explain(&[], "", context).failure;
            let hint = if told.hint.is_empty() { CONTINUE.to_owned() } else { format!("{} {CONTINUE}", told.hint) };
            Failure { class: Class::Timeout, hint, ..told }
        }
        Why::Lease => {
            let message =
                format!("The control plane could not be reached in time to renew the lease, so Terraform was {how}.");
            job.failure(Class::Network, stage, message).with_hint(CONTINUE)
        }
        Why::Memory { used } => {
            let limit = job.assignment.limits.memory_bytes;
            let beyond = match used.saturating_sub(limit) {
                0 => "needed more than that".to_owned(),
                more => format!("took {} more", bytes(more)),
            };
            let message = format!("The job's memory is limited to {}; it {beyond} and was killed.", bytes(limit));
            job.failure(Class::Crash, stage, message).with_hint(
                "Raise the type's memory limit, or split the module: each provider and a large state take memory.",
            )
        }
    };
    JobEnd::Failed { failure }
}

fn bytes(count: u64) -> String {
    match count {
        0..0x100_000 => format!("{} KiB", count.div_ceil(1 << 10)),
        _ => format!("{} MiB", count.div_ceil(1 << 20)),
    }
}
