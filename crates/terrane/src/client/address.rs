//! How things are named on the command line: `TYPE/NAME`, the type in any case.

use std::cell::RefCell;

use serde_json::Value;

use super::api_client::{ApiClient, encoded};
use super::failure::Failure;
use model::Resource;
use serde::Deserialize;

pub const RESOURCES: &str = "/api/v1/resources";
pub const TYPES: &str = "/api/v1/resource-types";

/// A resource as the user names it.
#[derive(Debug, Clone)]
pub struct Address {
    pub kind: String,
    pub name: String,
}

impl Address {
    pub fn parse(text: &str) -> Result<Address, Failure> {
        match text.split_once('/') {
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() && !name.contains('/') => {
                Ok(Address { kind: kind.into(), name: name.into() })
            }
            _ => Err(Failure::usage(format!("{text:?} is not TYPE/NAME, such as databasecluster/production-pg"))),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind.to_ascii_lowercase(), self.name)
    }
}

/// For clap.
pub fn parse_address(text: &str) -> Result<Address, String> {
    Address::parse(text).map_err(|failure| failure.message)
}

/// The arguments of `get` and `delete`: `TYPE`, `TYPE/NAME…` or `TYPE NAME…`.
#[derive(Debug)]
pub enum Target {
    All,
    Type(String),
    Named(Vec<Address>),
}

impl Target {
    pub fn parse(args: &[String]) -> Result<Target, Failure> {
        let [first, rest @ ..] = args else { return Ok(Target::All) };
        if first.contains('/') {
            return Ok(Target::Named(args.iter().map(|arg| Address::parse(arg)).collect::<Result<_, _>>()?));
        }
        if rest.is_empty() {
            return Ok(Target::Type(first.clone()));
        }
        let name = |name: &String| Address::parse(&format!("{first}/{name}"));
        Ok(Target::Named(rest.iter().map(name).collect::<Result<_, _>>()?))
    }
}

/// A resource as shown in messages.
pub fn label(resource: &Resource) -> String {
    format!("{}/{}", resource.resource_type_name.to_ascii_lowercase(), resource.name)
}

/// Read an object of the API; a server that is much newer than this program may show what it does not know.
pub fn read<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, Failure> {
    T::deserialize(value).map_err(|error| {
        Failure::failed(format!("the server's answer is not understood: {error}"))
            .next_step("Is this program older than the server? `terrane version` and the server's /health tell.")
    })
}

/// Finds what names mean, asking the server once for each type.
pub struct Finder<'a> {
    client: &'a ApiClient,
    known: RefCell<Vec<(String, String)>>,
}

impl<'a> Finder<'a> {
    pub fn new(client: &'a ApiClient) -> Self {
        Finder { client, known: RefCell::default() }
    }

    /// The type's proper name.
    pub async fn type_name(&self, asked: &str) -> Result<String, Failure> {
        if let Some((_, name)) = self.known.borrow().iter().find(|(known, _)| known == asked) {
            return Ok(name.clone());
        }
        let exact = self.client.list(TYPES, &[("name", asked.into())], Some(1)).await?;
        let name = if exact.is_empty() { self.look_for(asked).await? } else { asked.to_string() };
        self.known.borrow_mut().push((asked.into(), name.clone()));
        Ok(name)
    }

    async fn look_for(&self, asked: &str) -> Result<String, Failure> {
        let types = self.client.list(TYPES, &[], None).await?;
        let mut names: Vec<&str> = types.iter().filter_map(|kind| kind.get("name")?.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let singular = asked.strip_suffix(['s', 'S']).unwrap_or(asked);
        let like =
            |wanted: &str| names.iter().filter(|name| name.eq_ignore_ascii_case(wanted)).copied().collect::<Vec<_>>();
        let found = Some(like(asked)).filter(|found| !found.is_empty()).unwrap_or_else(|| like(singular));
        match found.as_slice() {
            [name] => Ok((*name).to_string()),
            [] if names.is_empty() => {
                Err(Failure::not_found(format!("there is no resource type {asked}; there are none at all yet"))
                    .next_step("Declare one with `terrane apply -f FILE`; examples/database.yaml is a beginning."))
            }
            [] => {
                Err(Failure::not_found(format!("there is no resource type {asked}; there are: {}", names.join(", "))))
            }
            several => {
                Err(Failure::usage(format!("{asked} could be any of {}; write it as there", several.join(", "))))
            }
        }
    }

    pub async fn resource(&self, address: &Address) -> Result<Value, Failure> {
        let kind = self.type_name(&address.kind).await?;
        self.resource_of(&kind, &address.name)
            .await?
            .ok_or_else(|| Failure::not_found(format!("there is no {address}")))
    }

    /// Of a type whose proper name is known.
    pub async fn resource_of(&self, kind: &str, name: &str) -> Result<Option<Value>, Failure> {
        let query = [("resource_type_name", kind.to_string()), ("name", name.to_string())];
        Ok(self.client.list(RESOURCES, &query, Some(1)).await?.into_iter().next())
    }

    /// One version of a type, by `NAME/VERSION`.
    pub async fn resource_type(&self, asked: &str) -> Result<Value, Failure> {
        let (name, version) = asked
            .split_once('/')
            .ok_or_else(|| Failure::usage(format!("{asked:?} is not NAME/VERSION, such as DatabaseCluster/v1")))?;
        let name = self.type_name(name).await?;
        self.client.get(&format!("{TYPES}/{}/{}", encoded(&name), encoded(version)), &[]).await
    }
}

/// An object's own address in the API.
pub fn path_of(collection: &str, object: &Value) -> Result<String, Failure> {
    let id = object.get("id").and_then(Value::as_i64);
    let id = id.ok_or_else(|| Failure::failed("the server's answer is not understood: it has no id"))?;
    Ok(format!("{collection}/{id}"))
}
