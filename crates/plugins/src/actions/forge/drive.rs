//! One call, from what was written down to what is written down next. Nothing in here waits or loops: each function
//! makes a request or two and answers.

use model::plugin::{Answer, Call, Changes, Done, Outcome, Step, Wait, Wake};
use model::{Class, Failure};
use serde::Deserialize;
use serde_json::Value;

use super::checkpoint::At;
use super::clock::Clock;
use super::decide::{OnIntent, Pace, interval, on_intent};
use super::memory::Memory;
use super::run::{Forge, Run, Trouble};
use super::unsent::Unsent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    Apply,
    /// By cancelling what is under way and, if there is work for it, dispatching that.
    Destroy {
        dispatches: bool,
    },
}

/// What is to be done for one call.
pub(crate) struct Errand<'a> {
    pub call: &'a Call,
    pub goal: Goal,
    /// Of what the forge is asked to do.
    pub digest: String,
    pub pace: Pace,
    pub clock: &'a Clock,
    pub unsent: &'a Unsent,
}

pub(crate) async fn drive<F: Forge>(forge: &F, errand: &Errand<'_>) -> Answer {
    let memory = Memory::of(&errand.call.memory);
    Drive { forge, errand, memory, now: errand.clock.now() }.go().await
}

/// An errand on its way.
pub(super) struct Drive<'a, F> {
    pub forge: &'a F,
    pub errand: &'a Errand<'a>,
    pub memory: Memory,
    pub now: i64,
}

impl<F: Forge> Drive<'_, F> {
    async fn go(self) -> Answer {
        let at = match &self.errand.call.checkpoint {
            Value::Null => None,
            written => match At::deserialize(written) {
                Ok(at) => Some(at),
                Err(error) => {
                    let message = format!("The checkpoint cannot be read: {error}");
                    return self.fail(Class::Plugin, message);
                }
            },
        };
        match at {
            None => self.begin().await,
            Some(At::Settling(search)) => self.settle(search).await,
            Some(At::Clearing(following)) => self.clear(following).await,
            Some(At::Cancelling { following, told }) => self.stop(following, told).await,
            Some(At::Intent(intent)) => {
                let unsent = self.errand.unsent.take(&intent.nonce);
                match on_intent(self.memory.knows(&intent), unsent, intent.marker.is_some()) {
                    OnIntent::StartOver => self.begin().await,
                    OnIntent::Send => self.send(intent).await,
                    OnIntent::Search => {
                        let search = self.search_for(intent);
                        self.search(search).await
                    }
                    OnIntent::Ask => self.ask("the process that was to do so was interrupted"),
                }
            }
            Some(At::Searching(search)) => self.search(search).await,
            Some(At::Following(following)) => self.follow(following).await,
        }
    }

    /// The work is done.
    pub fn finished(mut self, changes: Changes, outputs: Option<Value>, message: String) -> Answer {
        let done = Done { changes: Some(changes), outputs, message: Some(message), observation: None };
        if matches!(self.errand.goal, Goal::Destroy { .. }) {
            self.memory = Memory::default();
        }
        self.answer(Outcome::Done(done))
    }

    pub fn fail(self, class: Class, message: impl Into<String>) -> Answer {
        let failure = Failure::new(class, self.step(), message);
        self.failed(failure)
    }

    pub fn failed(self, failure: Failure) -> Answer {
        self.answer(Outcome::Failed(failure))
    }

    pub fn wait(self, at: At, after_seconds: u64, message: impl Into<String>) -> Answer {
        self.wait_for(at, Wake { after_seconds, signal: None }, message)
    }

    /// Look again when a webhook says so, or after a while.
    pub fn look_again(self, at: At, run: &Run, looks: u32, message: impl Into<String>) -> Answer {
        let pace = &self.errand.pace;
        let signal = pace.webhook.then(|| run.signal.clone());
        let wake = Wake { after_seconds: pace.interval(looks), signal };
        self.wait_for(at, wake, message)
    }

    fn wait_for(self, at: At, wake: Wake, message: impl Into<String>) -> Answer {
        let checkpoint = serde_json::to_value(at).unwrap_or_default();
        self.answer(Outcome::Wait(Wait { checkpoint, wake, message: Some(message.into()) }))
    }

    /// A question that was not answered. Nothing depends on when it is, so it is asked again, until there has been
    /// time enough.
    pub fn unanswered(self, trouble: Trouble, at: At, since: i64, looks: u32) -> Answer {
        match trouble {
            Trouble::Refused(failure) => self.failed(failure),
            Trouble::Lost(failure) | Trouble::Unsent(failure) if self.now - since >= self.errand.pace.timeout => {
                self.failed(failure)
            }
            Trouble::Lost(failure) | Trouble::Unsent(failure) => {
                let message = format!("{}. It is asked again", failure.message);
                self.wait(at, interval(looks), message)
            }
            Trouble::Throttled { seconds, message } => self.wait(at, seconds.max(1), message),
        }
    }

    fn answer(self, outcome: Outcome) -> Answer {
        let holds =
            self.memory.run.iter().map(|run| format!("{} {} {}", self.forge.name(), self.forge.noun(), run.run.url));
        let holds = holds.collect();
        Answer::from(outcome).remembering(self.memory.to_value()).holding(holds)
    }

    pub fn step(&self) -> Step {
        self.errand.call.step
    }
}
