//! What a subschema says of a value without looking at the values inside it.
//!
//! These keywords are the `jsonschema` crate's: formats, numbers and ECMA patterns are full of traps that it has been tested on.
//! The keywords that apply subschemas are walked by this module's siblings instead, since the crate collects the violations of
//! every alternative eagerly, quoting the value in each, which a hostile document turns into gigabytes.

use std::collections::HashSet;

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::{Map, Value};

use super::{limits, measure::canonical};

/// Formats that are checked; the others are annotations.
const STRING_FORMATS: [&str; 9] = ["date-time", "date", "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "byte"];

pub(super) struct Assertions {
    pub validator: Validator,
    /// Steps for each use.
    pub weight: u64,
    /// Hundredths of a step for each byte of a string.
    pub per_byte: u64,
    /// Checked here: the crate hashes `[]`, `[[]]`, `[[],[]]`… alike, and compares what collides pair by pair.
    pub unique: bool,
    pub integer: Option<IntegerFormat>,
}

#[derive(Clone, Copy)]
pub(super) struct IntegerFormat {
    pub name: &'static str,
    least: i64,
    most: i64,
}

impl IntegerFormat {
    pub(super) fn named(format: &str) -> Option<Self> {
        let (name, least, most) = match format {
            "int32" => ("int32", i64::from(i32::MIN), i64::from(i32::MAX)),
            "int64" => ("int64", i64::MIN, i64::MAX),
            _ => return None,
        };
        Some(IntegerFormat { name, least, most })
    }

    /// Fractions are `type`'s business: only integers are held against the range.
    pub(super) fn admits(&self, value: &Value) -> bool {
        let Value::Number(number) = value else { return true };
        match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => (self.least..=self.most).contains(&integer),
            (None, Some(float)) if float.fract() == 0.0 => {
                // 2^63 is the first float above the range: `i64::MAX` itself rounds up to it.
                float >= self.least as f64 && float < self.most as f64
            }
            _ => true,
        }
    }
}

pub(super) fn is_checked_format(format: &str) -> bool {
    STRING_FORMATS.contains(&format)
}

impl Assertions {
    /// `keywords` hold assertions only, already checked for their shape.
    pub(super) fn compile(
        keywords: Map<String, Value>,
        unique: bool,
        integer: Option<IntegerFormat>,
        per_byte: u64,
    ) -> Result<Option<Self>, String> {
        if keywords.is_empty() && !unique && integer.is_none() {
            return Ok(None);
        }
        let listed = |key| keywords.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        let weight =
            1 + listed("required") + listed("enum") / 4 + literal_weight(&keywords) + divisor_weight(&keywords);
        let per_byte = per_byte + 10 * u64::from(keywords.contains_key("format"));
        let validator =
            options(limits::PATTERN_BYTES).build(&Value::Object(keywords)).map_err(|error| error.to_string())?;
        Ok(Some(Assertions { validator, weight: weight as u64, per_byte, unique, integer }))
    }

    pub(super) fn cost(&self, value: &Value) -> u64 {
        match value {
            Value::String(text) => self.weight + text.len() as u64 * (self.per_byte + 1) / 100,
            _ => self.weight,
        }
    }
}

/// Objects and arrays among the literals are compared in depth.
fn literal_weight(keywords: &Map<String, Value>) -> usize {
    ["enum", "const"]
        .iter()
        .filter_map(|key| keywords.get(*key))
        .map(|literal| super::measure::measure(literal).nodes / 4)
        .sum()
}

/// Exact division of the largest numbers by the smallest takes microseconds.
fn divisor_weight(keywords: &Map<String, Value>) -> usize {
    20 * usize::from(keywords.contains_key("multipleOf"))
}

fn options(pattern_size: usize) -> ValidationOptions<'static> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .with_format("byte", is_base64)
        .with_pattern_options(PatternOptions::regex().size_limit(pattern_size).dfa_size_limit(limits::PATTERN_CACHE))
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    text.len().is_multiple_of(4)
        && padding <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// A regular expression by itself, for the keys of `patternProperties`.
pub(super) struct Pattern {
    validator: Validator,
    pub per_byte: u64,
}

impl Pattern {
    /// Refuses what cannot be matched in linear time, or takes too large an automaton to. `room` is what the patterns of the
    /// schema may still come to.
    pub(super) fn compile(source: &str, room: &mut usize) -> Result<Self, String> {
        if source.len() > limits::PATTERN_LENGTH {
            return Err(format!("a pattern of at most {} bytes", limits::PATTERN_LENGTH));
        }
        let schema = Value::Object(Map::from_iter([("pattern".to_owned(), Value::from(source))]));
        for (size, per_byte) in limits::PATTERN_SIZES {
            if size > *room {
                let all = limits::ALL_PATTERNS_BYTES;
                return Err(format!("patterns of at most {all} bytes compiled, those of the whole schema together"));
            }
            if let Ok(validator) = options(size).build(&schema) {
                *room -= size;
                return Ok(Pattern { validator, per_byte });
            }
        }
        *room = room.saturating_sub(limits::PATTERN_BYTES);
        Err(why_refused(source))
    }

    pub(super) fn matches(&self, key: &Value) -> bool {
        self.validator.is_valid(key)
    }
}

fn why_refused(source: &str) -> String {
    let backtracks = ["(?=", "(?!", "(?<=", "(?<!", "\\k<"].iter().any(|part| source.contains(part))
        || source.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && (b'1'..=b'9').contains(&pair[1]));
    if backtracks {
        return "a pattern without lookaround and backreferences, which cannot be matched in linear time".to_owned();
    }
    // What is sound as an expression and yet was not built is too large to be.
    if is_regular_expression(source) {
        return format!(
            "a smaller pattern, of at most {} bytes compiled: counted repetitions such as .{{1,253}} are unrolled \
             (maxLength bounds a length for free)",
            limits::PATTERN_BYTES
        );
    }
    "a valid regular expression".to_owned()
}

fn is_regular_expression(source: &str) -> bool {
    let schema = Value::Object(Map::from_iter([("format".to_owned(), Value::from("regex"))]));
    options(limits::PATTERN_BYTES).build(&schema).is_ok_and(|syntax| syntax.is_valid(&Value::from(source)))
}

pub(super) fn all_differ(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let mut text = String::new();
        canonical(item, &mut text);
        seen.insert(text)
    })
}
