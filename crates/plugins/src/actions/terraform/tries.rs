//! How often a job is tried again within its operation.

use std::time::Duration;

use model::job::Goal;
use model::{Class, DESTROY_RETRIES, Failure, Retry, quick_retry};

use super::stage::Stage;

/// How long to wait before the next try; none once there have been enough.
pub(super) fn pause(stage: &Stage, failure: &Failure) -> Option<Duration> {
    let retries = match (failure.class, stage.goal) {
        (Class::Cancelled, _) => 0,
        // What crashed may do so for a reason, and leaves something half done.
        (Class::Crash, Goal::Apply) => 1,
        (_, Goal::Destroy) if failure.retry() != Retry::Soon => DESTROY_RETRIES,
        _ if failure.retry() == Retry::Soon => i64::MAX,
        _ => 0,
    };
    let soon = Failure { retry: Some(Retry::Soon), ..failure.clone() };
    quick_retry(&soon, stage.tries).filter(|_| stage.tries <= retries)
}

/// A failure whose quick tries are over: from here on it is the ladder's, or a person's.
pub(super) fn spent(failure: Failure) -> Failure {
    let retry = match failure.retry() {
        _ if failure.class == Class::Crash => Retry::OnChange,
        Retry::Soon => Retry::Later,
        retry => retry,
    };
    Failure { retry: Some(retry), ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plugin::Step;

    fn pauses(goal: Goal, class: Class) -> Vec<u64> {
        let failure = Failure::new(class, Step::Apply, "no");
        let stages = (1..=9).map(|tries| Stage { tries, ..Stage::first(goal) });
        stages.map_while(|stage| pause(&stage, &failure)).map(|pause| pause.as_secs()).collect()
    }

    #[test]
    fn a_transient_failure_is_tried_five_times_more_a_crash_once_and_a_destroy_three_times() {
        assert_eq!(pauses(Goal::Apply, Class::Network), [10, 20, 40, 80, 160]);
        assert_eq!(pauses(Goal::Apply, Class::Crash), [10]);
        assert!(pauses(Goal::Apply, Class::Rejected).is_empty());
        assert_eq!(pauses(Goal::Destroy, Class::Rejected), [10, 20, 40]);
        assert_eq!(pauses(Goal::Destroy, Class::Dependency), [10, 20, 40, 80, 160]);
        assert!(pauses(Goal::Destroy, Class::Cancelled).is_empty());
        assert!(pauses(Goal::Observe, Class::Rejected).is_empty());
    }

    #[test]
    fn what_was_tried_enough_is_the_ladders_and_a_crash_a_persons() {
        let spent = |class| spent(Failure::new(class, Step::Apply, "no")).retry();
        assert_eq!(spent(Class::Network), Retry::Later);
        assert_eq!(spent(Class::Crash), Retry::OnChange);
        assert_eq!(spent(Class::Quota), Retry::OnChange);
    }
}
