//! What a reconciliation left for its users; what is sensitive only for those who ask and may see it.

use controller::open_outputs;
use model::{Actor, ResourceId, Scope};
use serde_json::Value;
use tracing::info;

use crate::app::App;
use crate::problem::Problem;

impl App {
    /// The outputs, and the names of those that are sensitive; with `reveal` their values too.
    pub async fn outputs(
        &self,
        scope: &Scope,
        actor: &Actor,
        id: ResourceId,
        reveal: bool,
    ) -> Result<(Value, Vec<String>), Problem> {
        let mut outputs = self.store.outputs(scope, id).await?;
        let Some(sealed) = self.store.sealed_outputs(scope, id).await? else { return Ok((outputs, Vec::new())) };
        let names = sealed.names.clone();
        if reveal {
            info!(tenant = %scope.name, resource = %id, actor = %actor.name, "sensitive outputs are shown");
            let opened = open_outputs(self.keyring()?, sealed).map_err(|error| {
                Problem::conflict(format!(
                    "the sensitive outputs cannot be opened: {error}; reconcile to have them anew"
                ))
            })?;
            if let Value::Object(outputs) = &mut outputs {
                outputs.extend(opened);
            }
        }
        Ok((outputs, names))
    }
}
