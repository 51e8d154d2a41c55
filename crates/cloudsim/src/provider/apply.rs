//! What a change does. The cloud accepts or refuses a request at once, and may then take its time; the provider waits for
//! the end of it, as real ones do. Whoever dies while waiting changes nothing about what was accepted.

use tokio::time::sleep;

use crate::{
    protocol::{ApplyRequest, Diagnostic, DynamicValue},
    schema::{Conduct, Failure, ResourceType},
    value::{self, Fields, Values},
    world::World,
};

use super::{diagnostic, identity, state};

/// The state after the change.
pub async fn answer(
    resource: &'static ResourceType,
    world: &World,
    request: &ApplyRequest,
) -> Result<DynamicValue, Diagnostic> {
    let prior = Fields::decode(request.prior_state.as_ref()).map_err(diagnostic)?;
    let planned = Fields::decode(request.planned_state.as_ref()).map_err(diagnostic)?;
    let planned = planned.map(|planned| planned.known(resource.attributes)).transpose().map_err(diagnostic)?;
    // What was unknown to the plan has been checked by nobody yet.
    if let Some(fault) = planned.as_ref().and_then(|planned| (resource.faults)(planned).into_iter().next()) {
        return Err(fault);
    }
    match (prior, planned) {
        (None, Some(planned)) => create(resource, world, planned).await,
        (Some(prior), Some(planned)) => update(resource, world, &prior, planned),
        (Some(prior), None) => destroy(resource, world, &prior).await,
        (None, None) => Ok(value::null()),
    }
}

async fn create(resource: &'static ResourceType, world: &World, planned: Values) -> Result<DynamicValue, Diagnostic> {
    let Conduct { create_takes, failure, .. } = (resource.conduct)(&planned);
    let name = planned.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
    if let Some(Failure { message, times }) = failure {
        let earlier =
            world.lock().and_then(|world| world.count_failure(resource.name, &name, times)).map_err(diagnostic)?;
        if times.is_none_or(|times| earlier < times) {
            sleep(create_takes).await;
            return Err(Diagnostic::error(message));
        }
    }
    let object =
        world.lock().and_then(|world| world.create(resource, &name, planned, create_takes)).map_err(diagnostic)?;
    sleep(object.ready_at.remaining()).await;
    state(resource, &object)
}

fn update(
    resource: &'static ResourceType,
    world: &World,
    prior: &Fields,
    planned: Values,
) -> Result<DynamicValue, Diagnostic> {
    let (id, name) = identity(prior)?;
    let object = world.lock().and_then(|world| world.update(resource, name, id, planned)).map_err(diagnostic)?;
    state(resource, &object)
}

async fn destroy(resource: &'static ResourceType, world: &World, prior: &Fields) -> Result<DynamicValue, Diagnostic> {
    let (id, name) = identity(prior)?;
    let takes = |attributes: &Values| (resource.conduct)(attributes).destroy_takes;
    let gone_at = world.lock().and_then(|world| world.destroy(resource.name, name, id, takes)).map_err(diagnostic)?;
    if let Some(gone_at) = gone_at {
        sleep(gone_at.remaining()).await;
        // To look is to clear away.
        world.lock().and_then(|world| world.find(resource.name, name)).map_err(diagnostic)?;
    }
    Ok(value::null())
}
