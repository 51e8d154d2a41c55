//! How a cloud behaves, beyond what its schemas say: which change means a new object, what it fills in, what it refuses
//! and in which words, what depends on what, and how long it takes. Written by hand, one TOML file per provider beside
//! the schemas; texts in braces are templates (see `template`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::value::Values;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderConduct {
    pub provider: Manner,
    /// What the cloud says when something goes wrong, by the kind of fault.
    pub faults: BTreeMap<String, String>,
    pub resource: BTreeMap<String, Conduct>,
    pub data: BTreeMap<String, DataConduct>,
}

/// What holds for all of a provider.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Manner {
    /// Whose the session is, from the configuration and the environment.
    pub account: String,
    /// Tells accounts apart where the configuration names none: another credential is another account.
    pub credential: String,
    /// The account where there is neither. None: the provider refuses to go on.
    pub nobody: Option<String>,
    pub no_account: String,
    pub region: String,
    pub no_region: String,
    /// Where an object is, from its attributes.
    pub place: String,
    pub regions: Vec<String>,
    pub unknown_region: String,
    /// Of Kubernetes.
    pub versions: Vec<String>,
    /// How an error is presented.
    pub error: String,
    pub exists: String,
    pub missing: String,
    pub in_use: String,
    /// What nobody made and everybody may refer to begins so.
    pub given: Vec<String>,
    /// What attributes of these names hold, whatever the type.
    pub values: Values,
}

/// How objects of one type behave.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conduct {
    pub noun: String,
    pub id: String,
    /// By what the object is known among its kind, where the id is not enough.
    pub key: Option<String>,
    /// A change of these means a new object.
    pub replaces: Vec<String>,
    /// An update of anything changes these.
    pub renewed: Vec<String>,
    /// What is filled in where the user says nothing.
    pub defaults: Values,
    /// What the cloud fills in.
    pub values: Values,
    /// Blocks that the cloud fills in where the user writes none.
    pub blocks: Values,
    /// No two objects have all of these in common.
    pub unique: Vec<String>,
    /// Attributes that name another object, which must exist: `"aws_iam_role.arn"`, `"google_compute_network.id|name"`; by
    /// its id, if no attribute is told.
    pub needs: BTreeMap<String, String>,
    /// The same; and the other cannot be deleted meanwhile.
    pub holds: BTreeMap<String, String>,
    pub exists: Option<String>,
    pub missing: Option<String>,
    pub in_use: Option<String>,
    pub rules: Vec<Rule>,
    /// The object is a Kubernetes cluster, which answers there.
    pub host: Option<String>,
    /// As real clouds take, in seconds.
    pub takes: Takes,
}

/// What an attribute may be; what is not known yet breaks no rule.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    pub attribute: String,
    /// One of these; `@regions` and `@versions` stand for the provider's.
    pub one_of: Vec<String>,
    /// Also `1.33.2` where `1.33` is listed.
    pub patch: bool,
    /// Between so many letters and so many.
    pub length: Option<(usize, usize)>,
    /// Of these letters alone: `a-z0-9-`.
    pub letters: Option<String>,
    pub first: Option<String>,
    pub last: Option<String>,
    /// A block of addresses whose prefix has a length between these.
    pub cidr: Option<(u8, u8)>,
    /// What the cloud says: `{value}` is what was given.
    pub says: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Takes {
    pub create: u64,
    pub update: u64,
    pub destroy: u64,
}

/// How a data source answers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataConduct {
    /// The resource type whose object it shows: the one that has what the configuration asks for.
    pub of: Option<String>,
    /// By what attribute of the resource it is found, where the data source calls it otherwise.
    pub by: BTreeMap<String, String>,
    pub missing: Option<String>,
    pub values: Values,
}

impl Conduct {
    pub fn noun(&self, r#type: &str) -> String {
        if self.noun.is_empty() { r#type.replace('_', " ") } else { self.noun.clone() }
    }
}

/// `aws_iam_role.arn`, `google_compute_network.id|self_link`: a type, and the attributes by which one may be named.
pub fn reference(text: &str) -> (&str, Vec<&str>) {
    let (r#type, attributes) = text.split_once('.').unwrap_or((text, "id"));
    (r#type, attributes.split('|').collect())
}
