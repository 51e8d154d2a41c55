//! Creating, changing and deleting resources.

use std::sync::Arc;

use model::{
    Desired, DriftPolicy, Labels, Resource, ResourceId, check_annotations, check_labels, check_name, check_plugin_name,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Error, NewResource, Refusal, StoredResource};
use utoipa::ToSchema;

use super::Terms;
use super::once::Written;
use crate::app::App;
use crate::body::misshapen;
use crate::problem::Problem;

/// How often a write is prepared anew because what it was based on changed meanwhile.
const ROUNDS: usize = 128;
const MAX_PLUGIN_CONFIG: usize = 256 * 1024;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewResourceBody {
    #[schema(example = "production-pg", pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
    pub name: String,
    #[schema(example = "DatabaseCluster")]
    pub resource_type_name: String,
    #[schema(example = "v1")]
    pub resource_type_version: String,
    #[schema(example = "github_actions", pattern = "^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]
    pub action_plugin: String,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub plugin_config: Map<String, Value>,
    #[schema(value_type = Object)]
    pub spec: Map<String, Value>,
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: Labels,
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub annotations: Labels,
    /// What to do when it is no longer as it was made.
    #[serde(default = "corrected")]
    #[schema(value_type = Option<DriftPolicy>)]
    pub drift_policy: DriftPolicy,
}

fn corrected() -> DriftPolicy {
    DriftPolicy::Correct
}

/// A PUT: the whole spec; what is absent besides stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceUpdate {
    #[schema(value_type = Object)]
    pub spec: Map<String, Value>,
    #[schema(example = "v2")]
    pub resource_type_version: Option<String>,
    #[schema(pattern = "^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]
    pub action_plugin: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub plugin_config: Option<Map<String, Value>>,
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub labels: Option<Labels>,
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub annotations: Option<Labels>,
    pub drift_policy: Option<DriftPolicy>,
}

/// A change of the desired state.
#[derive(Debug, Clone)]
pub enum Edit {
    Put(ResourceUpdate),
    /// A JSON merge patch (RFC 7396) over the fields that a PUT may set.
    Patch(Map<String, Value>),
}

impl Edit {
    /// What the owner wants now, given what was wanted before.
    fn next(&self, current: &Resource) -> Result<Desired, Problem> {
        let update = match self {
            Edit::Put(update) => update.clone(),
            Edit::Patch(patch) => merge(current, patch)?,
        };
        let current = current.desired();
        Ok(Desired {
            resource_type_version: update.resource_type_version.unwrap_or(current.resource_type_version),
            action_plugin: update.action_plugin.unwrap_or(current.action_plugin),
            plugin_config: update.plugin_config.map_or(current.plugin_config, Value::Object),
            spec: Value::Object(update.spec),
            labels: update.labels.unwrap_or(current.labels),
            annotations: update.annotations.unwrap_or(current.annotations),
            drift_policy: update.drift_policy.unwrap_or(current.drift_policy),
        })
    }

    /// Whether what was prepared for `seen` still holds for `held`. A PUT brings its own spec, which depends only on the
    /// type's version; a patch depends on all that was there.
    fn still_holds(&self, seen: &StoredResource, held: &StoredResource) -> bool {
        match self {
            Edit::Put(_) => seen.body.resource_type_version == held.body.resource_type_version,
            Edit::Patch(_) => seen.body.resource_version == held.body.resource_version,
        }
    }
}

fn merge(current: &Resource, patch: &Map<String, Value>) -> Result<ResourceUpdate, Problem> {
    let mut fields = serde_json::json!({
        "spec": current.spec,
        "resource_type_version": current.resource_type_version,
        "action_plugin": current.action_plugin,
        "plugin_config": current.plugin_config,
        "labels": current.labels,
        "annotations": current.annotations,
        "drift_policy": current.drift_policy,
    });
    json_patch::merge(&mut fields, &Value::Object(patch.clone()));
    // Removing the labels means none, not the old ones.
    if let Value::Object(fields) = &mut fields {
        for emptied in ["spec", "plugin_config", "labels", "annotations"] {
            fields.entry(emptied).or_insert_with(|| Value::Object(Map::new()));
        }
    }
    for needed in ["action_plugin", "resource_type_version", "drift_policy"] {
        if fields.get(needed).is_none() {
            return Err(Problem::unprocessable(format!("{needed}: it can be changed, not removed")));
        }
    }
    serde_path_to_error::deserialize(fields)
        .map_err(|error| misshapen(&error.inner().to_string(), &error.path().to_string()))
}

fn check(desired: &Desired) -> Result<(), Problem> {
    check_plugin_name("action_plugin", &desired.action_plugin)?;
    check_labels(&desired.labels)?;
    check_annotations(&desired.annotations)?;
    check_plugin_config(&desired.plugin_config)
}

