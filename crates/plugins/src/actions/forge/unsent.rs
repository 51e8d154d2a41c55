//! The intents that this process wrote down and has not acted upon. Only here can it be known that a request
//! has not been sent: an intent that is not here may have been, by a process that died of it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// An intent that is not acted upon within this time belongs to an operation that was superseded.
const FORGOTTEN_AFTER: i64 = 3600;

#[derive(Default)]
pub(crate) struct Unsent(Mutex<HashMap<String, i64>>);

impl Unsent {
    pub(super) fn note(&self, nonce: &str, now: i64) {
        let mut nonces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        nonces.retain(|_, since| now - *since < FORGOTTEN_AFTER);
        nonces.insert(nonce.to_owned(), now);
    }

    /// True once for each nonce noted: whoever gets it may send.
    pub(super) fn take(&self, nonce: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(nonce).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_allows_one_sending() {
        let unsent = Unsent::default();
        unsent.note("a", 0);
        assert!(unsent.take("a"));
        assert!(!unsent.take("a"));
        assert!(!Unsent::default().take("a"));
    }

    #[test]
    fn what_nobody_came_back_for_is_forgotten() {
        let unsent = Unsent::default();
        unsent.note("a", 0);
        unsent.note("b", FORGOTTEN_AFTER);
        assert!(!unsent.take("a"));
        assert!(unsent.take("b"));
    }
}
