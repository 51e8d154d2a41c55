//! How secrets look where they went through an encoding: in JSON, in a URL, in base64. Used to strike them out of
//! what is written down, and to find them in what is about to leave.

use std::collections::BTreeSet;

use model::redact::{base64_at, escaped, lowercase_escapes};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Shorter values occur by chance inside other words. They are looked for as whole words only.
const SHORTEST: usize = 4;

/// What encoders leave as it is: the strict ones, and those of a URL's path and query.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');

/// Every spelling of one secret's value.
pub struct Disguises {
    /// Longest first, so that none leaves the rest of a longer one behind.
    spellings: Vec<String>,
    /// The value itself, where it is too short to be looked for inside words.
    word: Option<String>,
    whole: String,
}

impl Disguises {
    pub fn of(value: &SecretString) -> Disguises {
        let whole = value.expose_secret().to_owned();
        let mut spellings = BTreeSet::new();
        spell(&whole, &mut spellings);
        spell(whole.trim(), &mut spellings);
        // A key of several lines is shown line by line.
        let lines = whole.lines().map(str::trim).filter(|line| line.len() >= 4 * SHORTEST);
        spellings.extend(lines.map(str::to_owned));
        let mut spellings: Vec<String> = spellings.into_iter().filter(|text| text.len() >= SHORTEST).collect();
        spellings.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let word = Some(whole.clone()).filter(|value| (2..SHORTEST).contains(&value.len()));
        Disguises { spellings, word, whole }
    }

    pub fn occur_in(&self, text: &str) -> bool {
        let is_word = |value: &String| text.split(between_words).any(|word| word == value);
        self.word.as_ref().is_some_and(is_word) || self.spellings.iter().any(|spelling| text.contains(spelling))
    }

    /// The text with `with` in their place.
    pub fn replaced(&self, text: String, with: &str) -> String {
        if !self.whole.is_empty() && text == self.whole {
            return with.to_owned();
        }
        let text = self
            .spellings
            .iter()
            .fold(text, |text, spelling| if text.contains(spelling) { text.replace(spelling, with) } else { text });
        match &self.word {
            Some(word) if text.contains(word) => {
                let words = text.split_inclusive(between_words);
                words.map(|piece| replaced_word(piece, word, with)).collect()
            }
            _ => text,
        }
    }
}

fn between_words(character: char) -> bool {
    !character.is_alphanumeric()
}

fn replaced_word(piece: &str, word: &str, with: &str) -> String {
    let bare = piece.trim_end_matches(between_words);
    if bare == word { format!("{with}{}", &piece[bare.len()..]) } else { piece.to_owned() }
}

fn spell(value: &str, spellings: &mut BTreeSet<String>) {
    let json = Value::String(value.to_owned()).to_string();
    let json = json[1..json.len() - 1].to_owned();
    spellings.insert(value.to_owned());
    spellings.insert(json.replace('/', "\\/"));
    spellings.insert(escaped(&json, |character| !character.is_ascii()));
    spellings.insert(escaped(&json, |character| matches!(character, '<' | '>' | '&')));
    spellings.insert(json);
    for set in [STRICT, PATH, QUERY] {
        let encoded = percent_encode(value.as_bytes(), set).to_string();
        spellings.insert(encoded.replace("%20", "+"));
        spellings.insert(lowercase_escapes(&encoded));
        spellings.insert(encoded);
    }
    for alignment in 0..3 {
        spellings.extend(base64_at(value.as_bytes(), alignment));
    }
}
