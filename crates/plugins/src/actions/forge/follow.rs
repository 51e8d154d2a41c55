//! The way of a dispatch: intended, sent, searched for if its answer is lost, followed to its end.

use model::plugin::{Answer, Changes};
use model::{Class, Failure};

use super::ask;
use super::checkpoint::{At, Following, Intent, Search};
use super::decide::{AfterSearch, OnLook, SETTLING, after_search, interval, on_look};
use super::drive::{Drive, Goal};
use super::marker::marker;
use super::memory::Pending;
use super::run::{Dispatched, End, Forge, Progress, Trouble};

impl<F: Forge> Drive<'_, F> {
    /// Write down what is meant to be done, or done again.
    pub(super) fn intend(mut self, again: Option<Intent>) -> Answer {
        let Some(nonce) = nonce() else {
            return self.fail(Class::Plugin, "There is no randomness to be had");
        };
        let intent = match again {
            // The marker stays, and so does the time: the run that may yet show up is the same work.
            Some(lost) => Intent { nonce, sending: lost.sending + 1, ..lost },
            None => {
                let (place, work) = self.forge.aim();
                let marker = self.forge.marked().then(|| marker(self.errand.call, &nonce));
                let digest = self.errand.digest.clone();
                Intent { nonce, marker, since: self.now, place, work, digest, sending: 1, accepted: false }
            }
        };
        self.errand.unsent.note(&intent.nonce, self.now);
        self.memory.digest = None;
        self.memory.pending = Some(Pending { intent: intent.clone(), asked: false });
        let message = format!("About to start the {} at {}", self.forge.noun(), self.forge.name());
        self.wait(At::Intent(intent), 0, message)
    }

    pub(super) async fn send(mut self, intent: Intent) -> Answer {
        match self.forge.dispatch(&intent).await {
            Ok(Dispatched::Run(run)) => {
                self.memory.started(&run, &intent.digest);
                let message = format!("Started {}", run.url);
                let following = Following::new(run.clone(), self.now);
                self.look_again(At::Following(following), &run, 0, message)
            }
            Ok(Dispatched::Somewhere) if intent.marker.is_some() => {
                let intent = Intent { accepted: true, ..intent };
                self.memory.pending = Some(Pending { intent: intent.clone(), asked: false });
                let search = self.search_for(intent);
                let message = format!("Started; looking for the {}", self.forge.noun());
                self.wait(At::Searching(search), interval(0), message)
            }
            Ok(Dispatched::Somewhere) => self.ask("it was, but the server does not say what became of it"),
            Err(Trouble::Refused(failure) | Trouble::Unsent(failure)) => {
                self.memory.pending = None;
                self.failed(failure)
            }
            Err(Trouble::Throttled { seconds, message }) => {
                self.memory.pending = None;
                let failure = Failure::new(Class::Throttle, self.step(), message);
                self.failed(Failure { retry_after_seconds: Some(seconds), ..failure })
            }
            Err(Trouble::Lost(failure)) if intent.marker.is_some() => {
                let search = self.search_for(intent);
                let message = format!("{}. Looking whether it started", failure.message);
                self.wait(At::Searching(search), interval(0), message)
            }
            Err(Trouble::Lost(failure)) => self.ask(&failure.message),
        }
    }

    pub(super) fn search_for(&self, intent: Intent) -> Search {
        Search { intent, until: self.now + SETTLING, looks: 0 }
    }

    pub(super) async fn search(mut self, search: Search) -> Answer {
        let Some(marker) = search.intent.marker.as_deref() else { return self.ask("it carries no marker") };
        let found = match self.forge.find(&search.intent, marker).await {
            Ok(found) => found,
            Err(trouble) => {
                let (since, looks) = (search.intent.since, search.looks);
                return self.unanswered(trouble, At::Searching(Search { looks: looks + 1, ..search }), since, looks);
            }
        };
        match after_search(found, &search, self.now, &self.errand.pace) {
            AfterSearch::Follow(run) => {
                self.memory.started(&run, &search.intent.digest);
                let message = format!("Found {}", run.url);
                let following = Following::new(run.clone(), self.now);
                self.wait(At::Following(following), 0, message)
            }
            AfterSearch::LookAgain => {
                let looks = search.looks;
                let message = format!("Looking whether the {} started", self.forge.noun());
                self.wait(At::Searching(Search { looks: looks + 1, ..search }), interval(looks), message)
            }
            AfterSearch::NotDispatched => self.intend(Some(search.intent)),
            AfterSearch::GiveUp => {
                let message = format!(
                    "{} was told {} times to start the {}, and it did not appear",
                    self.forge.name(),
                    search.intent.sending,
                    self.forge.noun()
                );
                self.fail(Class::Outage, message)
            }
            AfterSearch::Ask(why) => self.ask(&why),
        }
    }

    /// A person has to look. Asked once: what they do next is their answer.
    pub(super) fn ask(mut self, why: &str) -> Answer {
        if let Some(pending) = &mut self.memory.pending {
            pending.asked = true;
        }
        let failure = ask::uncertain(self.forge, self.step(), why);
        self.failed(failure)
    }

    pub(super) async fn follow(mut self, following: Following) -> Answer {
        let before = following.clone();
        let following = match self.look_at(following).await {
            Ok(Some(following)) => following,
            // What was only just created is not yet known to every server of a forge.
            Ok(None) if self.now - before.since < SETTLING => {
                let message = format!("Waiting for {} to appear", before.run.url);
                let looks = before.looks;
                let at = At::Following(Following { looks: looks + 1, ..before });
                return self.wait(at, interval(looks), message);
            }
            Ok(None) => {
                self.memory.ended();
                let message = format!("The {} is not there any more, or may not be seen", self.forge.noun());
                let hint = "Somebody deleted it, or the token lost its access. `terrane reconcile` starts another";
                let failure = Failure::new(Class::Uncertain, self.step(), message).with_hint(hint);
                return self.failed(failure);
            }
            Err((trouble, following)) => {
                let (since, looks) = (following.since, following.looks);
                return self.unanswered(trouble, At::Following(following), since, looks);
            }
        };
        let pace = &self.errand.pace;
        match on_look(&following, self.now, pace) {
            OnLook::Ended(End::Succeeded) => self.succeed(following).await,
            OnLook::Ended(End::Otherwise(end)) => match self.forge.explain(&following.run, &end).await {
                Ok(failure) => {
                    self.memory.ended();
                    self.failed(failure)
                }
                Err(trouble) => {
                    let (since, looks) = (following.since, following.looks);
                    self.unanswered(trouble, At::Following(following), since, looks)
                }
            },
            OnLook::Wait => {
                let (run, looks) = (following.run.clone(), following.looks);
                let message = match &following.seen {
                    Progress::Queued => format!("Waiting for {} to start", run.url),
                    Progress::Blocked(why) => format!("{}: {why}", run.url),
                    Progress::Running | Progress::Ended(_) => format!("{} is running", run.url),
                };
                self.look_again(At::Following(following), &run, looks, message)
            }
            OnLook::NeverStarted => {
                let failure = ask::never_started(self.forge, self.step(), &following.run, pace.start_timeout);
                self.failed(failure)
            }
            OnLook::TookTooLong => {
                let failure = ask::took_too_long(self.forge, self.step(), &following.run, pace.timeout);
                self.failed(failure)
            }
        }
    }

    pub(super) async fn succeed(mut self, following: Following) -> Answer {
        let outputs = match self.forge.outputs(&following.run).await {
            Ok(outputs) => outputs,
            Err(trouble) => {
                let (since, looks) = (following.since, following.looks);
                return self.unanswered(trouble, At::Following(following), since, looks);
            }
        };
        let message = format!("{} succeeded", following.run.url);
        let (changes, outputs) = match self.errand.goal {
            Goal::Destroy { .. } => (Changes { deleted: 1, ..Changes::default() }, None),
            Goal::Apply if self.memory.made => (Changes { updated: 1, ..Changes::default() }, Some(outputs)),
            Goal::Apply => (Changes { created: 1, ..Changes::default() }, Some(outputs)),
        };
        self.memory.ended();
        self.memory.made = true;
        self.memory.digest = Some(self.errand.digest.clone());
        self.finished(changes, outputs, message)
    }
}

fn nonce() -> Option<String> {
    let mut bytes = [0_u8; 6];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
