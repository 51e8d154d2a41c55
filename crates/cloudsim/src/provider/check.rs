//! What the cloud refuses, and in which words: faults that somebody wished for, values it does not allow, names that are
//! taken, objects that are not there or are still in use.

use ipnet::IpNet;
use serde_json::Value as Json;

use crate::{
    catalogue,
    conduct::{Conduct, Manner, Rule, reference},
    protocol::Diagnostic,
    random,
    template::{self, Scope},
    value,
    world::{Action, Address, Fault, LockedWorld, Object, Strike, WorldError},
};

use super::{ResourceType, Session, diagnostic};

/// Something that the cloud is asked to do.
pub struct Request<'a> {
    pub provider: &'a catalogue::Provider,
    pub resource: ResourceType<'a>,
    pub action: Action,
    /// As they are to be; as they were, where the object is to go.
    pub values: &'a Json,
    pub session: &'a Session,
    pub world: &'a LockedWorld<'a>,
}

impl Request<'_> {
    pub fn name(&self) -> &str {
        self.provider.schema.name()
    }

    pub fn region(&self) -> String {
        region(&self.provider.conduct.provider, self.values, self.session)
    }

    /// The objects of a type that the same account has, without those that are on their way out.
    pub fn objects(&self, r#type: &str) -> Result<Vec<Object>, WorldError> {
        Ok(self.all(r#type)?.into_iter().filter(|object| object.gone_at.is_none()).collect())
    }

    /// Also those: until they are gone, they keep their names and what they hold.
    fn all(&self, r#type: &str) -> Result<Vec<Object>, WorldError> {
        self.world.of_type(self.name(), &self.session.account, r#type)
    }

    /// Whether somebody wished this request to fail. A fault that is partial is handed back: the object is made first.
    pub fn strike(&self) -> Result<Option<Diagnostic>, Box<Diagnostic>> {
        let strike = Strike {
            provider: self.name(),
            account: &self.session.account,
            region: &self.region(),
            r#type: self.resource.name,
            action: self.action,
        };
        let fault = self.world.strike(&strike).map_err(|error| Box::new(diagnostic(error)))?;
        match fault {
            None => Ok(None),
            Some(fault) if fault.partial && self.action == Action::Create => Ok(Some(self.fault(&fault))),
            Some(fault) => Err(Box::new(self.fault(&fault))),
        }
    }

    fn fault(&self, fault: &Fault) -> Diagnostic {
        let own = self.provider.conduct.faults.get(&fault.kind);
        let text = fault.message.as_ref().or(own).map_or(fault.kind.as_str(), String::as_str);
        self.error(text)
    }

    /// An error as the provider presents it.
    pub fn error(&self, error: &str) -> Diagnostic {
        let error = self.words(error, &[]);
        Diagnostic::error(self.words(&self.provider.conduct.provider.error, &[("error", &error)]))
    }

    /// Why the object cannot become what it is to be.
    pub fn refused(&self) -> Result<(), Box<Diagnostic>> {
        let manner = &self.provider.conduct.provider;
        if let Some(broken) = rules(manner, self.resource.conduct, self.values).into_iter().next() {
            return Err(Box::new(self.error(&broken.summary)));
        }
        let refused = self.missing().and_then(|missing| if missing.is_some() { Ok(missing) } else { self.taken() });
        self.refusal(refused)
    }

    /// Why the object cannot go: who still needs it.
    pub fn held(&self) -> Result<(), Box<Diagnostic>> {
        self.refusal(self.holder())
    }

    fn refusal(&self, refused: Result<Option<String>, WorldError>) -> Result<(), Box<Diagnostic>> {
        match refused {
            Ok(None) => Ok(()),
            Ok(Some(text)) => Err(Box::new(self.error(&text))),
            Err(error) => Err(Box::new(diagnostic(error))),
        }
    }

    /// Something it refers to, and that is not there.
    fn missing(&self) -> Result<Option<String>, WorldError> {
        let conduct = self.resource.conduct;
        let given = |text: &str| self.provider.conduct.provider.given.iter().any(|prefix| text.starts_with(prefix));
        for (path, target) in conduct.needs.iter().chain(&conduct.holds) {
            let (r#type, attributes) = reference(target);
            for named in value::at(self.values, path).into_iter().filter_map(value::plain) {
                if named.is_empty() || given(&named) || self.exists_so(r#type, &attributes, &named)? {
                    continue;
                }
                let other = self.provider.conduct.resource.get(r#type);
                let noun = other.map_or_else(|| r#type.replace('_', " "), |other| other.noun(r#type));
                let says = other.and_then(|other| other.missing.as_deref());
                let says = says.unwrap_or(&self.provider.conduct.provider.missing);
                return Ok(Some(self.words(says, &[("value", &named), ("missing", &noun)])));
            }
        }
        Ok(None)
    }

    /// Whether there is an object of the type with this name in one of the attributes.
    fn exists_so(&self, r#type: &str, attributes: &[&str], named: &str) -> Result<bool, WorldError> {
        let address = Address {
            provider: self.name().to_owned(),
            account: self.session.account.clone(),
            r#type: r#type.to_owned(),
            key: named.to_owned(),
        };
        // Most are kept under their ids, so that not all of their kind have to be looked at.
        let kept = self.world.find(&address)?.filter(|object| object.gone_at.is_none());
        if kept.is_some_and(|object| is_called(&object.attributes, attributes, named)) {
            return Ok(true);
        }
        Ok(self.objects(r#type)?.iter().any(|object| is_called(&object.attributes, attributes, named)))
    }

    /// What must be unique, and is not.
    fn taken(&self) -> Result<Option<String>, WorldError> {
        let unique = &self.resource.conduct.unique;
        if unique.is_empty() || self.action != Action::Create {
            return Ok(None);
        }
        let same = |object: &Object| {
            unique.iter().all(|path| value::at(&object.attributes, path) == value::at(self.values, path))
        };
        Ok(self.all(self.resource.name)?.iter().any(same).then(|| self.exists()))
    }

    pub fn exists(&self) -> String {
        let says = self.resource.conduct.exists.as_deref().unwrap_or(&self.provider.conduct.provider.exists);
        self.words(says, &[])
    }

    fn holder(&self) -> Result<Option<String>, WorldError> {
        for (r#type, conduct) in &self.provider.conduct.resource {
            for (path, target) in &conduct.holds {
                let (target, attributes) = reference(target);
                if target != self.resource.name {
                    continue;
                }
                let mut holders = self.all(r#type)?.into_iter().filter(|object| {
                    let mut named = value::at(&object.attributes, path).into_iter().filter_map(value::plain);
                    named.any(|text| is_called(self.values, &attributes, &text))
                });
                if let Some(holder) = holders.next() {
                    let says = self.resource.conduct.in_use.as_deref();
                    let says = says.unwrap_or(&self.provider.conduct.provider.in_use);
                    return Ok(Some(self.words(says, &[("holder", &holder.id)])));
                }
            }
        }
        Ok(None)
    }

    /// Fills the holes of a text about this request: by these words, and else by the object's attributes.
    fn words(&self, text: &str, further: &[(&str, &str)]) -> String {
        let (doing, verb, wording) = match self.action {
            Action::Create => ("creating", "Create", "create"),
            Action::Update => ("updating", "Update", "update"),
            Action::Destroy => ("deleting", "Delete", "delete"),
            Action::Read => ("reading", "Describe", "read"),
        };
        let noun = self.resource.conduct.noun(self.resource.name);
        let (service, thing) = noun.split_once(' ').unwrap_or(("", &noun));
        let call = format!("{verb}{}", thing.replace(' ', ""));
        let id = value::text(self.values, "id");
        let names = ["name", "metadata.name", "label", "bucket"].map(|path| value::text(self.values, path));
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or(id);
        let region = self.region();
        let uuid = random::uuid();
        let mut words = vec![
            ("doing", doing),
            ("do", wording),
            ("noun", noun.as_str()),
            ("service", service),
            ("call", &call),
            ("id", id),
            ("name", name),
            ("type", self.resource.name),
            ("account", &self.session.account),
            ("region", &region),
            ("uuid", &uuid),
        ];
        words.extend(further);
        let scope = Scope { values: self.values, session: self.session };
        template::replace(text, |hole| match words.iter().find(|(name, _)| *name == hole) {
            Some((_, text)) => (*text).to_owned(),
            None => template::text(&format!("{{{hole}}}"), &scope),
        })
    }
}

/// Whether one of the attributes by which an object may be named is this.
fn is_called(object: &Json, attributes: &[&str], text: &str) -> bool {
    attributes.iter().any(|attribute| value::text(object, attribute) == text)
}

/// Where an object is.
pub fn region(manner: &Manner, values: &Json, session: &Session) -> String {
    let placed = template::text(&manner.place, &Scope { values, session });
    if placed.is_empty() { session.region.clone() } else { placed }
}

/// The rules that a configuration breaks.
pub fn rules(manner: &Manner, conduct: &Conduct, values: &Json) -> Vec<Diagnostic> {
    let broken = conduct.rules.iter().filter_map(|rule| {
        let given = value::at(values, &rule.attribute).into_iter().filter_map(Json::as_str);
        let wrong = given.filter(|text| !text.is_empty()).find(|text| !allows(manner, rule, text))?;
        let top = rule.attribute.split('.').next().unwrap_or_default();
        let allowed = listed(manner, rule).join(", ");
        Some(Diagnostic::error(template::with(&rule.says, &[("value", wrong), ("allowed", &allowed)])).at(top))
    });
    broken.collect()
}

fn listed<'a>(manner: &'a Manner, rule: &'a Rule) -> Vec<&'a str> {
    let lists = rule.one_of.iter().flat_map(|choice| match choice.as_str() {
        "@regions" => manner.regions.iter().map(String::as_str).collect(),
        "@versions" => manner.versions.iter().map(String::as_str).collect(),
        choice => vec![choice],
    });
    lists.collect()
}

fn allows(manner: &Manner, rule: &Rule, text: &str) -> bool {
    let choices = listed(manner, rule);
    let chosen = |choice: &&str| {
        *choice == text || (rule.patch && text.strip_prefix(choice).is_some_and(|rest| rest.starts_with(['.', '-'])))
    };
    let of = |letters: &Option<String>, letter: Option<char>| {
        letters.as_deref().is_none_or(|letters| letter.is_some_and(|letter| among(letters, letter)))
    };
    let network = || text.parse::<IpNet>().ok().filter(|network| network.network() == network.addr());
    (choices.is_empty() || choices.iter().any(chosen))
        && rule.length.is_none_or(|(min, max)| (min..=max).contains(&text.chars().count()))
        && text.chars().all(|letter| of(&rule.letters, Some(letter)))
        && of(&rule.first, text.chars().next())
        && of(&rule.last, text.chars().last())
        && rule.cidr.is_none_or(|(min, max)| network().is_some_and(|n| (min..=max).contains(&n.prefix_len())))
}

/// Whether a letter is one of `a-z0-9-`.
fn among(letters: &str, letter: char) -> bool {
    let letters: Vec<char> = letters.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        if at + 2 < letters.len() && letters[at + 1] == '-' {
            if (letters[at]..=letters[at + 2]).contains(&letter) {
                return true;
            }
            at += 3;
        } else if letters[at] == letter {
            return true;
        } else {
            at += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_as_ranges() {
        assert!("az09-".chars().all(|letter| among("a-z0-9-", letter)));
        assert!(!"AZ_ ".chars().any(|letter| among("a-z0-9-", letter)));
    }

    #[test]
    fn a_rule_about_networks_knows_what_a_network_is() {
        let rule = Rule { cidr: Some((16, 28)), ..Rule::default() };
        let manner = Manner::default();
        assert!(allows(&manner, &rule, "10.0.0.0/16"));
        for wrong in ["10.0.0.0/8", "10.0.0.0/29", "10.0.0.1/16", "10.0.0.0", "300.0.0.0/16"] {
            assert!(!allows(&manner, &rule, wrong), "{wrong}");
        }
    }
}
