//! What earlier operations left behind is accounted for before anything new is dispatched: a dispatch of which nobody
//! knows what it became, and a run that is still under way.

use model::plugin::{Answer, Changes};

use super::ask;
use super::checkpoint::{At, Following, Search, Told};
use super::decide::{AfterSearch, OnCancelling, OnLook, after_search, interval, on_cancelling, on_look};
use super::drive::{Drive, Goal};
use super::memory::asks_again;
use super::run::{End, Forge, Look, Trouble};

impl<F: Forge> Drive<'_, F> {
    pub(super) async fn begin(self) -> Answer {
        match self.memory.pending.clone() {
            Some(pending) if !pending.asked && pending.intent.marker.is_some() => {
                let search = self.search_for(pending.intent);
                self.settle(search).await
            }
            Some(pending) if !pending.asked => self.ask("an earlier operation was to do so, and was interrupted"),
            _ => self.past_pending().await,
        }
    }

    /// Find out what became of an earlier dispatch.
    pub(super) async fn settle(mut self, search: Search) -> Answer {
        let Some(marker) = search.intent.marker.as_deref() else { return self.past_pending().await };
        let found = match self.forge.find(&search.intent, marker).await {
            Ok(found) => found,
            Err(trouble) => {
                let since = search.until;
                return self.unanswered(trouble, At::Settling(search), since, 0);
            }
        };
        match after_search(found, &search, self.now, &self.errand.pace) {
            AfterSearch::Follow(run) => {
                self.memory.started(&run, &search.intent.digest);
                self.past_pending().await
            }
            AfterSearch::LookAgain => {
                let (looks, noun) = (search.looks, self.forge.noun());
                let message = format!("Looking for the {noun} that an earlier operation may have started");
                self.wait(At::Settling(Search { looks: looks + 1, ..search }), interval(looks), message)
            }
            AfterSearch::NotDispatched | AfterSearch::GiveUp => {
                self.memory.pending = None;
                self.past_pending().await
            }
            AfterSearch::Ask(why) => self.ask(&why),
        }
    }

    async fn past_pending(self) -> Answer {
        match (self.memory.under_way(), self.errand.goal) {
            (Some(last), goal) => {
                let following = Following::new(last.run.clone(), self.now);
                if goal == Goal::Apply || last.digest == self.errand.digest {
                    self.clear(following).await
                } else {
                    self.stop(following, Told::NotYet).await
                }
            }
            (None, _) => self.past_run(),
        }
    }

    /// A run is under way. If it does what is wanted it is followed; else its end is waited for, since to stop it half-way
    /// may do harm.
    pub(super) async fn clear(mut self, following: Following) -> Answer {
        let following = match self.look_at(following).await {
            Ok(Some(following)) => following,
            Ok(None) => {
                self.memory.ended();
                return self.past_run();
            }
            Err((trouble, following)) => {
                let (since, looks) = (following.since, following.looks);
                return self.unanswered(trouble, At::Clearing(following), since, looks);
            }
        };
        let wanted = self.memory.run.as_ref().is_some_and(|run| run.digest == self.errand.digest);
        let again = asks_again(self.errand.call.operation.reason);
        match on_look(&following, self.now, &self.errand.pace) {
            OnLook::Ended(End::Succeeded) if wanted && !again => self.succeed(following).await,
            OnLook::Ended(_) => {
                self.memory.ended();
                self.past_run()
            }
            _ if wanted && (!again || !following.seen.has_started()) => {
                let (run, looks) = (following.run.clone(), following.looks);
                let message = format!("The {} {} is under way already", self.forge.noun(), run.url);
                self.look_again(At::Following(following), &run, looks, message)
            }
            OnLook::Wait => {
                let (run, looks) = (following.run.clone(), following.looks);
                let message = format!("Waiting for the earlier {} {} to end", self.forge.noun(), run.url);
                self.look_again(At::Clearing(following), &run, looks, message)
            }
            OnLook::NeverStarted => {
                let allowed = self.errand.pace.start_timeout;
                let failure = ask::never_started(self.forge, self.step(), &following.run, allowed);
                self.failed(failure)
            }
            OnLook::TookTooLong => {
                let failure = ask::took_too_long(self.forge, self.step(), &following.run, self.errand.pace.timeout);
                self.failed(failure)
            }
        }
    }

    /// The resource is deleted: what is under way is cancelled, and seen to its end.
    pub(super) async fn stop(mut self, following: Following, told: Told) -> Answer {
        let following = match self.look_at(following).await {
            Ok(Some(following)) => following,
            Ok(None) => {
                self.memory.ended();
                return self.past_run();
            }
            Err((trouble, following)) => {
                let (since, looks) = (following.since, following.looks);
                return self.unanswered(trouble, At::Cancelling { following, told }, since, looks);
            }
        };
        match on_cancelling(&following, told, self.now) {
            OnCancelling::Ended => {
                self.memory.ended();
                self.past_run()
            }
            OnCancelling::Tell(how) => self.tell_to_stop(following, told, how).await,
            OnCancelling::Wait => {
                let (run, looks) = (following.run.clone(), following.looks);
                let message = format!("Waiting for the {} {} to stop", self.forge.noun(), run.url);
                self.look_again(At::Cancelling { following, told }, &run, looks, message)
            }
            OnCancelling::GiveUp => {
                let failure = ask::does_not_stop(self.forge, self.step(), &following.run);
                self.failed(failure)
            }
        }
    }

    async fn tell_to_stop(self, following: Following, before: Told, how: Told) -> Answer {
        let (run, since) = (following.run.clone(), following.since);
        let message = format!("Cancelling the {} {}", self.forge.noun(), run.url);
        match self.forge.cancel(&run, how == Told::Insisted).await {
            Ok(()) => self.look_again(At::Cancelling { following, told: how }, &run, 0, message),
            Err(trouble) => self.unanswered(trouble, At::Cancelling { following, told: before }, since, 0),
        }
    }

    /// Nothing is under way any more.
    fn past_run(self) -> Answer {
        match self.errand.goal {
            Goal::Destroy { dispatches } if !dispatches || !self.memory.touched() => {
                let deleted = i64::from(self.memory.touched());
                let message = if deleted == 0 { "There was nothing" } else { "Nothing is under way any more" };
                self.finished(Changes { deleted, ..Changes::default() }, None, message.into())
            }
            Goal::Apply | Goal::Destroy { .. } => self.intend(None),
        }
    }

    /// The run as it is now; none if it is gone.
    pub(super) async fn look_at(&self, following: Following) -> Result<Option<Following>, (Trouble, Following)> {
        let looks = following.looks + 1;
        match self.forge.look(&following.run, following.etag.as_deref()).await {
            Ok(Look::Unchanged) => Ok(Some(Following { looks, ..following })),
            Ok(Look::Now { progress, etag }) => Ok(Some(Following { looks, seen: progress, etag, ..following })),
            Ok(Look::Gone) => Ok(None),
            Err(trouble) => Err((trouble, Following { looks, ..following })),
        }
    }
}
