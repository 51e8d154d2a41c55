//! The configuration, as its author writes it: strings may hold `${…}`, so most of it is typed only after rendering.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::held::Held;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub base_url: Option<Value>,
    /// Sent with every request.
    #[serde(default)]
    pub headers: Map<String, Value>,
    pub create: Request,
    /// As `create`, if it is not given.
    pub update: Option<Request>,
    pub read: Option<Request>,
    pub delete: Option<Request>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub method: Option<String>,
    /// Below `base_url`.
    pub path: Option<Value>,
    pub url: Option<Value>,
    #[serde(default)]
    pub headers: Map<String, Value>,
    #[serde(default)]
    pub query: Map<String, Value>,
    pub body: Option<Value>,
    /// The statuses that mean success; any 2xx, if none are given.
    #[serde(default)]
    pub expect: Vec<u16>,
    pub idempotency_header: Option<String>,
    #[serde(default)]
    pub outputs: Map<String, Value>,
    /// An expression over the response.
    pub id: Option<String>,
    pub poll: Option<Poll>,
    /// Of `read`: what is compared, by the name it is reported under.
    #[serde(default)]
    pub compare: BTreeMap<String, Comparison>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub expected: Value,
    pub found: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poll {
    pub path: Option<Value>,
    pub url: Option<Value>,
    #[serde(default)]
    pub headers: Map<String, Value>,
    #[serde(default = "Poll::every")]
    pub every_seconds: u64,
    pub until: String,
    pub fail_if: Option<String>,
    #[serde(default = "Poll::timeout")]
    pub timeout_seconds: i64,
    #[serde(default)]
    pub outputs: Map<String, Value>,
}

impl Poll {
    fn every() -> u64 {
        5
    }

    fn timeout() -> i64 {
        3600
    }

    pub fn request(&self) -> Request {
        let (path, url) = (self.path.clone(), self.url.clone());
        Request { method: Some("GET".to_owned()), path, url, headers: self.headers.clone(), ..Request::default() }
    }
}

/// The three requests that change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Create,
    Update,
    Delete,
}

impl Config {
    /// Reads it, and says what the method of each request is where its author did not.
    pub fn read(config: &Value) -> Result<Config, serde_json::Error> {
        let mut config: Config = serde_json::from_value(config.clone())?;
        let default = |request: &mut Request, method: &str| {
            request.method.get_or_insert_with(|| method.to_owned());
        };
        default(&mut config.create, "POST");
        config.update.iter_mut().for_each(|update| default(update, "POST"));
        config.read.iter_mut().for_each(|read| default(read, "GET"));
        config.delete.iter_mut().for_each(|delete| default(delete, "DELETE"));
        Ok(config)
    }

    /// The request that makes it so: `create` where nothing is held, `update` otherwise.
    pub fn making(&self, held: &Held) -> &Request {
        self.of(if held.exists { Verb::Update } else { Verb::Create })
    }

    pub fn of(&self, verb: Verb) -> &Request {
        match verb {
            Verb::Create => &self.create,
            Verb::Update => self.update.as_ref().unwrap_or(&self.create),
            Verb::Delete => self.delete.as_ref().unwrap_or(&self.create),
        }
    }
}
