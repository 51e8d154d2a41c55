//! All routes, and what every request passes on its way in and out.

mod accounts;
mod alerts;
mod choices;
mod events;
mod health;
mod jobs;
mod leaving;
mod operations;
mod pages;
mod plugins;
mod reply;
mod resource_types;
mod resources;
mod runner;
mod runners;
mod secrets;
mod state_service;
mod states;
mod tenants;
mod terms;
mod tokens;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::App;
use crate::body::MAX_BODY;
use crate::openapi;
use crate::problem::Problem;
use crate::telemetry::observe;

/// How the address of each resource's state service ends.
pub(crate) const STATE_SERVICE: &str = "/state/http";

/// The whole API as a service.
pub fn router(app: Arc<App>) -> Router {
    let (api, document) = documented().split_for_parts();
    api.merge(pages::routes(openapi::finish(document)))
        .fallback(pages::nowhere)
        .method_not_allowed_fallback(pages::wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(|_| {
            use axum::response::IntoResponse;
            Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this; it is a bug")
                .into_response()
        }))
        .layer(from_fn_with_state(app.clone(), observe))
        .with_state(app)
}

/// What probes and Prometheus ask for, and nothing else: for processes that serve no API.
pub fn probes(app: Arc<App>) -> Router {
    let probes = OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics));
    probes.split_for_parts().0.fallback(pages::nowhere).layer(from_fn_with_state(app.clone(), observe)).with_state(app)
}

/// Where states come in, which are larger than anything else.
fn large((schemas, paths, methods): UtoipaMethodRouter<Arc<App>>) -> UtoipaMethodRouter<Arc<App>> {
    (schemas, paths, methods.layer(DefaultBodyLimit::max(states::MAX_STATE)))
}

/// Terraform's `http` backend, with methods of its own.
fn state_service() -> UtoipaMethodRouter<Arc<App>> {
    let (schemas, paths, methods) =
        routes!(state_service::read_state, state_service::write_state, state_service::delete_state);
    large((schemas, paths, methods.fallback(state_service::lock_or_unlock)))
}

/// The routes that `/openapi.json` describes.
pub(crate) fn documented() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(resource_types::create_type, resource_types::list_types))
        .routes(routes!(resource_types::get_type, resource_types::update_type, resource_types::delete_type))
        .routes(routes!(resource_types::get_type_by_name))
        .routes(routes!(resources::create_resource, resources::list_resources))
        .routes(routes!(
            resources::get_resource,
            resources::put_resource,
            resources::patch_resource,
            leaving::delete_resource
        ))
        .routes(routes!(resources::get_resource_by_name))
        .routes(routes!(resources::reconcile_resource))
        .routes(routes!(choices::retry_resource))
        .routes(routes!(choices::continue_resource))
        .routes(routes!(choices::rollback_resource))
        .routes(routes!(choices::cleanup_resource))
        .routes(routes!(choices::import_resource))
        .routes(routes!(alerts::list_alerts))
        .routes(routes!(leaving::put_finalizers))
        .routes(routes!(resources::get_history))
        .routes(routes!(operations::list_operations))
        .routes(routes!(resources::get_outputs))
        .routes(routes!(jobs::list_jobs))
        .routes(routes!(jobs::get_job))
        .routes(routes!(jobs::get_log))
        .routes(routes!(jobs::cancel_job))
        .routes(routes!(jobs::approve_job))
        .routes(routes!(states::get_state))
        .routes(large(routes!(states::list_versions, states::push_state)))
        .routes(routes!(states::pull_state))
        .routes(routes!(states::restore_state))
        .routes(routes!(states::unlock_state))
        .routes(state_service())
        .routes(routes!(secrets::list_secrets))
        .routes(routes!(secrets::get_secret, secrets::set_secret, secrets::delete_secret))
        .routes(routes!(accounts::create_account, accounts::list_accounts))
        .routes(routes!(accounts::get_account, accounts::delete_account))
        .routes(routes!(plugins::list_actions))
        .routes(routes!(plugins::list_inputs))
        .routes(routes!(webhooks::github))
        .routes(routes!(webhooks::gitlab))
        .routes(routes!(events::list_events))
        .routes(routes!(tenants::create_tenant, tenants::list_tenants))
        .routes(routes!(tenants::get_tenant, tenants::delete_tenant))
        .routes(routes!(tokens::create_token, tokens::list_tokens))
        .routes(routes!(tokens::get_token, tokens::delete_token))
        .routes(routes!(tokens::whoami))
        .routes(routes!(runners::enrol_runner, runners::list_runners))
        .routes(routes!(runners::get_runner, runners::remove_runner))
        .merge(runners_own())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
}

/// What runners ask. States and plans are larger than specs.
fn runners_own() -> OpenApiRouter<Arc<App>> {
    let large = OpenApiRouter::new()
        .routes(routes!(runner::state))
        .routes(routes!(runner::finish))
        .layer(DefaultBodyLimit::max(runner::MAX_BODY));
    OpenApiRouter::new()
        .routes(routes!(runner::enrolment))
        .routes(routes!(runner::offers))
        .routes(routes!(runner::claim))
        .routes(routes!(runner::renew))
        .routes(routes!(runner::log))
        .merge(large)
}
