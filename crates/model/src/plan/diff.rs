//! Two values laid side by side: which attributes differ, by path, with what is sensitive left out and what is known only
//! later marked. Terraform says what is sensitive or unknown in masks of the same shape as the values, in which `true`
//! covers everything below it.

use serde_json::{Map, Value};

use super::PlannedAttribute;

/// Longer values are cut: a plan is for reading.
const LONGEST_VALUE: usize = 1024;
/// Deeper than any resource's schema; what is deeper still is shown whole.
const DEEPEST: usize = 32;

static NULL: Value = Value::Null;

/// One place in both values and in all masks.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub before: &'a Value,
    pub after: &'a Value,
    pub before_sensitive: &'a Value,
    pub after_sensitive: &'a Value,
    pub after_unknown: &'a Value,
}

impl<'a> Side<'a> {
    /// From the `change` of a resource.
    pub(super) fn of(change: &'a Value) -> Side<'a> {
        Side {
            before: &change["before"],
            after: &change["after"],
            before_sensitive: &change["before_sensitive"],
            after_sensitive: &change["after_sensitive"],
            after_unknown: &change["after_unknown"],
        }
    }

    fn child(self, key: Key<'_>) -> Side<'a> {
        Side {
            before: key.of(self.before),
            after: key.of(self.after),
            before_sensitive: key.of_mask(self.before_sensitive),
            after_sensitive: key.of_mask(self.after_sensitive),
            after_unknown: key.of_mask(self.after_unknown),
        }
    }

    fn is_unknown(self) -> bool {
        *self.after_unknown == Value::Bool(true)
    }

    fn is_sensitive(self) -> bool {
        *self.before_sensitive == Value::Bool(true) || *self.after_sensitive == Value::Bool(true)
    }

    fn differs(self) -> bool {
        self.before != self.after || has_true(self.after_unknown) || self.is_sensitive_on_one_side()
    }

    /// That something becomes sensitive, or ceases to be, is a change too.
    fn is_sensitive_on_one_side(self) -> bool {
        !self.before.is_null()
            && !self.after.is_null()
            && (*self.before_sensitive == Value::Bool(true)) != (*self.after_sensitive == Value::Bool(true))
    }
}

#[derive(Clone, Copy)]
enum Key<'k> {
    Field(&'k str),
    Index(usize),
}

impl Key<'_> {
    fn of(self, value: &Value) -> &Value {
        match self {
            Key::Field(name) => value.get(name),
            Key::Index(index) => value.get(index),
        }
        .unwrap_or(&NULL)
    }

    fn of_mask(self, mask: &Value) -> &Value {
        if mask.is_boolean() { mask } else { self.of(mask) }
    }
}

/// Calls `found` for every attribute that differs, outermost first.
pub(super) fn walk<'a>(side: Side<'a>, path: &str, depth: usize, found: &mut dyn FnMut(&str, Side<'a>)) {
    if !side.differs() {
        return;
    }
    let whole = side.is_unknown() || side.is_sensitive() || depth >= DEEPEST;
    match (whole, fields(side), items(side)) {
        (false, Some(names), _) => {
            for name in names {
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{}", shown(name)) };
                walk(side.child(Key::Field(name)), &path, depth + 1, found);
            }
        }
        (false, None, Some(count)) => {
            for index in 0..count {
                walk(side.child(Key::Index(index)), &format!("{path}[{index}]"), depth + 1, found);
            }
        }
        _ => found(path, side),
    }
}

/// A key that has a dot in it would look like two.
fn shown(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

fn is_object(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| !fields.is_empty())
}

/// The names on either side, where what is there are objects.
fn fields(side: Side<'_>) -> Option<Vec<&str>> {
    let fits = |value: &Value| value.is_null() || value.is_object();
    let known_later = || is_object(side.after_unknown).then_some(side.after_unknown);
    if !(fits(side.before) && fits(side.after))
        || !(is_object(side.before) || is_object(side.after) || known_later().is_some())
    {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for part in [Some(side.before), Some(side.after), known_later()].into_iter().flatten() {
        for name in part.as_object().into_iter().flat_map(Map::keys) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names.sort_unstable();
    Some(names)
}

/// How many items the longer side has, where what is there are lists of objects, lists that stay as long as they are, or
/// lists of which some items are known only later. Other lists read better whole.
fn items(side: Side<'_>) -> Option<usize> {
    let (before, after) = (side.before.as_array(), side.after.as_array());
    let fits = |value: &Value| value.is_null() || value.is_array();
    if !(fits(side.before) && fits(side.after)) {
        return None;
    }
    let later = side.after_unknown.as_array().filter(|_| has_true(side.after_unknown));
    let masked = [side.before_sensitive, side.after_sensitive].iter().any(|mask| mask.is_array() && has_true(mask));
    let counts = [before.map(Vec::len), after.map(Vec::len), later.map(Vec::len)];
    let count = counts.iter().flatten().copied().max().filter(|count| *count > 0)?;
    let nested = [before, after].into_iter().flatten().flatten().any(|item| item.is_object() || item.is_array());
    let same_length = before.is_some() && counts[0] == counts[1];
    (nested || same_length || masked || later.is_some()).then_some(count)
}

fn has_true(mask: &Value) -> bool {
    match mask {
        Value::Bool(covers) => *covers,
        Value::Array(items) => items.iter().any(has_true),
        Value::Object(fields) => fields.values().any(has_true),
        _ => false,
    }
}

/// The attribute at a place that differs.
pub(super) fn attribute(path: &str, side: Side<'_>, forces_replacement: bool) -> PlannedAttribute {
    // A mask may cover less than the whole, deeper down than anybody looks: then all of it is held back.
    let sensitive = has_true(side.before_sensitive) || has_true(side.after_sensitive);
    let unknown = side.is_unknown();
    let show = |value: &Value| if sensitive { Value::Null } else { bounded(value) };
    PlannedAttribute {
        path: path.to_owned(),
        before: show(side.before),
        after: if unknown { Value::Null } else { show(side.after) },
        sensitive,
        unknown,
        forces_replacement,
    }
}

/// The value, or its beginning as text.
pub(super) fn bounded(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return value.clone(),
    };
    if text.len() <= LONGEST_VALUE {
        return value.clone();
    }
    let end = text.floor_char_boundary(LONGEST_VALUE);
    Value::String(format!("{}… ({} bytes)", &text[..end], text.len()))
}
