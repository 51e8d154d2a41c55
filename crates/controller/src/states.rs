//! Terraform states as they are sealed and opened. A state opens only for the resource it was sealed for, and only if it is what was
//! written.

use model::state::{Corruption, StateHead};
use model::{ResourceId, TenantId};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use store::{NewState, SealedSecret, SealedState};

use crate::keyring::{Keyring, KeyringError};

/// Why a state is not kept.
#[derive(Debug, thiserror::Error)]
pub enum Unkept {
    #[error(transparent)]
    Corrupt(#[from] Corruption),
    #[error(transparent)]
    Unsealed(#[from] KeyringError),
}

impl Keyring {
    /// A state, read as far as it must be to be kept, and sealed.
    pub fn seal_state(&self, tenant: TenantId, resource: ResourceId, text: &SecretString) -> Result<NewState, Unkept> {
        let head = StateHead::of(text.expose_secret())?;
        let (sealed, key_id) = self.seal(tenant, &name_of(resource), text)?;
        Ok(NewState {
            tenant,
            resource,
            serial: i64::try_from(head.serial).unwrap_or(i64::MAX),
            lineage: head.lineage,
            sha256: digest(text),
            objects: i64::try_from(head.resources).unwrap_or(i64::MAX),
            sealed,
            key_id,
        })
    }

    pub fn open_state(&self, state: &SealedState) -> Result<SecretString, Corruption> {
        let sealed = SealedSecret {
            id: 0,
            tenant: state.tenant,
            name: name_of(state.resource),
            sealed: state.sealed.clone(),
            key_id: state.key_id.clone(),
            hosts: Vec::new(),
        };
        let text = self.open(&sealed).map_err(|_| Corruption::Sealed)?;
        if digest(&text) == state.version.sha256 { Ok(text) } else { Err(Corruption::Digest) }
    }
}

/// What a state is sealed for: no other resource's state opens in its place.
fn name_of(resource: ResourceId) -> String {
    format!("state of resource {resource}")
}

fn digest(text: &SecretString) -> String {
    Sha256::digest(text.expose_secret()).iter().map(|byte| format!("{byte:02x}")).collect()
}
