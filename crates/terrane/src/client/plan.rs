//! Making the server's object match a document, or only finding out what that would do: `apply` and `diff` share it.

use std::collections::HashMap;

use api::intake::NewResourceBody;
use model::schema::{Schema, Violation};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::address::{Finder, RESOURCES, TYPES, path_of};
use super::api_client::{ApiClient, encoded};
use super::documents::{Document, Kind, owners_part};
use super::failure::{Code, Failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Created,
    Configured,
    Unchanged,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Created => "created",
            Outcome::Configured => "configured",
            Outcome::Unchanged => "unchanged",
        }
    }
}

/// What became of a document, or would.
pub struct Applied {
    pub outcome: Outcome,
    /// The owner's part of the object, before and after.
    pub before: Option<Map<String, Value>>,
    pub after: Map<String, Value>,
}

pub struct Planner<'a> {
    client: &'a ApiClient,
    finder: Finder<'a>,
    dry_run: bool,
    /// Schemas that a dry run has not really changed, for the resources that come after them.
    pending: HashMap<(String, String), Value>,
}

impl<'a> Planner<'a> {
    pub fn new(client: &'a ApiClient, dry_run: bool) -> Self {
        Planner { client, finder: Finder::new(client), dry_run, pending: HashMap::new() }
    }

    pub async fn apply(&mut self, document: &Document) -> Result<Applied, Failure> {
        let applied = match document.kind {
            Kind::ResourceType => self.apply_type(document).await,
            Kind::Resource => self.apply_resource(document).await,
        };
        applied.map_err(|failure| failure.about(format!("{} ({})", document.label(), document.origin)))
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        if self.dry_run { vec![("dry_run", "true".into())] } else { vec![] }
    }

    async fn apply_type(&mut self, document: &Document) -> Result<Applied, Failure> {
        let path = format!("{TYPES}/{}/{}", encoded(document.text("name")), encoded(document.text("version")));
        let found = optional(self.client.get(&path, &[]).await)?;
        let applied = match found {
            Some(found) => self.update(TYPES, found, document, &["name", "version"]).await?,
            None => match self.client.post(TYPES, &self.query(), Some(&Value::Object(document.body.clone()))).await {
                Err(failure) if failure.code == Code::Conflict => {
                    let found = self.client.get(&path, &[]).await?;
                    self.update(TYPES, found, document, &["name", "version"]).await?
                }
                created => Applied::created(created?),
            },
        };
        if self.dry_run && applied.outcome != Outcome::Unchanged {
            let key = (document.text("name").to_string(), document.text("version").to_string());
            self.pending.insert(key, applied.after.get("schema").cloned().unwrap_or_default());
        }
        Ok(applied)
    }

    async fn apply_resource(&mut self, document: &Document) -> Result<Applied, Failure> {
        let (kind, name) = (document.text("resource_type_name"), document.text("name"));
        let found = self.finder.resource_of(kind, name).await?;
        let version = document.text("resource_type_version").to_string();
        if let Some(schema) = self.pending.get(&(kind.to_string(), version)) {
            return admit_here(schema, found.as_ref(), document);
        }
        let fixed = ["name", "resource_type_name"];
        match found {
            Some(found) => self.update(RESOURCES, found, document, &fixed).await,
            None => match self.client.post(RESOURCES, &self.query(), Some(&Value::Object(document.body.clone()))).await
            {
                Err(failure) if failure.code == Code::Conflict => match self.finder.resource_of(kind, name).await? {
                    Some(found) => self.update(RESOURCES, found, document, &fixed).await,
                    None => Err(failure),
                },
                created => Ok(Applied::created(created?)),
            },
        }
    }

    /// PUT leaves what the document does not speak of as it is.
    async fn update(&self, path: &str, found: Value, document: &Document, fixed: &[&str]) -> Result<Applied, Failure> {
        let mut body = document.body.clone();
        body.retain(|name, _| !fixed.contains(&name.as_str()));
        let after = self.client.put(&path_of(path, &found)?, &self.query(), &Value::Object(body)).await?;
        // Not by their versions: a controller may have changed the status meanwhile.
        let (before, after) = (owners(&found), owners(&after));
        let outcome = if before == after { Outcome::Unchanged } else { Outcome::Configured };
        Ok(Applied { outcome, before: Some(before), after })
    }
}

impl Applied {
    fn created(object: Value) -> Applied {
        Applied { outcome: Outcome::Created, before: None, after: owners(&object) }
    }
}

fn owners(object: &Value) -> Map<String, Value> {
    object.as_object().map(owners_part).unwrap_or_default()
}

/// Nothing, rather than a failure, where there is nothing.
pub fn optional(outcome: Result<Value, Failure>) -> Result<Option<Value>, Failure> {
    match outcome {
        Err(failure) if failure.code == Code::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// The server cannot check a resource against a type that a dry run did not make, so it is done here, by the same code.
fn admit_here(schema: &Value, found: Option<&Value>, document: &Document) -> Result<Applied, Failure> {
    let before = found.map(owners);
    let mut wanted = before.clone().unwrap_or_default();
    wanted.extend(document.body.clone());
    let body =
        NewResourceBody::deserialize(Value::Object(wanted)).map_err(|error| Failure::invalid(error.to_string()))?;
    let schema = Schema::compile(schema).map_err(|violations| broken("the schema cannot be used", &violations))?;
    let spec = schema
        .admit(Value::Object(body.spec.clone()))
        .map_err(|violations| broken("the spec breaks its type's schema", &violations))?;
    let mut after = owners(&json!(body));
    after.insert("spec".into(), spec);
    let outcome = match &before {
        None => Outcome::Created,
        Some(before) if *before == after => Outcome::Unchanged,
        Some(_) => Outcome::Configured,
    };
    Ok(Applied { outcome, before, after })
}

fn broken(what: &str, violations: &[Violation]) -> Failure {
    Failure { details: violations.iter().map(ToString::to_string).collect(), ..Failure::invalid(what) }
}
