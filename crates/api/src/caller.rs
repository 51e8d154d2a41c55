//! Who asks, and in which tenant: the token decides. Every handler starts here.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use model::{Actor, Role, Scope, TokenId};

use crate::app::{Access, App};
use crate::problem::Problem;
use crate::routes::STATE_SERVICE;
use crate::secret;
use crate::telemetry::RequestId;

/// The header by which an operator names a tenant.
pub const TENANT_HEADER: &str = "terrane-tenant";

#[derive(Debug, Clone)]
pub struct Caller {
    pub scope: Scope,
    pub role: Role,
    pub actor: Actor,
    /// The token that was shown, if any.
    pub token: Option<TokenId>,
}

impl Caller {
    pub fn require(&self, role: Role) -> Result<(), Problem> {
        if self.role >= role {
            return Ok(());
        }
        let whom = if role == Role::Operator { "an operator" } else { "an admin of the tenant" };
        let (needed, has) = (role.as_str(), self.role.as_str());
        Err(Problem::forbidden(format!("this needs the role {needed}, and the token has {has}; ask {whom}")))
    }

    /// Resources and secrets belong to a tenant, never to the fleet.
    pub fn require_tenant(&self) -> Result<(), Problem> {
        if self.scope.id.is_fleet() {
            return Err(Problem::forbidden("resources and secrets belong to a tenant; name one with Terrane-Tenant"));
        }
        Ok(())
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let request_id = parts.extensions.get::<RequestId>().map(|id| id.0.clone());
        let Shown { token, tenant } = Shown::of(parts)?;
        let (home, role, name, token) = match token {
            Some(token) => authenticate(app, &token).await?,
            None if app.access == Access::Open => (Scope::default_tenant(), Role::Operator, "local".to_string(), None),
            None => {
                return Err(Problem::unauthorized(
                    "a token is needed: send Authorization: Bearer TOKEN (make one with `terrane token create`)",
                ));
            }
        };
        let scope = tenant_asked_for(app, &parts.headers, tenant, home, role).await?;
        let caller = Caller { scope, role, actor: Actor { name, request_id }, token };
        tracing::Span::current().record("tenant", caller.scope.name.as_str());
        tracing::Span::current().record("actor", caller.actor.name.as_str());
        Ok(caller)
    }
}

pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let token = value.to_str().ok().and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    token.map(Some).ok_or_else(|| Problem::unauthorized("send the token as Authorization: Bearer TOKEN"))
}

/// What a request shows of who makes it.
#[derive(Default)]
struct Shown {
    token: Option<String>,
    /// Named by who cannot send a header of ours.
    tenant: Option<String>,
}

impl Shown {
    /// A bearer token. Terraform's `http` backend can only send the token as the password of a user, who is the tenant.
    fn of(parts: &Parts) -> Result<Shown, Problem> {
        let Some(value) = parts.headers.get(header::AUTHORIZATION) else { return Ok(Shown::default()) };
        let is_terraform = parts.uri.path().ends_with(STATE_SERVICE);
        let shown = value.to_str().ok().and_then(|value| {
            let (scheme, rest) = value.split_once(' ')?;
            if scheme.eq_ignore_ascii_case("bearer") {
                return Some(Shown { token: Some(rest.trim().to_string()), tenant: None });
            }
            let is_basic = is_terraform && scheme.eq_ignore_ascii_case("basic");
            let pair = STANDARD.decode(rest.trim()).ok().filter(|_| is_basic)?;
            let (tenant, token) = std::str::from_utf8(&pair).ok()?.split_once(':')?;
            let given = |text: &str| (!text.is_empty()).then(|| text.to_string());
            Some(Shown { token: given(token), tenant: given(tenant) })
        });
        shown.ok_or_else(|| Problem::unauthorized("send the token as Authorization: Bearer TOKEN"))
    }
}

async fn authenticate(app: &App, token: &str) -> Result<(Scope, Role, String, Option<TokenId>), Problem> {
    let refused = || Problem::unauthorized("the token is unknown, revoked or expired");
    let (public, secret) = secret::split(token).filter(|(public, _)| is_public_part(public)).ok_or_else(refused)?;
    let stored = app.store.token_by_prefix(public).await?.ok_or_else(refused)?;
    let expired = stored.body.expires_at.is_some_and(|at| at <= Timestamp::now());
    if !secret::proves(secret, &stored.hash) || expired {
        return Err(refused());
    }
    app.note_token_use(stored.body.id);
    let name = format!("token:{}", stored.body.name);
    // An operator's token belongs to the fleet; unless it names a tenant, it works in the default one.
    let home = if stored.scope.id.is_fleet() { Scope::default_tenant() } else { stored.scope };
    Ok((home, stored.body.role, name, Some(stored.body.id)))
}

pub(crate) fn is_public_part(text: &str) -> bool {
    text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

async fn tenant_asked_for(
    app: &App,
    headers: &HeaderMap,
    user: Option<String>,
    home: Scope,
    role: Role,
) -> Result<Scope, Problem> {
    let named = headers.get(TENANT_HEADER).map(|value| value.to_str());
    let named = named.transpose().map_err(|_| Problem::bad_request("Terrane-Tenant: not a tenant's name"))?;
    let Some(name) = named.or(user.as_deref()) else { return Ok(home) };
    if name == home.name {
        return Ok(home);
    }
    if role < Role::Operator {
        return Err(Problem::forbidden("the token fixes the tenant; only an operator may name another"));
    }
    model::check_name("Terrane-Tenant", name)?;
    Ok(app.store.scope(name).await?)
}
