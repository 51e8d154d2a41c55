//! Terraform states: read, brought, brought back, locked and unlocked by people. Nothing is ever overwritten: each is a version of
//! its own, and one that cannot follow the newest is refused with the versions that could be restored instead.

use std::sync::Arc;

use axum::http::StatusCode;
use controller::Unkept;
use model::state::{Corruption, State, StateVersion, with_serial};
use model::state_lock::{Backend, LockInfo, StateHold, StateInfo};
use model::{ResourceId, Scope};
use secrecy::{ExposeSecret, SecretString};
use store::{Error, NewState, Refusal, SealedState, Succession};
use tracing::error;

use super::{Terms, Written};
use crate::app::App;
use crate::problem::Problem;
use crate::routes::STATE_SERVICE;

/// Versions that are offered where a state cannot be used.
const OFFERED: usize = 5;
/// Bytes of a lock's description, all of it.
const MAX_LOCK: usize = 16 * 1024;

impl App {
    /// The state as it stands, without anything secret.
    pub async fn state_info(&self, scope: &Scope, id: ResourceId) -> Result<StateInfo, Problem> {
        let held_by = self.store.state_hold(scope, id).await?;
        let newest = self.store.newest_state(scope.id, id).await?;
        let objects = match &newest {
            None => Vec::new(),
            Some(sealed) => {
                let opened = self.keyring()?.open_state(sealed);
                let read = opened.and_then(|text| State::read(text.expose_secret()));
                read.map(|state| state.objects).unwrap_or_default()
            }
        };
        let path = format!("/api/v1/resources/{id}{STATE_SERVICE}");
        let backend = Backend::Http { path, tenant: scope.name.clone() };
        Ok(StateInfo { newest: newest.map(|sealed| sealed.version), held_by, objects, backend })
    }

    /// A version's text, the newest where none is named; nothing where there is none yet. Who reads it is written down first.
    pub async fn read_state(
        &self,
        terms: &Terms,
        id: ResourceId,
        version: Option<i64>,
    ) -> Result<Option<SecretString>, Problem> {
        let scope = &terms.scope;
        self.store.state_hold(scope, id).await?;
        let sealed = match version {
            Some(version) => Some(self.store.state(scope.id, id, version).await?),
            None => self.store.newest_state(scope.id, id).await?,
        };
        let Some(sealed) = sealed else { return Ok(None) };
        let text = self.open_state(scope, &sealed).await?;
        let (scope, actor, version) = (terms.scope.clone(), terms.actor.clone(), Arc::new(sealed.version));
        let noted = self.store.write(0, move |tx| {
            let (scope, actor, version) = (scope.clone(), actor.clone(), version.clone());
            Box::pin(async move { tx.note_state_read(&scope, &actor, id, &version).await })
        });
        noted.await?;
        Ok(Some(text))
    }

    /// Keep a state that somebody brings; `lock` is the id of the lock it has, if any.
    pub async fn bring_state(
        &self,
        terms: &Terms,
        id: ResourceId,
        text: SecretString,
        lock: Option<String>,
    ) -> Result<Written<StateVersion>, Problem> {
        self.store.state_hold(&terms.scope, id).await?;
        let new = self.seal_state(&terms.scope, id, &text)?;
        self.keep_state(terms, id, new, lock, Succession::GoesOn).await
    }

    /// Bring a version back: as a new one, which follows the newest.
    pub async fn restore_state(
        &self,
        terms: &Terms,
        id: ResourceId,
        version: i64,
    ) -> Result<Written<StateVersion>, Problem> {
        let scope = &terms.scope;
        let newest = self.store.states(scope, id, 1).await?.pop();
        let sealed = self.store.state(scope.id, id, version).await?;
        let text = self.open_state(scope, &sealed).await?;
        let serial = newest.map_or(0, |newest| newest.serial).unsigned_abs().saturating_add(1);
        let restored = match with_serial(text.expose_secret(), serial) {
            Ok(text) => SecretString::from(text),
            Err(why) => return Err(self.unusable(scope, &sealed, &why).await?),
        };
        let new = self.seal_state(scope, id, &restored)?;
        self.keep_state(terms, id, new, None, Succession::Restores).await
    }

