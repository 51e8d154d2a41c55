//! How a resource leaves: who keeps it from being deleted, and how it is let go of without being destroyed.

use std::sync::Arc;

use model::{Resource, ResourceId, check_finalizers};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Terms;
use crate::app::App;
use crate::problem::Problem;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalizersBody {
    /// All of them, in the form of label keys; none lets the resource go.
    #[schema(max_items = 32, example = json!(["backup.example/veto"]))]
    pub finalizers: Vec<String>,
}

/// A resource that is no longer managed, and what may be left of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Forgotten {
    pub resource: Resource,
    /// What may still exist outside, one line each, for a person to see to.
    pub may_remain: Vec<String>,
}

impl App {
    pub async fn set_finalizers(
        &self,
        terms: &Terms,
        id: ResourceId,
        body: FinalizersBody,
    ) -> Result<Resource, Problem> {
        check_finalizers(&body.finalizers)?;
        let finalizers = Arc::new(body.finalizers);
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, id.0, 200, move |tx| {
            let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
            let finalizers = finalizers.clone();
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                if_match.check(held.body.resource_version)?;
                tx.set_finalizers(&scope, &actor, &held, &finalizers).await
            })
        });
        written.await?.once()
    }

    pub async fn forget_resource(&self, terms: &Terms, id: ResourceId) -> Result<Forgotten, Problem> {
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, id.0, 200, move |tx| {
            let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                if_match.check(held.body.resource_version)?;
                let may_remain = may_remain(&held.body);
                let resource = tx.forget(&scope, &actor, &held).await?;
                Ok(Forgotten { resource, may_remain })
            })
        });
        written.await?.once()
    }
}

/// What may exist outside because of a resource.
fn may_remain(resource: &Resource) -> Vec<String> {
    let touched =
        resource.operation_id.is_some() || resource.last_reconcile_time.is_some() || resource.observed_generation > 0;
    if resource.holds.is_empty() && touched {
        let plugin = &resource.action_plugin;
        return vec![format!(
            "the plugin {plugin} has not told what exists; look in the system behind {plugin} for what belongs to {}",
            resource.name
        )];
    }
    resource.holds.clone()
}