pub(super) fn check_plugin_config(config: &Value) -> Result<(), Problem> {
    let bytes = config.to_string().len();
    if bytes > MAX_PLUGIN_CONFIG {
        return Err(Problem::bad_request(format!(
            "plugin_config: expected at most {MAX_PLUGIN_CONFIG} bytes, found {bytes}"
        )));
    }
    Ok(())
}

impl App {
    pub async fn create_resource(&self, terms: &Terms, body: NewResourceBody) -> Result<Written<Resource>, Problem> {
        check_name("name", &body.name)?;
        let desired = Desired {
            resource_type_version: body.resource_type_version,
            action_plugin: body.action_plugin,
            plugin_config: Value::Object(body.plugin_config),
            spec: Value::Object(body.spec),
            labels: body.labels,
            annotations: body.annotations,
            drift_policy: body.drift_policy,
        };
        check(&desired)?;
        model::check_type_name("resource_type_name", &body.resource_type_name)?;
        model::check_version("resource_type_version", &desired.resource_type_version)?;
        for _ in 0..ROUNDS {
            let kind =
                self.catalogue.entry(&terms.scope, &body.resource_type_name, &desired.resource_type_version).await?;
            let spec = self.catalogue.admit(&kind.schema, desired.spec.clone()).await?;
            let new = NewResource {
                name: body.name.clone(),
                resource_type_name: body.resource_type_name.clone(),
                desired: Desired { spec, ..desired.clone() },
                type_id: kind.stored.body.id,
                type_seen_at: kind.stored.body.resource_version,
            };
            match terms.create_resource(&self.store, new).await {
                Err(Error::Refused(Refusal::TypeChanged { .. })) => self.catalogue.forget(),
                // What was only tried has no id.
                Ok(Written::Done(created)) if terms.dry_run => {
                    return Ok(Written::Done(Resource { id: ResourceId(0), ..created }));
                }
                written => return Ok(written?),
            }
        }
        Err(too_busy())
    }

    pub async fn edit_resource(&self, terms: &Terms, id: ResourceId, edit: Edit) -> Result<Resource, Problem> {
        let edit = Arc::new(edit);
        for _ in 0..ROUNDS {
            let seen = self.store.resource(&terms.scope, id).await?;
            terms.if_match.check(seen.body.resource_version)?;
            let next = edit.next(&seen.body)?;
            check(&next)?;
            model::check_version("resource_type_version", &next.resource_type_version)?;
            let name = &seen.body.resource_type_name;
            let kind = self.catalogue.entry(&terms.scope, name, &next.resource_type_version).await?;
            let spec = self.catalogue.admit(&kind.schema, next.spec).await?;
            let (type_id, type_seen_at) = (kind.stored.body.id, kind.stored.body.resource_version);
            let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
            let (edit, seen) = (edit.clone(), Arc::new(seen));
            let written = terms
                .write(&self.store, id.0, 200, move |tx| {
                    let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
                    let (edit, seen, spec) = (edit.clone(), seen.clone(), spec.clone());
                    Box::pin(async move {
                        let held = tx.hold_resource(&scope, id).await?;
                        if_match.check(held.body.resource_version)?;
                        let next = edit.next(&held.body).ok().filter(|_| edit.still_holds(&seen, &held));
                        let next = next.ok_or(Refusal::TypeChanged { type_id })?;
                        let desired = Desired { spec, ..next };
                        tx.update_resource(&scope, &actor, &held, &desired, type_id, type_seen_at).await
                    })
                })
                .await;
            match written {
                Err(Error::Refused(Refusal::TypeChanged { .. })) => self.catalogue.forget(),
                Err(error) => return Err(error.into()),
                Ok(Written::Done(updated)) => return Ok(updated),
                Ok(Written::Replayed(_)) => return Err(too_busy()),
            }
        }
        Err(too_busy())
    }

    pub async fn delete_resource(&self, terms: &Terms, id: ResourceId) -> Result<Written<Resource>, Problem> {
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, id.0, 202, move |tx| {
            let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                if_match.check(held.body.resource_version)?;
                tx.request_delete(&scope, &actor, &held).await
            })
        });
        Ok(written.await?)
    }

    pub async fn request_reconcile(&self, terms: &Terms, id: ResourceId) -> Result<Written<Resource>, Problem> {
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, id.0, 202, move |tx| {
            let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                if_match.check(held.body.resource_version)?;
                tx.request_reconcile(&scope, &actor, &held).await
            })
        });
        Ok(written.await?)
    }
}

fn too_busy() -> Problem {
    Problem::conflict("the resource or its type keeps changing while this request is checked; try again")
}
