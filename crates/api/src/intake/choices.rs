//! What a person chooses to be done about a failure.

use std::sync::Arc;

use model::job::Import;
use model::{Choice, Resource, ResourceId};

use super::{Terms, Written};
use crate::app::App;
use crate::problem::Problem;

const LONGEST_ADDRESS: usize = 512;
const LONGEST_ID: usize = 1024;

impl App {
    pub async fn choose(
        &self,
        terms: &Terms,
        id: ResourceId,
        choice: Choice,
        import: Option<Import>,
    ) -> Result<Written<Resource>, Problem> {
        if let Some(import) = &import {
            check(import)?;
        }
        let import = Arc::new(import);
        let (scope, actor, if_match) = (terms.scope.clone(), terms.actor.clone(), terms.if_match.clone());
        let written = terms.write(&self.store, id.0, 202, move |tx| {
            let (scope, actor, if_match) = (scope.clone(), actor.clone(), if_match.clone());
            let import = import.clone();
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                if_match.check(held.body.resource_version)?;
                tx.choose(&scope, &actor, &held, choice, import.as_ref().as_ref()).await
            })
        });
        Ok(written.await?)
    }
}

/// Both become part of a configuration: nothing in them is to be taken for an expression.
fn check(import: &Import) -> Result<(), Problem> {
    let Import { address, id } = import;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-[]\"/ :".contains(letter);
    if address.is_empty() || address.len() > LONGEST_ADDRESS || !address.contains('.') || !address.chars().all(plain) {
        return Err(Problem::bad_request(format!(
            "address: expected a resource of the module, such as aws_s3_bucket.logs, in at most {LONGEST_ADDRESS} bytes"
        )));
    }
    if id.is_empty() || id.len() > LONGEST_ID || id.chars().any(char::is_control) {
        return Err(Problem::bad_request(format!("id: expected 1 to {LONGEST_ID} bytes without control characters")));
    }
    if id.contains("${") || id.contains("%{") {
        return Err(Problem::bad_request("id: expected the id as it is, not an expression"));
    }
    Ok(())
}
