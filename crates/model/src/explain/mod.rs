//! Why a Terraform run failed, told to the person who is woken by it: what went wrong, at which resource, and how to fix
//! it. Terraform's providers each have their own words for the same few misfortunes; here they become a class, on which
//! retries are decided, a sentence and a hint.
//!
//! `signs` has the words by which a class is known, `class` the order in which they are read; the rest puts a failure
//! of each class into words.

mod access;
mod address;
mod class;
mod cloud;
mod diagnostic;
mod facts;
mod gist;
mod limits;
mod machinery;
mod module;
mod reach;
mod signs;
mod status;
mod text;
mod told;

pub use cloud::Cloud;
pub use diagnostic::{Diagnostic, Position, Range, Snippet};

use class::Situation;
use text::Text;
use told::{Case, Told};

use crate::failure::{Class, Failure, Retry};
use crate::plugin::Step;
use crate::words::words;

words!(
    /// What Terraform was asked to do when it failed.
    Command {
        Init = "init",
        Validate = "validate",
        Plan = "plan",
        Show = "show",
        Apply = "apply",
        Destroy = "destroy",
        Output = "output",
        Import = "import",
    }
);

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// The job's own limit was over, and it was stopped.
    OutOfTime {
        seconds: u64,
    },
}

/// Where in a run it failed.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub step: Step,
    pub command: Command,
    pub exit: Exit,
    /// The resource in question, where the diagnostics do not name it.
    pub address: Option<&'a str>,
    /// Where neither address nor text tell.
    pub cloud: Option<Cloud>,
}

impl<'a> Context<'a> {
    pub fn new(step: Step, command: Command) -> Context<'a> {
        Context { step, command, exit: Exit::Code(1), address: None, cloud: None }
    }

    pub fn ended(self, exit: Exit) -> Context<'a> {
        Context { exit, ..self }
    }

    pub fn at(self, address: &'a str) -> Context<'a> {
        Context { address: Some(address), ..self }
    }
}

/// A failure, and what does not fit into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub failure: Failure,
    /// The resource that failed.
    pub address: Option<String>,
    pub cloud: Option<Cloud>,
    /// How many other errors the run had.
    pub others: usize,
}

/// Explains a run by its diagnostics and, where there are none, by what it printed and how it ended.
pub fn explain(diagnostics: &[Diagnostic], printed: &str, at: Context<'_>) -> Explanation {
    if let Exit::OutOfTime { seconds } = at.exit {
        return out_of_time(seconds, at);
    }
    let mut errors: Vec<Diagnostic> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).cloned().collect();
    // A crash is told on the standard error only, after whatever Terraform could still say itself.
    let crashed = || class::of(&Text::of(""), &Text::of(printed), Situation::default()) == Some(Class::Crash);
    if errors.is_empty() {
        errors = Diagnostic::printed(printed);
    } else if crashed() {
        errors.push(Diagnostic::error("", printed));
    }
    if errors.len() > 1 {
        errors.retain(|error| !only_announces(error));
    }
    if let Exit::Signal(signal) = at.exit
        && !errors.iter().any(|error| class_of(error, at).is_some())
    {
        return killed(signal, at);
    }
    let found = errors.iter().map(|error| explain_one(error, at));
    let first = found.min_by_key(|explanation| rank(explanation.failure.class));
    let explanation = first.unwrap_or_else(|| explain_one(&Diagnostic::error("", ""), at));
    explanation.among(errors.len().saturating_sub(1))
}

/// Says that there are errors, which then follow.
fn only_announces(error: &Diagnostic) -> bool {
    let text = format!("{} {}", error.summary, error.detail).replace('\n', " ");
    text.contains("problems during initialisation") || text.contains("configuration, described below")
}

/// Explains one diagnostic.
pub fn explain_one(diagnostic: &Diagnostic, at: Context<'_>) -> Explanation {
    let address = diagnostic.resource().or_else(|| at.address.map(str::to_owned));
    let text = Text::of(&format!("{}\n{}", diagnostic.summary, diagnostic.detail));
    let cloud = address.as_deref().and_then(Cloud::of_address).or_else(|| Cloud::of_text(&text)).or(at.cloud);
    // What nobody recognises counts as work that ran and failed: it is tried again, ever more rarely, and its text is shown.
    // To wait for a change would strand what heals by itself; to call it uncertain would wake a person for every new text.
    let class = class_of(diagnostic, at).unwrap_or(Class::Rejected);
    let case = Case { diagnostic, text: &text, cloud, command: command_words(at.command) };
    let told = case.tell(class);
    put(class, told, address, cloud, at)
}

