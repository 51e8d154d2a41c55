//! The terms on which a write is made: by whom, on which version, once or only for show.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{Actor, Resource, Scope};
use serde::Serialize;
use store::{Error, IdempotencyKey, NewResource, Recorded, Store, Tx};

use crate::conditional::IfMatch;
use crate::problem::Problem;

/// Who writes, and how.
#[derive(Debug, Clone)]
pub struct Terms {
    pub scope: Scope,
    pub actor: Actor,
    pub dry_run: bool,
    pub if_match: IfMatch,
    pub key: Option<IdempotencyKey>,
}

/// What a write came to.
pub enum Written<T> {
    Done(T),
    /// The key was used before: this is the answer given then.
    Replayed(Recorded),
}

impl<T> Written<T> {
    /// Of a change that is idempotent by itself, and so takes no key.
    pub(super) fn once(self) -> Result<T, Problem> {
        match self {
            Written::Done(done) => Ok(done),
            Written::Replayed(_) => Err(Problem::conflict("this takes no Idempotency-Key: it is idempotent by itself")),
        }
    }
}

impl Terms {
    /// Create a resource: together with others where nothing but the resource itself is to be written.
    pub async fn create_resource(&self, store: &Store, new: NewResource) -> Result<Written<Resource>, Error> {
        let (scope, actor) = (self.scope.clone(), self.actor.clone());
        if !self.dry_run && self.key.is_none() {
            return Ok(Written::Done(store.create_resource(scope, actor, new).await?));
        }
        let new = Arc::new(new);
        self.write(store, 0, 201, move |tx| {
            let (scope, actor, new) = (scope.clone(), actor.clone(), new.clone());
            Box::pin(async move { tx.create_resource(&scope, &actor, &new).await })
        })
        .await
    }

    /// Do `work` in a transaction: for show in a dry run, at most once under an idempotency key. `status` is what the
    /// answer will bear, for the record.
    pub async fn write<T, F>(&self, store: &Store, order: i64, status: u16, work: F) -> Result<Written<T>, Error>
    where
        T: Serialize + Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let (scope, key) = (self.scope.clone(), self.key.clone());
        if self.dry_run {
            store.rehearse(move |tx| once(tx, scope.clone(), key.clone(), status, work.clone())).await
        } else {
            store.write(order, move |tx| once(tx, scope.clone(), key.clone(), status, work.clone())).await
        }
    }
}

fn once<T, F>(
    tx: &mut Tx,
    scope: Scope,
    key: Option<IdempotencyKey>,
    status: u16,
    work: Arc<F>,
) -> BoxFuture<'_, Result<Written<T>, Error>>
where
    T: Serialize + Send + 'static,
    F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
{
    Box::pin(async move {
        let Some(key) = key else { return Ok(Written::Done(work(tx).await?)) };
        if let Some(recorded) = tx.recall(&scope, &key).await? {
            return Ok(Written::Replayed(recorded));
        }
        let done = work(tx).await?;
        let body = serde_json::to_string(&done).map_err(|error| Error::Corrupt { what: error.to_string() })?;
        tx.remember(&scope, &key, &Recorded { status, body }).await?;
        Ok(Written::Done(done))
    })
}
