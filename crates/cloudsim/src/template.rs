//! Texts with holes, by which the conduct of a cloud is written down: `arn:aws:iam::{account}:role/{name}`.
//!
//! A hole is the path of an attribute, one of the words below, or several of those, of which the first that is not empty
//! counts, and the last may be a literal: `{config.region|env.AWS_REGION|'us-east-1'}`. A text that is nothing but a hole
//! has the type of what fills it.
//!
//! What is made up (`{hex:17}`, `{digits:12}`, `{uuid}`, `{ip}`) is another each time, and so has its place in objects, which
//! keep it. A data source is read again and again: `{fixed:12}` is always the same for an account.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::{provider::Session, random, value};

/// What holes are filled from.
pub struct Scope<'a> {
    pub values: &'a Json,
    pub session: &'a Session,
}

/// None, if something it depends on is not known yet.
pub fn expand(template: &Json, scope: &Scope<'_>) -> Option<Json> {
    match template {
        Json::String(text) => expand_text(text, scope),
        Json::Array(elements) => elements.iter().map(|element| expand(element, scope)).collect(),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Some((name.clone(), expand(value, scope)?)));
            fields.collect::<Option<_>>().map(Json::Object)
        }
        other => Some(other.clone()),
    }
}

/// The same as text; empty, if something is not known.
pub fn text(template: &str, scope: &Scope<'_>) -> String {
    expand_text(template, scope).map(|value| plain(&value)).unwrap_or_default()
}

/// A template whose holes are filled with these texts; a hole that is none of them stays empty.
pub fn with(template: &str, words: &[(&str, &str)]) -> String {
    replace(template, |hole| words.iter().find(|(name, _)| *name == hole).map_or("", |(_, text)| text).to_owned())
}

pub fn replace(template: &str, fill: impl Fn(&str) -> String) -> String {
    holes(template).into_iter().fold(String::new(), |text, part| {
        text + &match part {
            Part::Text(part) => part.to_owned(),
            Part::Hole(hole) => fill(hole),
        }
    })
}

enum Part<'a> {
    Text(&'a str),
    Hole(&'a str),
}

fn holes(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some((before, (hole, after))) = text.split_once('{').and_then(|(b, r)| Some((b, r.split_once('}')?))) {
        parts.extend([Part::Text(before), Part::Hole(hole)]);
        text = after;
    }
    parts.push(Part::Text(text));
    parts.retain(|part| !matches!(part, Part::Text("")));
    parts
}

fn expand_text(template: &str, scope: &Scope<'_>) -> Option<Json> {
    let parts = holes(template);
    if let [Part::Hole(hole)] = parts.as_slice() {
        return fill(hole, scope);
    }
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Hole(hole) => text.push_str(&plain(&fill(hole, scope)?)),
        }
    }
    Some(Json::from(text))
}

fn fill(hole: &str, scope: &Scope<'_>) -> Option<Json> {
    for choice in hole.split('|') {
        let found = choose(choice, scope)?;
        let empty = found.is_null() || found.as_str().is_some_and(str::is_empty);
        if !empty {
            return Some(found);
        }
    }
    Some(Json::from(""))
}

fn choose(choice: &str, scope: &Scope<'_>) -> Option<Json> {
    if let Some(literal) = choice.strip_prefix('\'').and_then(|literal| literal.strip_suffix('\'')) {
        return Some(Json::from(literal));
    }
    if let Some((word, length)) = choice.split_once(':') {
        let length = length.parse().unwrap_or(8);
        return Some(match word {
            "hex" => Json::from(random::hex(length)),
            "HEX" => Json::from(random::hex(length).to_uppercase()),
            "digits" => Json::from(random::digits(length)),
            "fixed" => Json::from(random::fixed(&scope.session.account, length)),
            "number" => random::digits(length).parse::<u64>().map_or(Json::Null, Json::from),
            _ => Json::Null,
        });
    }
    if let Some(path) = choice.strip_prefix("config.") {
        return Some(first(&scope.session.config, path)).filter(|found| !value::is_unknown(found));
    }
    if let Some(name) = choice.strip_prefix("env.") {
        return Some(scope.session.variables.get(name).map_or(Json::Null, |text| Json::from(text.as_str())));
    }
    let attribute = first(scope.values, choice);
    let session = match choice {
        "account" => Some(Json::from(scope.session.account.as_str())),
        "region" => Some(Json::from(scope.session.region.as_str())),
        "uuid" => Some(Json::from(random::uuid())),
        "ip" => Some(Json::from(random::address())),
        "certificate" => Some(Json::from(random::certificate())),
        "now" => Some(Json::from(format!("{:.0}", Timestamp::now()))),
        _ => None,
    };
    match session {
        Some(session) if attribute.is_null() || value::is_unknown(&attribute) => Some(session),
        _ => Some(attribute).filter(|attribute| !value::is_unknown(attribute)),
    }
}