/// Explains text alone, as [`explain_one`] does.
pub fn explain_text(text: &str, at: Context<'_>) -> Explanation {
    explain(&[], text, at)
}

impl Explanation {
    fn among(mut self, others: usize) -> Explanation {
        let more = match others {
            0 => return self,
            1 => " (and 1 other error)".to_owned(),
            others => format!(" (and {others} other errors)"),
        };
        self.failure.message.push_str(&more);
        self.others = others;
        self
    }
}

fn class_of(diagnostic: &Diagnostic, at: Context<'_>) -> Option<Class> {
    let address = diagnostic.resource().or_else(|| at.address.map(str::to_owned));
    let summary = Text::of(&diagnostic.summary);
    let whole = Text::of(&format!("{}\n{}", diagnostic.summary, diagnostic.detail));
    class::of(&summary, &whole, Situation { destroying: is_destroying(at), address: address.as_deref() })
}

fn put(class: Class, told: Told, address: Option<String>, cloud: Option<Cloud>, at: Context<'_>) -> Explanation {
    let subject = match &address {
        Some(address) => format!("{}: ", gist::cut(address, gist::LONGEST)),
        None if at.command == Command::Init => "terraform init: ".to_owned(),
        None => String::new(),
    };
    let failure = Failure {
        retry_after_seconds: told.retry_after,
        // A checksum that does not match, for one: trying again by itself cannot help, whatever is usual for the class.
        retry: told.lasting.then_some(Retry::OnChange),
        address: address.clone(),
        ..Failure::new(class, at.step, format!("{subject}{}", told.what)).with_hint(told.hint)
    };
    Explanation { failure, address, cloud, others: 0 }
}

fn is_destroying(at: Context<'_>) -> bool {
    at.step == Step::Destroy || at.command == Command::Destroy
}

fn command_words(command: Command) -> &'static str {
    match command {
        Command::Init => "terraform init",
        Command::Validate => "terraform validate",
        Command::Plan => "terraform plan",
        Command::Show => "terraform show",
        Command::Apply => "terraform apply",
        Command::Destroy => "terraform destroy",
        Command::Output => "terraform output",
        Command::Import => "terraform import",
    }
}

/// Of several errors the one to report is the one that may have caused the others, and among unrelated ones the one that
/// needs a person: trying again cannot succeed while it is there.
fn rank(class: Class) -> usize {
    const ROOTS_FIRST: [Class; 15] = [
        Class::Disk,
        Class::Crash,
        Class::StateCorruption,
        Class::StateLock,
        Class::Installation,
        Class::Credentials,
        Class::Quota,
        Class::InvalidConfig,
        Class::Capacity,
        Class::Conflict,
        Class::Throttle,
        Class::Outage,
        Class::Network,
        Class::Timeout,
        Class::Dependency,
    ];
    ROOTS_FIRST.iter().position(|root| *root == class).unwrap_or(ROOTS_FIRST.len())
}

fn out_of_time(seconds: u64, at: Context<'_>) -> Explanation {
    let what = format!("{} was stopped: the job's limit of {} is over", command_words(at.command), minutes(seconds));
    let hint = "What was made so far is in the state: reconcile to go on from there, or raise the job's limit";
    put(Class::Timeout, Told::new(what, hint), at.address.map(str::to_owned), at.cloud, at)
}

fn minutes(seconds: u64) -> String {
    if seconds.is_multiple_of(60) { format!("{} min", seconds / 60) } else { format!("{seconds} s") }
}

fn killed(signal: i32, at: Context<'_>) -> Explanation {
    let cause = match signal {
        9 => " (most likely for want of memory)",
        6 => " (it aborted)",
        11 => " (it accessed memory that is not its own)",
        _ => "",
    };
    let what = format!("{} was killed by signal {signal}{cause}", command_words(at.command));
    let hint =
        "Log and last state are kept, and it is tried again once. If it comes back, raise the job's memory limit";
    put(Class::Crash, Told::new(what, hint), at.address.map(str::to_owned), at.cloud, at)
}
