//! One job, as its steps see it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use model::job::{Assignment, Goal, Terraform, Work};
use model::plugin::Step;
use model::{Class, Failure};

use super::cage::{Cage, Ended, Output};
use super::log::Log;
use super::memory::Memory;
use super::turn::Turn;
use super::watch::Watch;
use crate::beneath::Beneath;
use crate::progress::{Kind, Stage};
use crate::settings::Settings;
use crate::wire::Run;
use crate::workspace::Workspace;

pub struct Job<'a> {
    pub workspace: &'a Workspace,
    pub settings: &'a Settings,
    pub assignment: &'a Assignment,
    pub secrets: &'a BTreeMap<String, String>,
    pub log: &'a Log,
    pub cage: &'a Cage,
    pub watch: &'a Watch,
    pub memory: &'a Memory,
    pub work: &'a Beneath,
    pub turn: &'a Turn,
    /// The root module, within `work/`.
    pub root: PathBuf,
}

/// Why the steps do not go on.
#[derive(Debug)]
pub enum Trouble {
    Failed(Failure),
    /// The watch has the reason.
    Halted,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failed(failure)
    }
}

/// A command that was run, and the end of what it wrote.
pub struct Ran {
    pub ended: Ended,
    pub tail: String,
}

impl Job<'_> {
    pub fn terraform(&self) -> &Terraform {
        let Work::Terraform(terraform) = &self.assignment.work;
        terraform
    }

    /// Where the job sees what is at this place in `work/`.
    pub fn seen(&self, path: &Path) -> PathBuf {
        self.cage.work.join(path)
    }

    /// The plugin step that a stage of the run counts as.
    pub fn step(&self, stage: Stage) -> Step {
        match (stage, self.terraform().goal) {
            (Stage::Fetch | Stage::Init, _) => Step::Validate,
            (Stage::Plan | Stage::Show, Goal::Observe) => Step::Observe,
            (Stage::Plan | Stage::Show, _) => Step::Plan,
            (Stage::Apply, Goal::Destroy) => Step::Destroy,
            (Stage::Apply, _) => Step::Apply,
        }
    }

    pub fn failure(&self, class: Class, stage: Stage, message: impl Into<String>) -> Failure {
        Failure::new(class, self.step(stage), self.log.redactor.text(&message.into()))
    }

    /// A stage, noted where it begins and ends.
    pub fn stage<T>(&self, stage: Stage, work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
        if self.watch.why().is_some() {
            return Err(Trouble::Halted);
        }
        self.log.step(stage, Kind::Started);
        let done = work();
        self.log.step(stage, Kind::Finished);
        done
    }

    /// All that it writes goes to the log.
    pub fn run_shown(&self, stage: Stage, run: Run) -> Result<Ran, Trouble> {
        let mut stream = self.log.stream();
        let ended = self.cage.run(run, Output::Joined(&mut |bytes| stream.push(bytes)));
        let tail = stream.finish();
        self.ended(stage, ended).map(|ended| Ran { ended, tail })
    }

    /// What it writes to its standard output is given back, the rest goes to the log.
    pub fn run_captured(&self, stage: Stage, run: Run) -> Result<(Ran, Vec<u8>), Trouble> {
        let mut stream = self.log.stream();
        let mut captured = vec![];
        let output =
            Output::Apart { out: &mut |bytes| captured.extend_from_slice(bytes), err: &mut |bytes| stream.push(bytes) };
        let ended = self.cage.run(run, output);
        let tail = stream.finish();
        self.ended(stage, ended).map(|ended| (Ran { ended, tail }, captured))
    }

    /// A command that did not end by itself because the job was stopped is no failure of the command.
    pub fn ended(&self, stage: Stage, ended: io::Result<Ended>) -> Result<Ended, Trouble> {
        match ended {
            Err(problem) => {
                Err(self.failure(Class::Crash, stage, format!("The box does not answer: {problem}.")).into())
            }
            Ok(Ended::Halted) => Err(Trouble::Halted),
            Ok(_) if self.watch.why().is_some() => Err(Trouble::Halted),
            Ok(ended) => Ok(ended),
        }
    }
}
