//! Secrets struck out of what a job writes, before a byte of it is written down. A value is looked for as it is and in the
//! forms that encoders give it (`forms.rs`); what arrives in pieces is held back only as far as it could still become a
//! match (`stream.rs`), so that a log stays live.
//!
//! A value of four bytes or more is struck out wherever it occurs; one of two or three bytes only where it stands as a word of its
//! own, since it would otherwise be found inside other words by chance; a single byte is no secret and is left alone.

mod forms;
mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use serde_json::Value;

pub use forms::{base64_at, escaped, lowercase_escapes};
pub use stream::Redaction;

/// What stands in a secret's place.
pub const STRUCK: &str = "***";

/// Values at least this long are struck out inside words too.
const SHORTEST: usize = 4;

/// Every form of a set of secrets, worked out once.
#[derive(Clone)]
pub struct Redactor(Option<Arc<Forms>>);

struct Forms {
    automaton: NFA,
    start: StateID,
    /// How many bytes of some form have been seen in a state: so many may not be let go yet.
    depths: BTreeMap<StateID, usize>,
}

impl Redactor {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Redactor {
        let forms: Vec<Vec<u8>> = forms::of_all(secrets);
        // More forms than an automaton can hold are megabytes of secrets; nothing may pass for want of one.
        Redactor((!forms.is_empty()).then(|| Arc::new(Forms::new(&forms))))
    }

    /// Strikes out of what comes in pieces.
    pub fn stream(&self) -> Redaction {
        Redaction::new(self.clone())
    }

    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.stream();
        let mut clean = stream.push(bytes);
        clean.extend(stream.finish());
        clean
    }

    pub fn text(&self, text: &str) -> String {
        match &self.0 {
            None => text.to_owned(),
            Some(_) => String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned(),
        }
    }

    /// Out of every string, key and number.
    pub fn value(&self, value: &mut Value) {
        if self.0.is_none() {
            return;
        }
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                let entries = std::mem::take(map).into_iter().map(|(key, mut value)| {
                    self.value(&mut value);
                    (self.text(&key), value)
                });
                *map = entries.collect();
            }
            Value::Number(number) => {
                let (text, clean) = (number.to_string(), self.text(&number.to_string()));
                if text != clean {
                    *value = Value::String(clean);
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }
}

impl Forms {
    fn new(forms: &[Vec<u8>]) -> Forms {
        let automaton =
            NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(forms).expect("forms that fit");
        let start = automaton.start_state(Anchored::No).expect("an automaton that starts anywhere");
        let anchor = automaton.start_state(Anchored::Yes).expect("an automaton that starts here");
        let mut depths = BTreeMap::new();
        for form in forms {
            let mut state = anchor;
            for (seen, byte) in form.iter().enumerate() {
                state = automaton.next_state(Anchored::Yes, state, *byte);
                depths.insert(state, seen + 1);
            }
        }
        Forms { automaton, start, depths }
    }

    fn depth(&self, state: StateID) -> usize {
        self.depths.get(&state).copied().unwrap_or(0)
    }

    /// The longest form that ends in this state.
    fn longest_match(&self, state: StateID) -> Option<usize> {
        let lengths = (0..self.automaton.match_len(state))
            .map(|index| self.automaton.pattern_len(self.automaton.match_pattern(state, index)));
        lengths.max()
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