/// The value at a path; of a collection on the way, the first element.
fn first(value: &Json, path: &str) -> Json {
    let mut found = value;
    for name in path.split('.') {
        while let Json::Array(elements) = found {
            let Some(element) = elements.first() else { return Json::Null };
            found = element;
        }
        if value::is_unknown(found) {
            return value::unknown();
        }
        let Some(inner) = found.get(name) else { return Json::Null };
        found = inner;
    }
    found.clone()
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        Json::Array(elements) => elements.first().map(plain).unwrap_or_default(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn session() -> Session {
        Session {
            account: "123".to_owned(),
            region: "eu-west-1".to_owned(),
            config: json!({ "tags": [{ "owner": "me" }], "later": value::unknown() }),
            variables: BTreeMap::from([("HOME_REGION".to_owned(), "us-east-1".to_owned())]),
        }
    }

    fn expanded(template: Json, values: Json) -> Option<Json> {
        expand(&template, &Scope { values: &values, session: &session() })
    }

    #[test]
    fn holes_are_filled_from_the_object_the_session_and_the_environment() {
        let object = json!({ "name": "web", "spec": [{ "size": 3 }], "empty": "", "region": "ap-south-1" });
        for (template, filled) in [
            (json!("{name}-{spec.size}"), json!("web-3")),
            (json!("{spec.size}"), json!(3)),
            (json!("{empty|missing|'literal'}"), json!("literal")),
            (json!("{region}:{account}"), json!("ap-south-1:123")),
            (json!("{config.tags.owner} {env.HOME_REGION}"), json!("me us-east-1")),
            (json!([{ "deep": "{name}" }, 7, true]), json!([{ "deep": "web" }, 7, true])),
            (json!("no hole, } or {"), json!("no hole, } or {")),
        ] {
            assert_eq!(expanded(template.clone(), object.clone()), Some(filled), "{template}");
        }
    }

    #[test]
    fn what_depends_on_something_unknown_waits_unless_the_session_knows_it() {
        let object = json!({ "id": value::unknown(), "region": value::unknown() });
        assert_eq!(expanded(json!("arn:{id}"), object.clone()), None);
        assert_eq!(expanded(json!("{config.later}"), object.clone()), None);
        assert_eq!(expanded(json!("{region}"), object), Some(json!("eu-west-1")));
    }

    #[test]
    fn what_is_fixed_is_the_same_for_the_same_account() {
        let fixed = || expanded(json!("{fixed:12}"), json!({})).unwrap();
        assert_eq!(fixed(), fixed());
        assert_eq!(fixed().as_str().map(str::len), Some(12));
    }

    #[test]
    fn what_is_made_up_is_as_long_as_it_should_be_and_never_twice_the_same() {
        let made =
            |template: &str| expanded(json!(template), json!({})).and_then(|made| made.as_str().map(str::to_owned));
        for (template, length) in [("{hex:17}", 17), ("{HEX:32}", 32), ("{digits:12}", 12), ("{uuid}", 36)] {
            let (one, other) = (made(template).unwrap(), made(template).unwrap());
            assert_eq!((one.len(), other.len()), (length, length), "{template}");
            assert_ne!(one, other);
        }
    }
}
