//! Redaction of what arrives in pieces. Every occurrence of every form counts, overlapping ones too: what they cover together is
//! replaced as one, so that no tail of a form is left beside another.

use std::collections::VecDeque;
use std::ops::Range;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};

use super::{Forms, Redactor, SHORTEST, STRUCK};

pub struct Redaction {
    redactor: Redactor,
    state: Option<StateID>,
    /// What could still become part of a match, and the place of its first byte in the whole.
    held: Vec<u8>,
    held_at: usize,
    /// Covered by matches, in order, none touching another, at places in the whole.
    covered: VecDeque<Range<usize>>,
    /// A short value that stands alone unless the next byte continues the word.
    maybe_word: Option<Range<usize>>,
    /// The last byte that was let go, and whether it was covered.
    before_held: Option<u8>,
    within_covered: bool,
}

impl Redaction {
    pub(super) fn new(redactor: Redactor) -> Redaction {
        let state = redactor.0.as_ref().map(|forms| forms.start);
        Redaction {
            redactor,
            state,
            held: vec![],
            held_at: 0,
            covered: VecDeque::new(),
            maybe_word: None,
            before_held: None,
            within_covered: false,
        }
    }

    /// Takes more in, and lets go of all that cannot become part of a match any more.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let (Some(forms), Some(mut state)) = (self.redactor.0.clone(), self.state) else { return bytes.to_vec() };
        let scanned = self.held.len();
        self.held.extend_from_slice(bytes);
        for at in scanned..self.held.len() {
            let byte = self.held[at];
            state = forms.automaton.next_state(Anchored::No, state, byte);
            self.settle_word(Some(byte));
            if forms.automaton.is_special(state) && forms.automaton.is_match(state) {
                self.note_match(&forms, state, self.held_at + at + 1);
            }
        }
        self.state = Some(state);
        let end = self.held_at + self.held.len();
        let undecided = end - forms.depth(state);
        let undecided = self.maybe_word.as_ref().map_or(undecided, |word| word.start.min(undecided));
        self.let_go(undecided)
    }

    /// Nothing more comes: whatever is held back is let go.
    pub fn finish(&mut self) -> Vec<u8> {
        self.settle_word(None);
        let rest = self.let_go(self.held_at + self.held.len());
        self.state = self.redactor.0.as_ref().map(|forms| forms.start);
        self.before_held = None;
        self.within_covered = false;
        rest
    }

    fn note_match(&mut self, forms: &Forms, state: StateID, end: usize) {
        let Some(length) = forms.longest_match(state) else { return };
        let found = end - length..end;
        if length >= SHORTEST {
            self.cover(found);
        } else if !self.byte_before(found.start).is_some_and(is_word) {
            self.maybe_word = Some(found);
        }
    }

    fn settle_word(&mut self, next: Option<u8>) {
        if let Some(word) = self.maybe_word.take()
            && !next.is_some_and(is_word)
        {
            self.cover(word);
        }
    }

    fn byte_before(&self, place: usize) -> Option<u8> {
        match place.checked_sub(self.held_at + 1) {
            Some(index) => self.held.get(index).copied(),
            None => self.before_held,
        }
    }

    fn cover(&mut self, found: Range<usize>) {
        let mut found = found.start.max(self.held_at)..found.end;
        while let Some(last) = self.covered.back().filter(|last| last.end >= found.start) {
            found = found.start.min(last.start)..found.end.max(last.end);
            self.covered.pop_back();
        }
        self.covered.push_back(found);
    }

    /// Lets go of everything before this place.
    fn let_go(&mut self, until: usize) -> Vec<u8> {
        let mut clean = Vec::with_capacity(until - self.held_at);
        let mut at = self.held_at;
        while at < until {
            let next = self.covered.front().map_or(until, |range| range.start.clamp(at, until));
            if next > at {
                clean.extend_from_slice(&self.held[at - self.held_at..next - self.held_at]);
                self.within_covered = false;
            }
            at = next;
            if let Some(range) = self.covered.front_mut().filter(|range| range.start <= at && at < until) {
                if !self.within_covered {
                    clean.extend_from_slice(STRUCK.as_bytes());
                    self.within_covered = true;
                }
                at = range.end.min(until);
                range.start = at;
                if range.start >= range.end {
                    self.covered.pop_front();
                }
            }
        }
        let gone = until - self.held_at;
        if gone > 0 {
            self.before_held = Some(self.held[gone - 1]);
        }
        self.held.drain(..gone);
        self.held_at = until;
        clean
    }
}

/// Letters and digits, and every part of a character beyond ASCII.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}
