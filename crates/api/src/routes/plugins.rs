//! `/api/v1/plugins`: how changes come in, and who makes them real.

use std::sync::Arc;

use axum::extract::State;
use model::Role;
use model::plugin::Descriptor;

use crate::app::App;
use crate::caller::Caller;
use crate::engine::Plugin;
use crate::problem::Problem;

/// List action plugins
///
/// Those that a resource may name as its `action_plugin`, with the steps they take and the schema of their `plugin_config`.
#[utoipa::path(get, path = "/api/v1/plugins/actions", tag = "Plugins", operation_id = "list_action_plugins",
    responses((status = 200, description = "The action plugins", body = Vec<Plugin>)))]
pub async fn list_actions(State(app): State<Arc<App>>, caller: Caller) -> Result<axum::Json<Vec<Plugin>>, Problem> {
    caller.require(Role::Viewer)?;
    Ok(axum::Json((app.actions)()))
}

/// List input plugins
///
/// The ways in which the desired state reaches Terrane.
#[utoipa::path(get, path = "/api/v1/plugins/inputs", tag = "Plugins", operation_id = "list_input_plugins",
    responses((status = 200, description = "The input plugins", body = Vec<Plugin>)))]
pub async fn list_inputs(caller: Caller) -> Result<axum::Json<Vec<Plugin>>, Problem> {
    caller.require(Role::Viewer)?;
    Ok(axum::Json(vec![Plugin::built_in(http_api())]))
}

/// This API is itself an input: it takes what `intake` takes, and adds nothing of its own.
fn http_api() -> Descriptor {
    Descriptor {
        name: "http_api".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        contracts: vec![],
        description: "The REST API: resources are declared, changed and deleted by requests".into(),
        steps: vec![],
        config_schema: serde_json::json!({}),
    }
}
