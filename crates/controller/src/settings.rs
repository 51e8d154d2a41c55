//! How the controller behaves. Defaults are those of the guide.

use std::time::Duration;

use model::Ladder;

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Plugin steps that execute at the same time in this process. Operations that wait are not counted.
    pub max_concurrent_reconciles: usize,
    /// Of these, how many may be one tenant's.
    pub max_concurrent_per_tenant: usize,
    /// The longest this controller rests, whatever it was told.
    pub reconcile_interval: Duration,
    pub drift_interval: Duration,
    pub ladder: Ladder,
    /// How long a claim holds without being renewed: a dead controller's work is taken over after that.
    pub lease: Duration,
    /// How long one call of a plugin may take.
    pub step_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            max_concurrent_reconciles: 5,
            max_concurrent_per_tenant: 5,
            reconcile_interval: Duration::from_secs(60),
            drift_interval: Duration::from_secs(5 * 60),
            ladder: Ladder::default(),
            lease: Duration::from_secs(10),
            step_timeout: Duration::from_secs(5 * 60),
        }
    }
}
