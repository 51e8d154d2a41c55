//! What can happen to a resource, and what follows. The only place that decides it: the store writes what comes out here,
//! the diagram in the guide is drawn from it.

use super::Lifecycle;

/// What can happen to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// Its owner wants something else.
    SpecChanged,
    /// Somebody wants it looked at now.
    ReconcileRequested,
    /// An operation began. `again`: it was there before.
    Started {
        again: bool,
    },
    /// What was asked for is there; what its users need to know is being gathered.
    Applied,
    Succeeded,
    /// `retry`: trying again by itself may help.
    Failed {
        retry: bool,
    },
    /// It is no longer as it was made.
    Drifted {
        correct: bool,
    },
    /// `held`: somebody's finalizer keeps it for now.
    DeleteRequested {
        held: bool,
    },
    /// A delete of what never got so far as to be applied.
    DroppedUntouched,
    /// The last finalizer was taken off.
    LetGo,
    Destroyed,
    DestroyFailed,
    /// A person says that it need not be destroyed.
    Forgotten,
}

/// What the store does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    ReconcileNow,
    /// After the operation that is under way.
    Queue,
    /// Later, by the ladder.
    RetryByLadder,
    /// Not before something changes or a person asks.
    AwaitChange,
    /// Look again when the drift interval is over.
    WatchForDrift,
    CountFailure,
    ForgetFailures,
    /// The record goes and the name is free again.
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    pub to: Lifecycle,
    pub effects: &'static [Effect],
}

impl Happening {
    pub const ALL: [Happening; 17] = [
        Happening::SpecChanged,
        Happening::ReconcileRequested,
        Happening::Started { again: false },
        Happening::Started { again: true },
        Happening::Applied,
        Happening::Succeeded,
        Happening::Failed { retry: true },
        Happening::Failed { retry: false },
        Happening::Drifted { correct: true },
        Happening::Drifted { correct: false },
        Happening::DeleteRequested { held: false },
        Happening::DeleteRequested { held: true },
        Happening::DroppedUntouched,
        Happening::LetGo,
        Happening::Destroyed,
        Happening::DestroyFailed,
        Happening::Forgotten,
    ];

    fn words(self) -> &'static str {
        match self {
            Happening::SpecChanged => "spec changed",
            Happening::ReconcileRequested => "reconcile requested",
            Happening::Started { again: false } => "started",
            Happening::Started { again: true } => "started again",
            Happening::Applied => "applied",
            Happening::Succeeded => "succeeded",
            Happening::Failed { retry: true } => "failed",
            Happening::Failed { retry: false } => "failed for good",
            Happening::Drifted { correct: true } => "drifted, to be corrected",
            Happening::Drifted { correct: false } => "drifted, to be reported",
            Happening::DeleteRequested { held: false } => "delete requested",
            Happening::DeleteRequested { held: true } => "delete requested, held",
            Happening::DroppedUntouched => "delete requested before anything was applied",
            Happening::LetGo => "let go",
            Happening::Destroyed => "destroyed",
            Happening::DestroyFailed => "destroy failed",
            Happening::Forgotten => "forgotten",
        }
    }
}

impl Lifecycle {
    /// What follows when this happens here; nothing where it cannot happen.
    pub fn after(self, happening: Happening) -> Option<Transition> {
        use Effect::*;
        use Happening::*;
        use Lifecycle::*;
        let (to, effects): (Lifecycle, &'static [Effect]) = match (self, happening) {
            (Pending | Active | Failed, SpecChanged) => (self, &[ForgetFailures, ReconcileNow]),
            (Provisioning | Configuring | Updating, SpecChanged) => (self, &[ForgetFailures, Queue]),
            (Pending | Active | Failed | Deleting, ReconcileRequested) => (self, &[ReconcileNow]),
            (Provisioning | Configuring | Updating, ReconcileRequested) => (self, &[Queue]),

            (Pending | Failed, Started { again: false }) => (Provisioning, &[]),
            (Active, Started { again: false | true }) | (Pending | Failed, Started { again: true }) => (Updating, &[]),
            (Deleting, Started { again: false | true }) => (Deleting, &[]),

            (Provisioning | Configuring, Applied) => (Configuring, &[]),
            (Updating, Applied) => (Updating, &[]),
            (Provisioning | Configuring | Updating, Succeeded) => (Active, &[ForgetFailures, WatchForDrift]),
            (Provisioning | Configuring | Updating | Active, Happening::Failed { retry: true }) => {
                (Lifecycle::Failed, &[CountFailure, RetryByLadder])
            }
            (Provisioning | Configuring | Updating | Active, Happening::Failed { retry: false }) => {
                (Lifecycle::Failed, &[CountFailure, AwaitChange])
            }

            (Active, Drifted { correct: true }) => (Active, &[ReconcileNow]),
            (Active, Drifted { correct: false }) => (Active, &[WatchForDrift]),

            (Pending, DeleteRequested { held: false }) | (Pending | Failed, DroppedUntouched) => (Deleted, &[Release]),
            (Provisioning | Configuring | Active | Updating | Failed, DeleteRequested { held: false }) => {
                (Deleting, &[ForgetFailures, ReconcileNow])
            }
            (Pending | Provisioning | Configuring | Active | Updating | Failed, DeleteRequested { held: true }) => {
                (Deleting, &[ForgetFailures, AwaitChange])
            }
            (Deleting, DeleteRequested { held: false | true }) => (Deleting, &[]),
            (Deleting, LetGo) => (Deleting, &[ReconcileNow]),
            (Deleting, Destroyed) => (Deleted, &[Release]),
            (Deleting, DestroyFailed) => (Deleting, &[CountFailure, RetryByLadder]),
            (Pending | Provisioning | Configuring | Active | Updating | Failed | Deleting, Forgotten) => {
                (Deleted, &[Release])
            }

            // What cannot happen: a resource that goes is not changed any more, and one that is gone is nothing.
            (Deleting | Provisioning | Configuring | Active | Updating, DroppedUntouched)
            | (Deleting, SpecChanged | Applied | Succeeded | Happening::Failed { .. } | Drifted { .. })
            | (
                Provisioning | Configuring | Updating,
                Started { .. } | Drifted { .. } | LetGo | Destroyed | DestroyFailed,
            )
            | (
                Pending,
                Applied | Succeeded | Happening::Failed { .. } | Drifted { .. } | LetGo | Destroyed | DestroyFailed,
            )
            | (Active, Applied | Succeeded | LetGo | Destroyed | DestroyFailed)
            | (
                Failed,
                Applied | Succeeded | Happening::Failed { .. } | Drifted { .. } | LetGo | Destroyed | DestroyFailed,
            )
            | (
                Deleted,
                SpecChanged
                | ReconcileRequested
                | Started { .. }
                | Applied
                | Succeeded
                | Happening::Failed { .. }
                | Drifted { .. }
                | DeleteRequested { .. }
                | DroppedUntouched
                | LetGo
                | Destroyed
                | DestroyFailed
                | Forgotten,
            ) => return None,
        };
        Some(Transition { to, effects })
    }
}

