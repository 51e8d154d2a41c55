//! Outputs that only some may see: sealed when a job brings them, opened for whoever asks and may.

use std::collections::BTreeMap;

use model::job::Output;
use model::{ResourceId, TenantId};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use store::{SealedOutputs, SealedSecret};

use crate::keyring::{Keyring, KeyringError};

/// Takes the values of the sensitive ones out, and seals them together; none where there are none.
pub(crate) fn seal(
    keyring: &Keyring,
    tenant: TenantId,
    resource: ResourceId,
    outputs: &mut BTreeMap<String, Output>,
) -> Result<Option<SealedOutputs>, KeyringError> {
    let mut taken = Map::new();
    for (name, output) in outputs.iter_mut().filter(|(_, output)| output.sensitive) {
        taken.insert(name.clone(), output.value.take());
    }
    if taken.is_empty() {
        return Ok(None);
    }
    let names = taken.keys().cloned().collect();
    let text = SecretString::from(Value::Object(taken).to_string());
    let (sealed, key_id) = keyring.seal(tenant, &purpose(resource), &text)?;
    Ok(Some(SealedOutputs { tenant, resource, names, sealed, key_id }))
}

/// The sensitive outputs by name.
pub fn open_outputs(keyring: &Keyring, outputs: SealedOutputs) -> Result<Map<String, Value>, KeyringError> {
    let SealedOutputs { tenant, resource, sealed, key_id, .. } = outputs;
    let sealed = SealedSecret { id: 0, tenant, name: purpose(resource), sealed, key_id, hosts: Vec::new() };
    let text = keyring.open(&sealed)?;
    serde_json::from_str(text.expose_secret()).map_err(|_| KeyringError::Broken)
}

/// What they are sealed for: no other resource's open in their place.
fn purpose(resource: ResourceId) -> String {
    format!("outputs of resource {resource}")
}
