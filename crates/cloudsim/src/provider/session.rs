//! Who talks to the cloud, and where: what a provider's configuration comes to.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{
    catalogue,
    protocol::Diagnostic,
    random,
    template::{self, Scope},
};

#[derive(Clone, Debug, Default)]
pub struct Session {
    pub account: String,
    pub region: String,
    pub config: Json,
    /// Of the environment.
    pub variables: BTreeMap<String, String>,
}

impl Session {
    pub fn begin(
        provider: &catalogue::Provider,
        config: Json,
        variables: BTreeMap<String, String>,
    ) -> Result<Session, Diagnostic> {
        let manner = &provider.conduct.provider;
        let session = Session { config, variables, ..Session::default() };
        let told = |template: &str| template::text(template, &Scope { values: &Json::Null, session: &session });
        let (account, region, credential) = (told(&manner.account), told(&manner.region), told(&manner.credential));
        let account = match (account, credential) {
            (account, _) if !account.is_empty() => account,
            (_, credential) if !credential.is_empty() => random::fixed(&credential, 12),
            _ => manner.nobody.clone().ok_or_else(|| Diagnostic::error(manner.no_account.as_str()))?,
        };
        if region.is_empty() && !manner.no_region.is_empty() {
            return Err(Diagnostic::error(manner.no_region.as_str()));
        }
        if !region.is_empty() && !manner.regions.is_empty() && !manner.regions.contains(&region) {
            return Err(Diagnostic::error(template::with(&manner.unknown_region, &[("value", &region)])));
        }
        Ok(Session { account, region, ..session })
    }
}
