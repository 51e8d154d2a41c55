//! The assertions of one subschema: checked for their shape, and brought from OpenAPI 3.0's form to JSON Schema's.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::assertion::{Assertions, IntegerFormat, Pattern, is_checked_format};
use super::keyword::{COUNTS, NUMBERS};
use super::path::child;
use super::violation::{Violation, quote};

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
/// Divisors that people mean; beyond them the exact arithmetic works on numbers of thousands of bits.
const DIVISORS: std::ops::RangeInclusive<f64> = 1e-12..=1e15;

pub(super) struct Shape<'p> {
    path: &'p str,
    keywords: Map<String, Value>,
    unique: bool,
    integer: Option<IntegerFormat>,
    pattern: Option<String>,
    violations: Vec<Violation>,
}

impl<'p> Shape<'p> {
    pub(super) fn new(path: &'p str) -> Self {
        Shape { path, keywords: Map::new(), unique: false, integer: None, pattern: None, violations: Vec::new() }
    }

    fn refuse(&mut self, key: &str, expected: impl Into<String>, found: &Value) {
        self.violations.push(Violation::new(child(self.path, key), expected, quote(found)));
    }

    fn keep(&mut self, key: &str, value: impl Into<Value>) {
        self.keywords.insert(key.to_owned(), value.into());
    }

    /// Whether the keyword is an assertion; one of the wrong shape is refused here.
    pub(super) fn take(&mut self, key: &str, raw: &Value, siblings: &Map<String, Value>) -> bool {
        match key {
            "type" => self.types(raw),
            "enum" => match raw.as_array() {
                Some(values) if !values.is_empty() => self.keep(key, raw.clone()),
                _ => self.refuse(key, "a list of at least one value", raw),
            },
            "const" => self.keep(key, raw.clone()),
            "exclusiveMinimum" => self.exclusive(key, "minimum", raw, siblings),
            "exclusiveMaximum" => self.exclusive(key, "maximum", raw, siblings),
            "multipleOf" => match raw.as_f64() {
                Some(divisor) if DIVISORS.contains(&divisor) => self.keep(key, raw.clone()),
                _ => self.refuse(key, "a number between 1e-12 and 1e15", raw),
            },
            "pattern" => match raw.as_str() {
                Some(source) => self.pattern = Some(source.to_owned()),
                None => self.refuse(key, "a regular expression (a string)", raw),
            },
            "format" => self.format(raw),
            "required" => {
                if self.is_names(raw) {
                    self.keep(key, raw.clone());
                } else {
                    self.refuse(key, "a list of distinct field names, beside \"properties\"", raw);
                }
            }
            "dependentRequired" => match raw.as_object() {
                Some(lists) if lists.values().all(|list| self.is_names(list)) => {
                    self.keep(key, raw.clone());
                }
                _ => self.refuse(key, "lists of distinct field names, by field name", raw),
            },
            "uniqueItems" => match raw {
                Value::Bool(unique) => self.unique = *unique,
                _ => self.refuse(key, "true or false", raw),
            },
            _ if NUMBERS.contains(&key) => {
                if !raw.as_f64().is_some_and(f64::is_finite) {
                    self.refuse(key, "a number", raw);
                } else if !is_exclusive(siblings, key) {
                    self.keep(key, raw.clone());
                }
            }
            _ if COUNTS.contains(&key) => {
                if let Some(count) = self.count(key, raw) {
                    self.keep(key, count);
                }
            }
            _ => return false,
        }
        true
    }

    pub(super) fn count(&mut self, key: &str, raw: &Value) -> Option<u64> {
        let count = raw.as_u64().or_else(|| {
            // `3.0` is an integer to JSON Schema; below 2^53 the conversion is exact.
            let float = raw.as_f64()?;
            (float.fract() == 0.0 && (0.0..9e15).contains(&float)).then_some(float as u64)
        });
        if count.is_none() {
            self.refuse(key, "a non-negative integer", raw);
        }
        count
    }

    /// `room` is what the patterns of the schema may still come to.
    pub(super) fn finish(mut self, violations: &mut Vec<Violation>, room: &mut usize) -> Option<Assertions> {
        let mut per_byte = 0;
        if let Some(source) = self.pattern.take() {
            match Pattern::compile(&source, room) {
                Ok(pattern) => per_byte = pattern.per_byte,
                Err(expected) => self.refuse("pattern", expected, &Value::from(source.as_str())),
            }
            self.keep("pattern", source);
        }
        if !self.violations.is_empty() {
            violations.extend(self.violations);
            return None;
        }
        match Assertions::compile(self.keywords, self.unique, self.integer, per_byte) {
            Ok(assertions) => assertions,
            Err(reason) => {
                violations.push(Violation::new(self.path, "a valid schema", reason));
                None
            }
        }
    }

    fn types(&mut self, raw: &Value) {
        let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        let sound = match raw {
            Value::Array(names) => {
                let distinct: HashSet<_> = names.iter().filter_map(Value::as_str).collect();
                !names.is_empty() && names.iter().all(is_type) && distinct.len() == names.len()
            }
            name => is_type(name),
        };
        if sound {
            self.keep("type", raw.clone());
        } else {
            self.refuse("type", format!("one of {}", TYPES.join(", ")), raw);
        }
    }

    fn exclusive(&mut self, key: &str, bound: &str, raw: &Value, siblings: &Map<String, Value>) {
        match raw {
            Value::Bool(false) => {}
            Value::Bool(true) => match siblings.get(bound) {
                Some(limit) if limit.is_number() => self.keep(key, limit.clone()),
                _ => self.refuse(key, format!("a number, or true beside \"{bound}\""), raw),
            },
            Value::Number(_) => self.keep(key, raw.clone()),
            _ => self.refuse(key, "a number, or true or false", raw),
        }
    }

    fn format(&mut self, raw: &Value) {
        let Some(format) = raw.as_str() else {
            return self.refuse("format", "the name of a format (a string)", raw);
        };
        self.integer = IntegerFormat::named(format);
        if is_checked_format(format) {
            self.keep("format", format);
        }
    }

    fn is_names(&self, raw: &Value) -> bool {
        raw.as_array().is_some_and(|names| {
            let distinct: HashSet<_> = names.iter().filter_map(Value::as_str).collect();
            distinct.len() == names.len()
        })
    }
}

/// OpenAPI 3.0 writes `minimum: 5, exclusiveMinimum: true`.
fn is_exclusive(siblings: &Map<String, Value>, bound: &str) -> bool {
    let key = if bound == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
    siblings.get(key) == Some(&Value::Bool(true))
}