    pub async fn lock_state(&self, terms: &Terms, id: ResourceId, lock: LockInfo) -> Result<(), Problem> {
        let LockInfo { id: name, operation, info, who, version, created, path } = &lock;
        let fields = [name, operation, info, who, version, created, path];
        let bytes: usize = fields.iter().map(|field| field.len()).sum();
        if name.is_empty() || bytes > MAX_LOCK || fields.iter().any(|field| field.contains('\0')) {
            let most = format!("a lock has an ID, no NUL character, and at most {MAX_LOCK} bytes in all");
            return Err(Problem::bad_request(most));
        }
        let (scope, actor, lock) = (terms.scope.clone(), terms.actor.clone(), Arc::new(lock));
        let written = terms.write(&self.store, id.0, 200, move |tx| {
            let (scope, actor, lock) = (scope.clone(), actor.clone(), lock.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                tx.lock_state(&scope, &actor, &held, &lock).await
            })
        });
        written.await?.once()
    }

    pub async fn unlock_state(&self, terms: &Terms, id: ResourceId, lock: String) -> Result<(), Problem> {
        let (scope, actor) = (terms.scope.clone(), terms.actor.clone());
        let written = terms.write(&self.store, id.0, 204, move |tx| {
            let (scope, actor, lock) = (scope.clone(), actor.clone(), lock.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                tx.unlock_state(&scope, &actor, &held, &lock).await
            })
        });
        written.await?.once()
    }

    async fn keep_state(
        &self,
        terms: &Terms,
        id: ResourceId,
        new: NewState,
        lock: Option<String>,
        succession: Succession,
    ) -> Result<Written<StateVersion>, Problem> {
        let new = Arc::new(new);
        let (scope, actor) = (terms.scope.clone(), terms.actor.clone());
        let written = terms.write(&self.store, id.0, 201, move |tx| {
            let (scope, actor, new, lock) = (scope.clone(), actor.clone(), new.clone(), lock.clone());
            Box::pin(async move {
                let held = tx.hold_resource(&scope, id).await?;
                tx.bring_state(&scope, &actor, &held, &new, lock.as_deref(), succession).await
            })
        });
        match written.await {
            Err(Error::Refused(Refusal::UnfitState { why })) => {
                let offer = self.restore_points(&terms.scope, id, None).await?;
                Err(Problem::conflict(format!("{why}; nothing was overwritten. {offer}")))
            }
            written => Ok(written?),
        }
    }

    fn seal_state(&self, scope: &Scope, id: ResourceId, text: &SecretString) -> Result<NewState, Problem> {
        self.keyring()?.seal_state(scope.id, id, text).map_err(|unkept| match unkept {
            Unkept::Corrupt(why) => Problem::bad_request(format!("{why}; nothing was overwritten")),
            Unkept::Unsealed(error) => {
                error!(%error, "a state could not be sealed");
                let detail = "the state could not be sealed; nothing was kept, see the server's log";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            }
        })
    }

    async fn open_state(&self, scope: &Scope, sealed: &SealedState) -> Result<SecretString, Problem> {
        match self.keyring()?.open_state(sealed) {
            Ok(text) => Ok(text),
            Err(why) => Err(self.unusable(scope, sealed, &why).await?),
        }
    }

    async fn unusable(&self, scope: &Scope, sealed: &SealedState, why: &Corruption) -> Result<Problem, Problem> {
        let broken = sealed.version.id;
        error!(tenant = scope.name, resource = %sealed.resource, version = broken, %why, "a state cannot be used");
        let offer = self.restore_points(scope, sealed.resource, Some(broken)).await?;
        Ok(Problem::conflict(format!("version {broken} of the state cannot be used: {why}. {offer}")))
    }

    /// What could be brought back, in words.
    async fn restore_points(&self, scope: &Scope, id: ResourceId, broken: Option<i64>) -> Result<String, Problem> {
        let versions = self.store.states(scope, id, OFFERED + 1).await?;
        let points: Vec<_> = versions
            .iter()
            .filter(|version| Some(version.id) != broken)
            .take(OFFERED)
            .map(|version| {
                let StateVersion { id, serial, objects, created_at, .. } = version;
                format!("{id} (serial {serial}, {objects} objects, {created_at:.0})")
            })
            .collect();
        if points.is_empty() {
            return Ok("There is no other version to go back to.".into());
        }
        Ok(format!("Versions to go back to with `terrane state restore TYPE/NAME VERSION`: {}", points.join("; ")))
    }
}

/// What somebody is told who may not write, and what can be done.
pub fn locked(hold: &StateHold) -> String {
    match hold.job_id {
        Some(job) => {
            format!("the state is not to be written now: {hold}; wait for it, or stop it: `terrane cancel` (job {job})")
        }
        None => format!(
            "the state is not to be written now: {hold}; wait for it, or, if its holder is gone, break the lock: `terrane state unlock TYPE/NAME {}`",
            hold.lock.id
        ),
    }
}
