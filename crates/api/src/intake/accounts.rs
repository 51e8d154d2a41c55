//! Registering and deleting cloud accounts. What their credentials are is kept among the tenant's secrets.

use std::sync::Arc;

use model::{Account, Credentials, Provider, check_name};
use serde::Deserialize;
use store::NewAccount;
use utoipa::ToSchema;

use super::{Terms, Written};
use crate::app::App;
use crate::params::check_text;
use crate::problem::Problem;

const MAX_CREDENTIALS: usize = 32;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountBody {
    #[schema(example = "prod-aws")]
    pub name: String,
    pub provider: Provider,
    /// Environment variables of the provider's own names, and the tenant's secrets that they get.
    #[serde(default)]
    #[schema(example = json!({"AWS_ACCESS_KEY_ID": {"secret": "aws-id"}, "AWS_SECRET_ACCESS_KEY": {"secret": "aws-key"}}))]
    pub credentials: Credentials,
    /// Where things are made unless something else is said.
    #[schema(example = "eu-west-1")]
    pub region: Option<String>,
}

impl App {
    pub async fn create_account(&self, terms: &Terms, body: AccountBody) -> Result<Written<Account>, Problem> {
        check_name("name", &body.name)?;
        check_credentials(body.provider, &body.credentials)?;
        if let Some(region) = &body.region {
            check_text("region", region, 64)?;
        }
        let AccountBody { name, provider, credentials, region } = body;
        let new = Arc::new(NewAccount { name, provider, credentials, region });
        let (scope, actor) = (terms.scope.clone(), terms.actor.clone());
        let written = terms.write(&self.store, 0, 201, move |tx| {
            let (scope, actor, new) = (scope.clone(), actor.clone(), new.clone());
            Box::pin(async move { tx.create_account(&scope, &actor, &new).await })
        });
        Ok(written.await?)
    }

    pub async fn delete_account(&self, terms: &Terms, name: String) -> Result<(), Problem> {
        check_name("name", &name)?;
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, 0, 204, move |tx| {
            let (scope, actor, if_match, name) = (scope.clone(), actor.clone(), if_match.clone(), name.clone());
            Box::pin(async move {
                let held = tx.hold_account(&scope, &name).await?;
                if_match.check(held.resource_version)?;
                tx.delete_account(&scope, &actor, &held).await
            })
        });
        written.await?.once()
    }
}

fn check_credentials(provider: Provider, credentials: &Credentials) -> Result<(), Problem> {
    if credentials.len() > MAX_CREDENTIALS {
        let found = credentials.len();
        return Err(Problem::bad_request(format!("credentials: expected at most {MAX_CREDENTIALS}, found {found}")));
    }
    provider.check(credentials).map_err(|wrong| Problem::bad_request(format!("credentials: {wrong}")))?;
    for reference in credentials.values() {
        check_name("secret", &reference.secret)?;
    }
    Ok(())
}