/// The lifecycle as a Mermaid diagram: every change of state, drawn from `after`.
pub fn diagram() -> String {
    let mut text = String::from("stateDiagram-v2\n    [*] --> pending\n");
    for from in Lifecycle::ALL {
        for to in Lifecycle::ALL.into_iter().filter(|to| *to != from) {
            let causes: Vec<_> = Happening::ALL
                .into_iter()
                .filter(|happening| from.after(*happening).is_some_and(|transition| transition.to == to))
                .map(Happening::words)
                .collect();
            if !causes.is_empty() {
                text.push_str(&format!("    {} --> {}: {}\n", from.as_str(), to.as_str(), causes.join("; ")));
            }
        }
    }
    text.push_str("    deleted --> [*]\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delete_is_legal_from_every_state() {
        for state in Lifecycle::ALL.into_iter().filter(|state| *state != Lifecycle::Deleted) {
            let gone = state.after(Happening::DeleteRequested { held: false }).expect("a transition");
            assert!(gone.to.is_going(), "{state:?}");
            let forgotten = state.after(Happening::Forgotten).expect("a transition");
            assert_eq!(forgotten, Transition { to: Lifecycle::Deleted, effects: &[Effect::Release] });
        }
    }

    #[test]
    fn only_destroyed_or_forgotten_or_untouched_resources_are_released() {
        for state in Lifecycle::ALL {
            for happening in Happening::ALL {
                let Some(transition) = state.after(happening) else { continue };
                let released = transition.effects.contains(&Effect::Release);
                let may =
                    matches!(happening, Happening::Destroyed | Happening::Forgotten | Happening::DroppedUntouched)
                        || (state == Lifecycle::Pending && happening == Happening::DeleteRequested { held: false });
                assert_eq!(released, transition.to == Lifecycle::Deleted);
                assert!(!released || may, "{state:?} {happening:?}");
            }
        }
    }

    #[test]
    fn a_going_resource_never_comes_back() {
        for happening in Happening::ALL {
            if let Some(transition) = Lifecycle::Deleting.after(happening) {
                assert!(transition.to.is_going(), "{happening:?}");
            }
        }
    }

    #[test]
    fn every_end_of_an_operation_says_when_to_come_back() {
        for state in Lifecycle::ALL {
            for happening in [
                Happening::Succeeded,
                Happening::Failed { retry: true },
                Happening::Failed { retry: false },
                Happening::DestroyFailed,
                Happening::Destroyed,
            ] {
                let Some(transition) = state.after(happening) else { continue };
                let schedules = transition.effects.iter().filter(|effect| {
                    matches!(
                        effect,
                        Effect::RetryByLadder
                            | Effect::AwaitChange
                            | Effect::WatchForDrift
                            | Effect::ReconcileNow
                            | Effect::Release
                    )
                });
                assert_eq!(schedules.count(), 1, "{state:?} {happening:?}");
            }
        }
    }

    #[test]
    fn the_guide_shows_the_diagram_that_the_code_draws() {
        let guide = include_str!("../../../../docs/src/lifecycle.md");
        let block = format!("```mermaid\n{}```", diagram());
        assert!(guide.contains(&block), "docs/src/lifecycle.md should contain\n{block}");
    }
}
