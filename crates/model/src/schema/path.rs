//! Where something is, as the author of a document writes it: `spec.nodes[2].size`, `spec.labels["a.b"]`.

use std::fmt::Write;

use super::violation::quote_str;

/// Borrowed from the document and rendered only when there is something to say, as validation pushes and pops at every value.
#[derive(Default)]
pub(super) struct Path<'v>(Vec<Segment<'v>>);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Segment<'v> {
    Key(&'v str),
    Index(usize),
}

impl<'v> Path<'v> {
    pub(super) fn push(&mut self, segment: Segment<'v>) {
        self.0.push(segment);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn render(&self, root: &str) -> String {
        let mut text = root.to_owned();
        for segment in &self.0 {
            match segment {
                Segment::Key(key) => push_key(&mut text, key),
                Segment::Index(index) => push_index(&mut text, *index),
            }
        }
        text
    }
}

pub(super) fn child(parent: &str, key: &str) -> String {
    let mut text = parent.to_owned();
    push_key(&mut text, key);
    text
}

pub(super) fn item(parent: &str, index: usize) -> String {
    let mut text = parent.to_owned();
    push_index(&mut text, index);
    text
}

fn push_key(text: &mut String, key: &str) {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    if !key.is_empty() && key.len() <= 100 && key.chars().all(plain) {
        text.push('.');
        text.push_str(key);
    } else {
        text.push('[');
        text.push_str(&quote_str(key));
        text.push(']');
    }
}

fn push_index(text: &mut String, index: usize) {
    // Writing to a `String` cannot fail.
    let _ = write!(text, "[{index}]");
}
