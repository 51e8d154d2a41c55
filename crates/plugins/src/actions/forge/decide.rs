//! What follows from what is known. Pure functions: each case of the protocol is a test away.

use super::checkpoint::{Following, Search, Told};
use super::run::{End, Found, Progress, Run};

/// How long a run may take to show up in the forge's lists.
pub(super) const SETTLING: i64 = 60;
/// How often one operation dispatches at most; the next one starts by looking for what became of them.
const SENDINGS: u32 = 2;
/// How long a cancelled run may take to stop by itself.
const PATIENCE: i64 = 60;
/// How long it may take after that.
const CANCELLED_WITHIN: i64 = 600;
/// How often to look when a webhook is to wake us, in case it does not come.
const SAFETY: u64 = 300;

/// How long things may take, by configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub start_timeout: i64,
    pub timeout: i64,
    pub webhook: bool,
}

/// How long to wait before the next look, after so many.
pub(super) fn interval(looks: u32) -> u64 {
    (5 + 5 * u64::from(looks)).min(30)
}

impl Pace {
    pub(super) fn interval(&self, looks: u32) -> u64 {
        if self.webhook { SAFETY } else { interval(looks) }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum OnIntent {
    /// It was refused, and that was remembered.
    StartOver,
    Send,
    Search,
    Ask,
}

/// Called with an intent: may it be out already?
pub(super) fn on_intent(remembered: bool, unsent: bool, marked: bool) -> OnIntent {
    match (remembered, unsent, marked) {
        (false, _, _) => OnIntent::StartOver,
        (true, true, _) => OnIntent::Send,
        (true, false, true) => OnIntent::Search,
        (true, false, false) => OnIntent::Ask,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterSearch {
    Follow(Run),
    LookAgain,
    /// It was certainly not dispatched.
    NotDispatched,
    /// Nor will it be: it was tried often enough.
    GiveUp,
    Ask(String),
}

/// A look at the forge's list of runs.
pub(super) fn after_search(found: Found, search: &Search, now: i64, pace: &Pace) -> AfterSearch {
    match found {
        Found::Run(run) => AfterSearch::Follow(run),
        // The forge took it, so it is there, or will be; it only does not show the marker.
        _ if search.intent.accepted && now < search.intent.since + pace.start_timeout => AfterSearch::LookAgain,
        _ if search.intent.accepted => {
            AfterSearch::Ask("the dispatch was accepted, but no run shows its marker".into())
        }
        _ if now < search.until => AfterSearch::LookAgain,
        Found::CannotTell(why) => AfterSearch::Ask(why),
        Found::NotThere if search.intent.sending >= SENDINGS => AfterSearch::GiveUp,
        Found::NotThere => AfterSearch::NotDispatched,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum OnLook {
    Ended(End),
    Wait,
    NeverStarted,
    TookTooLong,
}

pub(super) fn on_look(following: &Following, now: i64, pace: &Pace) -> OnLook {
    let waited = now - following.since;
    match &following.seen {
        Progress::Ended(end) => OnLook::Ended(end.clone()),
        _ if waited >= pace.timeout => OnLook::TookTooLong,
        Progress::Queued if waited >= pace.start_timeout => OnLook::NeverStarted,
        // A person may take longer than a machine: only the whole timeout counts.
        Progress::Queued | Progress::Blocked(_) | Progress::Running => OnLook::Wait,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum OnCancelling {
    Ended,
    Wait,
    Tell(Told),
    GiveUp,
}

pub(super) fn on_cancelling(following: &Following, told: Told, now: i64) -> OnCancelling {
    let waited = now - following.since;
    match following.seen {
        Progress::Ended(_) => OnCancelling::Ended,
        _ if waited >= CANCELLED_WITHIN => OnCancelling::GiveUp,
        _ if told == Told::NotYet => OnCancelling::Tell(Told::Asked),
        _ if told == Told::Asked && waited >= PATIENCE => OnCancelling::Tell(Told::Insisted),
        _ => OnCancelling::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::super::checkpoint::Intent;
    use super::*;

    const PACE: Pace = Pace { start_timeout: 1800, timeout: 21600, webhook: false };

    fn run() -> Run {
        Run { id: 1, url: "u".into(), place: "p".into(), signal: "s".into() }
    }

    fn search(sending: u32, accepted: bool) -> Search {
        let intent = Intent {
            nonce: "n".into(),
            marker: Some("m".into()),
            since: 0,
            place: "p".into(),
            work: "w".into(),
            digest: "d".into(),
            sending,
            accepted,
        };
        Search { intent, until: SETTLING, looks: 0 }
    }

    fn following(seen: Progress) -> Following {
        Following { seen, ..Following::new(run(), 0) }
    }

    #[test]
    fn only_the_process_that_wrote_an_intent_knows_that_it_is_unsent() {
        assert_eq!(on_intent(true, true, false), OnIntent::Send);
        assert_eq!(on_intent(true, true, true), OnIntent::Send);
        assert_eq!(on_intent(true, false, true), OnIntent::Search);
        assert_eq!(on_intent(true, false, false), OnIntent::Ask);
        assert_eq!(on_intent(false, false, false), OnIntent::StartOver);
    }

    #[test]
    fn it_is_dispatched_again_only_when_a_run_would_have_shown_up() {
        assert_eq!(after_search(Found::NotThere, &search(1, false), 59, &PACE), AfterSearch::LookAgain);
        assert_eq!(after_search(Found::NotThere, &search(1, false), 60, &PACE), AfterSearch::NotDispatched);
        assert_eq!(after_search(Found::NotThere, &search(2, false), 60, &PACE), AfterSearch::GiveUp);
        assert_eq!(after_search(Found::Run(run()), &search(2, false), 60, &PACE), AfterSearch::Follow(run()));
    }

    #[test]
    fn a_run_that_may_be_ours_is_not_dispatched_again() {
        let unsure = || Found::CannotTell("a run shows no marker".into());
        assert_eq!(after_search(unsure(), &search(1, false), 10, &PACE), AfterSearch::LookAgain);
        assert_eq!(
            after_search(unsure(), &search(1, false), 60, &PACE),
            AfterSearch::Ask("a run shows no marker".into())
        );
    }

    #[test]
    fn what_the_forge_accepted_is_never_dispatched_again() {
        assert_eq!(after_search(Found::NotThere, &search(1, true), 1799, &PACE), AfterSearch::LookAgain);
        assert!(matches!(after_search(Found::NotThere, &search(1, true), 1800, &PACE), AfterSearch::Ask(_)));
    }

    #[test]
    fn a_run_has_half_an_hour_to_start_and_six_hours_to_end() {
        assert_eq!(on_look(&following(Progress::Queued), 1799, &PACE), OnLook::Wait);
        assert_eq!(on_look(&following(Progress::Queued), 1800, &PACE), OnLook::NeverStarted);
        assert_eq!(on_look(&following(Progress::Running), 21599, &PACE), OnLook::Wait);
        assert_eq!(on_look(&following(Progress::Running), 21600, &PACE), OnLook::TookTooLong);
        assert_eq!(on_look(&following(Progress::Ended(End::Succeeded)), 99999, &PACE), OnLook::Ended(End::Succeeded));
    }

    #[test]
    fn a_run_that_waits_for_a_person_may_take_longer_to_start() {
        assert_eq!(on_look(&following(Progress::Blocked("approval".into())), 1800, &PACE), OnLook::Wait);
        assert_eq!(on_look(&following(Progress::Blocked("approval".into())), 21600, &PACE), OnLook::TookTooLong);
    }

    #[test]
    fn a_run_that_does_not_stop_is_told_again_and_then_given_up() {
        let running = following(Progress::Running);
        assert_eq!(on_cancelling(&running, Told::NotYet, 0), OnCancelling::Tell(Told::Asked));
        assert_eq!(on_cancelling(&running, Told::Asked, 59), OnCancelling::Wait);
        assert_eq!(on_cancelling(&running, Told::Asked, 60), OnCancelling::Tell(Told::Insisted));
        assert_eq!(on_cancelling(&running, Told::Insisted, 61), OnCancelling::Wait);
        assert_eq!(on_cancelling(&running, Told::Insisted, 600), OnCancelling::GiveUp);
        let cancelled = Progress::Ended(End::Otherwise("cancelled".into()));
        assert_eq!(on_cancelling(&following(cancelled), Told::Insisted, 601), OnCancelling::Ended);
    }

    #[test]
    fn looks_become_rarer_and_are_rare_from_the_start_with_a_webhook() {
        assert_eq!((0..7).map(interval).collect::<Vec<_>>(), [5, 10, 15, 20, 25, 30, 30]);
        assert_eq!(Pace { webhook: true, ..PACE }.interval(0), 300);
    }
}
