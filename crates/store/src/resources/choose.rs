//! A person's choice about a failure becomes what is wanted next. What cannot be chosen as things stand is refused, with
//! what can be.

use model::job::Import;
use model::{Action, Actor, Choice, Happening, Resource, Scope};

use super::StoredResource;
use crate::error::{Error, Refusal};
use crate::writer::Tx;

impl Tx {
    /// Ask for a held resource's failure to be dealt with like this. Asking twice is asking once.
    pub async fn choose(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        held: &StoredResource,
        choice: Choice,
        import: Option<&Import>,
    ) -> Result<Resource, Error> {
        let mut record = held.record();
        let asked_already = record.wanted == Some(choice.reason());
        let newer = record.wanted.is_some() || record.resource.generation > record.begun_generation;
        if !held.body.choices().contains(&choice) || (newer && !asked_already) {
            let choices = if newer { Vec::new() } else { held.body.choices().to_vec() };
            let what = held.body.name.clone();
            return Err(Refusal::NoChoice { what, choice, lifecycle: held.body.lifecycle, choices }.into());
        }
        if let Some(import) = import {
            self.keep_import(scope.id, held.body.id, import).await?;
        }
        if asked_already {
            return Ok(held.body.clone());
        }
        let (message, since) = (record.resource.status_message.clone(), record.resource.updated_at);
        record.want(choice.reason());
        record.happen(Happening::ReconcileRequested, &message, &self.terms());
        record.resource.reconcile_requested_at = Some(self.now);
        record.resource.updated_at = since;
        self.change(scope, actor, action(choice), &held.body, record).await
    }
}

fn action(choice: Choice) -> Action {
    match choice {
        Choice::Retry => Action::RetryRequested,
        Choice::Continue => Action::ContinueRequested,
        Choice::Rollback => Action::RollbackRequested,
        Choice::Cleanup => Action::CleanupRequested,
        Choice::Import => Action::ImportRequested,
    }
}
