//! Creating, changing and deleting resource types.

use std::sync::Arc;

use model::schema::Schema;
use model::{ResourceType, TypeId, check_type_name, check_version};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{NewType, Refusal};
use utoipa::ToSchema;

use super::Terms;
use super::catalogue::broken;
use super::once::Written;
use super::resources::check_plugin_config;
use crate::app::App;
use crate::params::check_text;
use crate::problem::Problem;

const MAX_DESCRIPTION: usize = 4096;
/// How many resources are checked against a new schema at a time.
const CHECKED_AT_ONCE: usize = 500;
/// How many offenders are named.
const NAMED: usize = 20;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTypeBody {
    #[schema(example = "DatabaseCluster", pattern = "^[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$")]
    pub name: String,
    #[schema(example = "v1", pattern = "^v[0-9]([a-z0-9.-]{0,60}[a-z0-9])?$")]
    pub version: String,
    #[serde(default)]
    #[schema(max_length = 4096)]
    pub description: String,
    /// An OpenAPI v3 schema of an object.
    #[schema(value_type = Object)]
    pub schema: Value,
    /// Plugin configuration for all resources of the type; a resource's own is laid over it.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub plugin_config: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeUpdate {
    /// Left as it is when absent.
    #[schema(max_length = 4096)]
    pub description: Option<String>,
    /// The whole new schema.
    #[schema(value_type = Object)]
    pub schema: Value,
    /// The whole new plugin configuration; left as it is when absent.
    #[schema(value_type = Option<Object>)]
    pub plugin_config: Option<Map<String, Value>>,
}

impl TypeUpdate {
    /// What the type is to be, given what it is.
    fn next(&self, held: &ResourceType) -> ResourceType {
        ResourceType {
            description: self.description.clone().unwrap_or_else(|| held.description.clone()),
            schema: self.schema.clone(),
            plugin_config: self.plugin_config.clone().map_or_else(|| held.plugin_config.clone(), Value::Object),
            ..held.clone()
        }
    }
}

impl App {
    pub async fn create_type(&self, terms: &Terms, body: NewTypeBody) -> Result<Written<ResourceType>, Problem> {
        check_type_name("name", &body.name)?;
        check_version("version", &body.version)?;
        check_text("description", &body.description, MAX_DESCRIPTION)?;
        let plugin_config = Value::Object(body.plugin_config);
        check_plugin_config(&plugin_config)?;
        self.catalogue.compile(body.schema.clone()).await?;
        let new = Arc::new(NewType {
            name: body.name,
            version: body.version,
            description: body.description,
            schema: body.schema,
            plugin_config,
        });
        let (scope, actor) = (terms.scope.clone(), terms.actor.clone());
        let written = terms
            .write(&self.store, 0, 201, move |tx| {
                let (scope, actor, new) = (scope.clone(), actor.clone(), new.clone());
                Box::pin(async move { tx.create_type(&scope, &actor, &new).await })
            })
            .await?;
        self.catalogue.forget();
        // What was only tried has no id.
        Ok(match written {
            Written::Done(created) if terms.dry_run => Written::Done(ResourceType { id: TypeId(0), ..created }),
            written => written,
        })
    }

    /// Change a type, unless a live resource would break. The many are checked before the transaction, only what
    /// changed since then within it.
    pub async fn update_type(&self, terms: &Terms, id: TypeId, body: TypeUpdate) -> Result<ResourceType, Problem> {
        if let Some(description) = &body.description {
            check_text("description", description, MAX_DESCRIPTION)?;
        }
        let seen = self.store.resource_type(&terms.scope, id).await?;
        if seen.tenant != terms.scope.id {
            return Err(Problem::forbidden("this type belongs to the fleet; only an operator may change it there"));
        }
        check_plugin_config(&body.next(&seen.body).plugin_config)?;
        let checked = if seen.body.schema == body.schema {
            None
        } else {
            let schema = self.catalogue.compile(body.schema.clone()).await?;
            Some((self.check_resources(&schema, id).await?, schema))
        };
        let body = Arc::new(body);
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms
            .write(&self.store, id.0, 200, move |tx| {
                let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
                let (body, checked) = (body.clone(), checked.clone());
                Box::pin(async move {
                    let held = tx.hold_type(&scope, id).await?;
                    if_match.check(held.resource_version)?;
                    let next = body.next(&held);
                    if next == held {
                        return Ok(held);
                    }
                    if let Some((up_to, schema)) = &checked {
                        let late = broken(schema, tx.specs_changed_after(id, *up_to).await?);
                        refuse_if_broken(late)?;
                    } else if held.schema != body.schema {
                        return Err(Refusal::TypeChanged { type_id: id }.into());
                    }
                    tx.update_type(&scope, &actor, &held, &next).await
                })
            })
            .await?;
        self.catalogue.forget();
        written.once()
    }

    pub async fn delete_type(&self, terms: &Terms, id: TypeId) -> Result<(), Problem> {
        let seen = self.store.resource_type(&terms.scope, id).await?;
        if seen.tenant != terms.scope.id {
            return Err(Problem::forbidden("this type belongs to the fleet; only an operator may delete it there"));
        }
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        terms
            .write(&self.store, id.0, 204, move |tx| {
                let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
                Box::pin(async move {
                    let held = tx.hold_type(&scope, id).await?;
                    if_match.check(held.resource_version)?;
                    tx.delete_type(&scope, &actor, &held).await
                })
            })
            .await?;
        self.catalogue.forget();
        Ok(())
    }

    /// Check all live resources of a type against a schema; the answer is up to where that holds.
    async fn check_resources(&self, schema: &Arc<Schema>, id: TypeId) -> Result<model::EventSeq, Problem> {
        let up_to = self.store.horizon().await?;
        let (mut after, mut offenders) = (0, Vec::new());
        loop {
            let specs = self.store.specs_of_type(id, after, up_to, CHECKED_AT_ONCE).await?;
            let Some((_, last, _)) = specs.last() else { break };
            after = *last;
            offenders.extend(self.catalogue.broken(schema, specs).await?);
            if offenders.len() >= NAMED {
                break;
            }
        }
        refuse_if_broken(offenders)?;
        Ok(up_to)
    }
}

fn refuse_if_broken(mut resources: Vec<String>) -> Result<(), Refusal> {
    if resources.is_empty() {
        return Ok(());
    }
    if resources.len() > NAMED {
        resources.truncate(NAMED);
        resources.push("and more".into());
    }
    Err(Refusal::Breaks { resources })
}
