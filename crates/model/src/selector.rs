//! Label selectors as kubectl writes them: `env=prod,tier!=cache,region in (eu, us),!legacy`.

use thiserror::Error;

use crate::name::{Labels, is_label_key, is_label_value};

/// One term of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    In {
        key: String,
        values: Vec<String>,
    },
    /// Also true where the key is absent, as in Kubernetes.
    NotIn {
        key: String,
        values: Vec<String>,
    },
    Exists {
        key: String,
    },
    Absent {
        key: String,
    },
}

/// All requirements must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    pub requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("label selector: {what} at {at:?}; write it as kubectl does: env=prod,tier!=cache,region in (eu,us),!legacy")]
pub struct InvalidSelector {
    what: &'static str,
    at: String,
}

/// More than this is no selector that a person or a controller writes.
const MAX_REQUIREMENTS: usize = 16;
const MAX_VALUES: usize = 64;

impl Selector {
    pub fn parse(text: &str) -> Result<Selector, InvalidSelector> {
        let mut requirements = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (term, after) = split_term(rest);
            requirements.push(parse_term(term.trim())?);
            if requirements.len() > MAX_REQUIREMENTS {
                return Err(invalid("more than 16 requirements", term));
            }
            rest = match after {
                Some(after) if after.trim().is_empty() => return Err(invalid("an empty requirement", rest)),
                Some(after) => after.trim(),
                None => "",
            };
        }
        Ok(Selector { requirements })
    }

    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements.iter().all(|requirement| match requirement {
            Requirement::In { key, values } => labels.get(key).is_some_and(|value| values.contains(value)),
            Requirement::NotIn { key, values } => labels.get(key).is_none_or(|value| !values.contains(value)),
            Requirement::Exists { key } => labels.contains_key(key),
            Requirement::Absent { key } => !labels.contains_key(key),
        })
    }
}

fn invalid(what: &'static str, at: &str) -> InvalidSelector {
    InvalidSelector { what, at: at.chars().take(60).collect() }
}

/// Commas inside parentheses belong to the term.
fn split_term(text: &str) -> (&str, Option<&str>) {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return (&text[..at], Some(&text[at + 1..])),
            _ => {}
        }
    }
    (text, None)
}

fn parse_term(term: &str) -> Result<Requirement, InvalidSelector> {
    if let Some(key) = term.strip_prefix('!') {
        return Ok(Requirement::Absent { key: parse_key(key)? });
    }
    if let Some((head, list)) = term.split_once('(') {
        let values = parse_values(list.strip_suffix(')').ok_or_else(|| invalid("a missing ')'", term))?)?;
        let mut words = head.split_whitespace();
        return match (words.next(), words.next(), words.next()) {
            (Some(key), Some("in"), None) => Ok(Requirement::In { key: parse_key(key)?, values }),
            (Some(key), Some("notin"), None) => Ok(Requirement::NotIn { key: parse_key(key)?, values }),
            _ => Err(invalid("neither 'KEY in (…)' nor 'KEY notin (…)'", term)),
        };
    }
    if let Some((key, value)) = term.split_once("!=") {
        return Ok(Requirement::NotIn { key: parse_key(key)?, values: vec![parse_value(value)?] });
    }
    if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(Requirement::In { key: parse_key(key)?, values: vec![parse_value(value)?] });
    }
    Ok(Requirement::Exists { key: parse_key(term)? })
}

fn parse_key(key: &str) -> Result<String, InvalidSelector> {
    let key = key.trim();
    if is_label_key(key) { Ok(key.into()) } else { Err(invalid("an illegal label key", key)) }
}

fn parse_value(value: &str) -> Result<String, InvalidSelector> {
    let value = value.trim();
    if is_label_value(value) { Ok(value.into()) } else { Err(invalid("an illegal label value", value)) }
}

fn parse_values(list: &str) -> Result<Vec<String>, InvalidSelector> {
    let values = list.split(',').map(parse_value).collect::<Result<Vec<_>, _>>()?;
    if values.len() > MAX_VALUES { Err(invalid("more than 64 values", list)) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        Selector::parse(selector).expect("legal").matches(&labels)
    }

    #[test]
    fn a_selector_means_what_it_means_to_kubectl() {
        let labels = [("env", "prod"), ("example.com/tier", "web")];
        for yes in [
            "",
            "env",
            "env=prod",
            "env==prod",
            "env in (prod, dev)",
            "!gone",
            "gone!=x",
            "gone notin (a,b)",
            "env=prod,example.com/tier in (web)",
            " env = prod , !gone ",
        ] {
            assert!(matches(yes, &labels), "{yes}");
        }
        for no in ["env=dev", "!env", "gone", "env!=prod", "env notin (prod)", "env in (a,b)", "env,gone"] {
            assert!(!matches(no, &labels), "{no}");
        }
    }

    #[test]
    fn a_selector_that_kubectl_would_refuse_is_refused() {
        for bad in
            ["env=prod,", ",", "env in prod", "env in (a", "a b", "env=pro d", "-x", "env in", "=v", "é=1", "a/b/c"]
        {
            assert!(Selector::parse(bad).is_err(), "{bad}");
        }
    }
}
