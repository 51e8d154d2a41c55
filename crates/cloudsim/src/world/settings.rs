//! What a person decides about a world as a whole.

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Settings {
    #[serde(default)]
    pub pace: Pace,
}

/// How fast the cloud's time goes: so many times faster than a real cloud's. A real EKS cluster takes 12 minutes; at 60
/// it takes 12 seconds, and at once where nothing is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace(Option<f64>);

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no pace: say `instant`, `real`, or how many times faster than real, as in 60")]
pub struct NoPace(String);

impl Pace {
    /// What a real cloud would take so long for.
    pub fn of(self, real: Duration) -> Duration {
        let seconds = self.0.map_or(0.0, |faster| real.as_secs_f64() / faster);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

impl FromStr for Pace {
    type Err = NoPace;

    fn from_str(text: &str) -> Result<Pace, NoPace> {
        match text {
            "instant" => Ok(Pace(None)),
            "real" => Ok(Pace(Some(1.0))),
            _ => {
                let faster = text.parse().ok().filter(|faster: &f64| faster.is_finite() && *faster > 0.0);
                faster.map(|faster| Pace(Some(faster))).ok_or_else(|| NoPace(text.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_minutes_take_twelve_minutes_twelve_seconds_or_none() {
        let real = Duration::from_secs(12 * 60);
        for (pace, takes) in [("real", 720), ("60", 12), ("instant", 0)] {
            assert_eq!(pace.parse::<Pace>().unwrap().of(real), Duration::from_secs(takes), "{pace}");
        }
        for nonsense in ["0", "-1", "NaN", "inf", "fast", ""] {
            assert!(nonsense.parse::<Pace>().is_err(), "{nonsense}");
        }
    }
}
