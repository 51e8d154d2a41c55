//! How a secret looks after it went through an encoding: JSON, base64, a URL, hexadecimal; cut into lines, or wrapped by
//! Terraform's own boxes.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};
use serde_json::Value;

use super::SHORTEST;

/// Lines of a longer secret that are shorter than this say little and occur by chance.
const SHORTEST_LINE: usize = 8;
/// Fragments of base64 look like anything; four characters of it would be found in every large log.
const SHORTEST_BASE64: usize = 5;
/// Where `base64` and PEM begin a new line.
const BASE64_WIDTHS: [usize; 2] = [76, 64];
/// A text with more blanks than this is not a passphrase that a wrapped line could cut.
const MOST_BLANKS: usize = 32;

/// What encoders leave as it is: the strict ones, and those of a URL's path and query.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const SLASHED: &AsciiSet = &STRICT.remove(b'/');
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');

pub fn of_all<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Vec<Vec<u8>> {
    let mut forms = BTreeSet::new();
    for secret in secrets {
        spell(secret, &mut forms);
        spell(secret.trim(), &mut forms);
        for line in secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE && !is_frame(line)) {
            spell(line, &mut forms);
        }
    }
    forms.into_iter().filter(|form| form.len() >= 2).map(String::into_bytes).collect()
}

/// The first and last line of a key are the same in every key.
fn is_frame(line: &str) -> bool {
    line.starts_with("-----BEGIN ") || line.starts_with("-----END ")
}

fn spell(value: &str, forms: &mut BTreeSet<String>) {
    forms.insert(value.to_owned());
    // Of what is too short no form but the plain one: they would all be short words.
    if value.len() < SHORTEST {
        return;
    }
    spell_json(value, forms);
    for set in [STRICT, SLASHED, PATH, QUERY] {
        let encoded = percent_encode(value.as_bytes(), set).to_string();
        forms.insert(encoded.replace("%20", "+"));
        forms.insert(lowercase_escapes(&encoded).replace("%20", "+"));
        forms.insert(lowercase_escapes(&encoded));
        forms.insert(encoded);
    }
    for alignment in 0..3 {
        forms.extend(base64_at(value.as_bytes(), alignment));
    }
    forms.extend(base64_lines(value));
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.insert(hex.to_ascii_uppercase());
    forms.insert(hex);
    if value.matches(' ').count() <= MOST_BLANKS {
        for (at, _) in value.match_indices(' ') {
            let (before, after) = (&value[..at], &value[at + 1..]);
            forms.insert(format!("{before}\n{after}"));
            forms.insert(format!("{before}\n│ {after}"));
        }
    }
}

fn spell_json(value: &str, forms: &mut BTreeSet<String>) {
    let json = Value::String(value.to_owned()).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let for_html = escaped(&json, |character| matches!(character, '<' | '>' | '&'));
    for form in [json.replace('/', "\\/"), escaped(&json, |character| !character.is_ascii()), for_html, json] {
        // A JSON text inside a JSON text.
        let twice = Value::String(form.clone()).to_string();
        forms.insert(twice[1..twice.len() - 1].to_owned());
        forms.insert(form);
    }
}

/// With `\u…` for the characters that JSON writers of other languages escape.
pub fn escaped(json: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let escape = |character: char| {
        let mut units = [0; 2];
        character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    json.chars().map(|c| if is_escaped(c) { escape(c) } else { c.to_string() }).collect()
}

pub fn lowercase_escapes(encoded: &str) -> String {
    let mut left = 0;
    let lower = |character: char| {
        left = if character == '%' { 3 } else { i32::max(left - 1, 0) };
        if left > 0 { character.to_ascii_lowercase() } else { character }
    };
    encoded.chars().map(lower).collect()
}

/// What the value looks like within a longer text that is encoded as a whole, with so many bytes before it, modulo three.
/// The characters at both ends depend on the neighbours too, and are left out; so padding needs no forms of its own.
pub fn base64_at(value: &[u8], alignment: usize) -> Vec<String> {
    let mut padded = vec![0; alignment];
    padded.extend_from_slice(value);
    let (begin, end) = ((alignment * 8).div_ceil(6), padded.len() * 8 / 6);
    let encoded = [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)];
    let pieces = encoded.iter().filter_map(|encoded| encoded.get(begin..end));
    pieces.filter(|piece| piece.len() >= SHORTEST_BASE64).map(str::to_owned).collect()
}

/// What the value looks like when it is encoded alone and printed in lines of the usual width.
fn base64_lines(value: &str) -> Vec<String> {
    let encoded = STANDARD_NO_PAD.encode(value);
    let width = |width: usize| {
        let lines = encoded.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned());
        lines.filter(|line| line.len() >= SHORTEST_LINE).collect::<Vec<_>>()
    };
    BASE64_WIDTHS.into_iter().filter(|at| encoded.len() > *at).flat_map(width).collect()
}
