//! A failure on its way into words: what is known of it, and what is to be said.

use super::cloud::Cloud;
use super::diagnostic::Diagnostic;
use super::gist;
use super::text::Text;
use super::{access, limits, machinery, module, reach};
use crate::failure::Class;

/// All that the words depend on.
pub(super) struct Case<'a> {
    pub diagnostic: &'a Diagnostic,
    /// Summary and detail.
    pub text: &'a Text,
    pub cloud: Option<Cloud>,
    /// For instance `terraform init`.
    pub command: &'static str,
}

/// What to say.
pub(super) struct Told {
    pub what: String,
    pub hint: String,
    pub retry_after: Option<u64>,
    /// Trying again by itself cannot help, whatever is usual for the class.
    pub lasting: bool,
}

impl Told {
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Told {
        Told { what: what.into(), hint: hint.into(), retry_after: None, lasting: false }
    }

    pub(super) fn lasting(self) -> Told {
        Told { lasting: true, ..self }
    }
}

impl Case<'_> {
    pub(super) fn gist(&self) -> String {
        // Older AWS providers put nothing but the status and the request's number on a line of their own.
        let detail = Text::of(&self.diagnostic.detail);
        let bare = detail.plain().is_empty() || detail.folded().starts_with("status code");
        gist::of(if bare { self.text.plain() } else { detail.plain() })
    }

    pub(super) fn other_side(&self) -> &'static str {
        self.cloud.map_or("the provider", Cloud::name)
    }

    pub(super) fn tell(&self, class: Class) -> Told {
        match class {
            Class::Quota => limits::quota(self),
            Class::Throttle => limits::throttle(self),
            Class::Capacity => limits::capacity(self),
            Class::Credentials => access::credentials(self),
            Class::Network => reach::network(self),
            Class::Outage => reach::outage(self),
            Class::Timeout => reach::timeout(self),
            Class::InvalidConfig => module::invalid(self),
            Class::Conflict => module::conflict(self),
            Class::Dependency => module::dependency(self),
            Class::StateLock => machinery::state_lock(self),
            Class::StateCorruption => machinery::state_corruption(self),
            Class::Crash => machinery::crash(self),
            Class::Disk => machinery::disk(self),
            Class::Installation => machinery::installation(self),
            Class::Forbidden | Class::Rejected | Class::Cancelled | Class::Uncertain | Class::Plugin => {
                machinery::rejected(self)
            }
        }
    }
}
