//! When to try again. Within an operation a transient failure is tried again soon, a few times; between operations the
//! ladder doubles its rungs. Randomness is given, so that both can be tested.

use std::time::Duration;

use crate::failure::{Failure, Retry};

/// How often a transient failure is tried again within one operation.
pub const QUICK_RETRIES: i64 = 5;
/// How often a destroy is tried again before a person is told.
pub const DESTROY_RETRIES: i64 = 3;
/// However long the other side asks for.
const LONGEST_ASKED: Duration = Duration::from_secs(24 * 60 * 60);
const FIRST_QUICK: Duration = Duration::from_secs(10);

/// The waiting times between operations that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    pub base: Duration,
    pub cap: Duration,
}

impl Default for Ladder {
    fn default() -> Self {
        Ladder { base: Duration::from_secs(60), cap: Duration::from_secs(1024 * 60) }
    }
}

impl Ladder {
    /// How long to wait after the `failures`th failure in a row. `chance` in 0..=1 adds up to a tenth.
    pub fn pause(&self, failures: i64, chance: f64) -> Duration {
        let doublings = u32::try_from(failures.saturating_sub(1).clamp(0, 31)).unwrap_or(31);
        let rung = self.base.saturating_mul(1 << doublings).min(self.cap);
        rung + rung.mul_f64(chance.clamp(0.0, 1.0) / 10.0)
    }
}

/// How long to wait before the next quick try; none once there have been enough, or where it would not help.
pub fn quick_retry(failure: &Failure, attempt: i64) -> Option<Duration> {
    if failure.retry() != Retry::Soon || attempt > QUICK_RETRIES {
        return None;
    }
    let doublings = u32::try_from(attempt.saturating_sub(1).clamp(0, 16)).unwrap_or(16);
    let pause = FIRST_QUICK.saturating_mul(1 << doublings);
    let asked = failure.retry_after_seconds.map_or(Duration::ZERO, Duration::from_secs);
    Some(pause.max(asked.min(LONGEST_ASKED)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Class;
    use crate::plugin::Step;

    #[test]
    fn the_ladder_doubles_from_a_minute_to_1024_and_stays_there() {
        let rungs: Vec<_> = (1..=13).map(|failures| Ladder::default().pause(failures, 0.0).as_secs() / 60).collect();
        assert_eq!(rungs, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024]);
        assert_eq!(Ladder::default().pause(i64::MAX, 1.0), Duration::from_secs(1024 * 66));
    }

    #[test]
    fn chance_adds_a_tenth_at_most() {
        assert_eq!(Ladder::default().pause(1, 1.0), Duration::from_secs(66));
        assert_eq!(Ladder::default().pause(1, 7.0), Duration::from_secs(66));
    }

    #[test]
    fn a_transient_failure_is_tried_again_five_times_from_ten_seconds_on() {
        let failure = Failure::new(Class::Network, Step::Apply, "no such host");
        let pauses: Vec<_> =
            (1..=6).map(|attempt| quick_retry(&failure, attempt).map(|pause| pause.as_secs())).collect();
        assert_eq!(pauses, [Some(10), Some(20), Some(40), Some(80), Some(160), None]);
    }

    #[test]
    fn the_other_side_may_ask_for_more_time() {
        let failure =
            Failure { retry_after_seconds: Some(90), ..Failure::new(Class::Throttle, Step::Apply, "slow down") };
        assert_eq!(quick_retry(&failure, 1), Some(Duration::from_secs(90)));
    }

    #[test]
    fn but_not_for_ever() {
        let failure =
            Failure { retry_after_seconds: Some(u64::MAX), ..Failure::new(Class::Throttle, Step::Apply, "slow down") };
        assert_eq!(quick_retry(&failure, 1), Some(Duration::from_secs(24 * 60 * 60)));
    }

    #[test]
    fn what_only_a_change_can_mend_is_not_tried_again_soon() {
        assert_eq!(quick_retry(&Failure::new(Class::Quota, Step::Apply, "full"), 1), None);
    }
}
