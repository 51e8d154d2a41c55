//! Webhooks of GitHub and GitLab. They carry no token of ours: the tenant's own secret signs them. All that one can do is
//! wake an operation that waits for this very run; how the run stands is asked of its owner, so that a delivery that comes
//! twice, late or out of order changes nothing.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use controller::plugins::actions::{github_actions, gitlab_pipeline};
use model::TenantId;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Problem;

/// The tenant's secrets that sign its webhooks.
const GITHUB_SECRET: &str = "github-webhook";
const GITLAB_SECRET: &str = "gitlab-webhook";

#[derive(Debug, Serialize, ToSchema)]
pub struct Woken {
    /// How many operations were waiting for it.
    pub woken: u64,
}

/// A delivery of GitHub
///
/// Signed with the tenant's secret `github-webhook`; point the repository's webhook for `workflow_run` events here.
#[utoipa::path(post, path = "/api/v1/webhooks/github/{tenant}", tag = "Webhooks", operation_id = "github_webhook",
    security(()), params(("tenant" = String, Path, description = "The tenant")), request_body = Object,
    responses((status = 202, description = "Heard", body = Woken)))]
pub async fn github(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Woken>), Problem> {
    let (tenant, secret) = signer(&app, &tenant, GITHUB_SECRET).await?;
    let signature = header(&headers, "x-hub-signature-256");
    if !github_actions::webhook::verify(secret.expose_secret().as_bytes(), &body, signature) {
        return Err(unsigned());
    }
    wake(&app, tenant, github_actions::webhook::signal(header(&headers, "x-github-event"), &body)).await
}

/// A delivery of GitLab
///
/// With the tenant's secret `gitlab-webhook` as its secret token; point the project's webhook for pipeline events here.
#[utoipa::path(post, path = "/api/v1/webhooks/gitlab/{tenant}", tag = "Webhooks", operation_id = "gitlab_webhook",
    security(()), params(("tenant" = String, Path, description = "The tenant")), request_body = Object,
    responses((status = 202, description = "Heard", body = Woken)))]
pub async fn gitlab(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Woken>), Problem> {
    let (tenant, secret) = signer(&app, &tenant, GITLAB_SECRET).await?;
    if !gitlab_pipeline::webhook::verify(secret.expose_secret().as_bytes(), header(&headers, "x-gitlab-token")) {
        return Err(unsigned());
    }
    wake(&app, tenant, gitlab_pipeline::webhook::signal(header(&headers, "x-gitlab-event"), &body)).await
}

/// Whether the tenant or its secret exists is nobody's business who cannot sign.
async fn signer(app: &App, tenant: &str, name: &str) -> Result<(TenantId, SecretString), Problem> {
    let tenant = match app.store.tenant(tenant).await {
        Ok(tenant) => tenant.id,
        Err(store::Error::Refused(_)) => return Err(unsigned()),
        Err(error) => return Err(error.into()),
    };
    let sealed = app.store.sealed_secret(tenant, name).await?.ok_or_else(unsigned)?;
    let secret = app.keyring()?.open(&sealed).map_err(|_| unsigned())?;
    Ok((tenant, secret))
}

async fn wake(app: &App, tenant: TenantId, signal: Option<String>) -> Result<(StatusCode, Json<Woken>), Problem> {
    let woken = match signal {
        Some(signal) => app.store.signal(tenant, signal).await?,
        None => 0,
    };
    Ok((StatusCode::ACCEPTED, Json(Woken { woken })))
}

fn unsigned() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "the delivery is not signed with the tenant's webhook secret")
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
