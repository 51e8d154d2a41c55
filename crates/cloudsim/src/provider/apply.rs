//! What a change does. The cloud accepts or refuses a request at once, and may then take its time; the provider waits for
//! the end of it, as real ones do. Whoever dies while waiting changes nothing about what was accepted.

use std::time::Duration;

use serde_json::Value as Json;
use tokio::time::sleep;

use crate::{
    clouds,
    protocol::{ApplyRequest, Diagnostic, DynamicValue},
    schema::Type,
    template::{self, Scope},
    value,
    world::{Action, Object, Pace},
};

use super::{
    Provider, ResourceType, Session, diagnostic,
    fill::{Templates, fill},
    state,
};

/// What Terraform is to remember.
pub struct Applied {
    pub state: DynamicValue,
    pub private: Vec<u8>,
}

/// What went wrong, and what was done all the same.
pub struct Failure {
    pub error: Diagnostic,
    pub applied: Option<Applied>,
}

impl From<Diagnostic> for Box<Failure> {
    fn from(error: Diagnostic) -> Box<Failure> {
        Box::new(Failure { error, applied: None })
    }
}

impl From<Box<Diagnostic>> for Box<Failure> {
    fn from(error: Box<Diagnostic>) -> Box<Failure> {
        (*error).into()
    }
}

type Outcome = Result<Applied, Box<Failure>>;

pub async fn answer(provider: &Provider, resource: ResourceType<'_>, request: &ApplyRequest) -> Outcome {
    let r#type = resource.schema.block.r#type();
    let prior = value::decode(request.prior_state.as_ref(), &r#type).map_err(diagnostic)?;
    let planned = value::decode(request.planned_state.as_ref(), &r#type).map_err(diagnostic)?;
    match (prior.is_null(), planned.is_null()) {
        (true, false) => create(provider, resource, planned).await,
        (false, false) => update(provider, resource, &request.planned_private, &prior, planned).await,
        (false, true) => destroy(provider, resource, &request.planned_private, &prior, &r#type).await,
        (true, true) => gone(&r#type),
    }
}

async fn create(provider: &Provider, resource: ResourceType<'_>, mut planned: Json) -> Outcome {
    // What was unknown to the plan has been checked by nobody yet.
    if let Some(fault) = provider.cloud.faults(resource.name, &value::known(planned.clone())).into_iter().next() {
        return Err(fault.into());
    }
    let (session, _) = provider.ready()?;
    complete(provider, resource, session, &mut planned);
    if let Some((message, delay)) = refusal_on_request(provider, resource, &planned)? {
        sleep(delay).await;
        return Err(Diagnostic::error(message).into());
    }
    let (object, partial) = accept_create(provider, resource, session, planned)?;
    sleep(object.ready_at.remaining()).await;
    let applied = applied(resource, &object)?;
    match partial {
        Some(error) => Err(Box::new(Failure { error, applied: Some(applied) })),
        None => Ok(applied),
    }
}

/// All that the cloud decides about a create, in one turn of the world's lock.
fn accept_create(
    provider: &Provider,
    resource: ResourceType<'_>,
    session: &Session,
    mut planned: Json,
) -> Result<(Object, Option<Diagnostic>), Box<Failure>> {
    let (_, world) = provider.ready()?;
    let world = world.lock().map_err(diagnostic)?;
    let request = provider.request(resource, Action::Create, &planned, session, &world);
    provider.cloud.reach(&request).map_err(|error| request.error(&error))?;
    let partial = request.strike()?;
    request.refused()?;
    provider.cloud.check(&request).map_err(|refusal| refusal.diagnostic(&request))?;
    let address = provider.address(resource, session, &[], &planned);
    let taken = world.find(&address).map_err(diagnostic)?.is_some();
    if taken {
        return Err(request.error(&request.exists()).into());
    }
    let filled = provider.cloud.look(&request).map_err(diagnostic)?;
    let region = request.region();
    if let (Some(filled), Some(values)) = (filled, planned.as_object_mut()) {
        values.extend(filled);
    }
    let takes = takes(provider, resource, Action::Create, &planned, world.settings().map_err(diagnostic)?.pace);
    let host = resource.conduct.host.as_deref();
    let host = host.map(|host| clouds::host(&template::text(host, &Scope { values: &planned, session })));
    let object = world.create(address, &region, host, planned, takes).map_err(diagnostic)?;
    Ok((object, partial))
}

async fn update(
    provider: &Provider,
    resource: ResourceType<'_>,
    private: &[u8],
    prior: &Json,
    mut planned: Json,
) -> Outcome {
    if let Some(fault) = provider.cloud.faults(resource.name, &value::known(planned.clone())).into_iter().next() {
        return Err(fault.into());
    }
    let (session, world) = provider.ready()?;
    complete(provider, resource, session, &mut planned);
    let (object, takes) = {
        let world = world.lock().map_err(diagnostic)?;
        let request = provider.request(resource, Action::Update, &planned, session, &world);
        provider.cloud.reach(&request).map_err(|error| request.error(&error))?;
        request.strike()?;
        let address = provider.address(resource, session, private, prior);
        let found = world.find(&address).map_err(diagnostic)?.filter(|object| object.gone_at.is_none());
        let noun = resource.conduct.noun(resource.name);
        let found = found.ok_or_else(|| {
            let id = value::text(prior, "id");
            request.error(&format!("NoSuchEntity: the {noun} {id} does not exist"))
        })?;
        request.refused()?;
        provider.cloud.check(&request).map_err(|refusal| refusal.diagnostic(&request))?;
        let pace = world.settings().map_err(diagnostic)?.pace;
        let takes = takes(provider, resource, Action::Update, &planned, pace);
        (world.update(found, planned).map_err(diagnostic)?, takes)
    };
    sleep(takes).await;
    applied(resource, &object)
}

async fn destroy(
    provider: &Provider,
    resource: ResourceType<'_>,
    private: &[u8],
    prior: &Json,
    r#type: &Type,
) -> Outcome {
    let (session, world) = provider.ready()?;
    let address = provider.address(resource, session, private, prior);
    let gone_at = {
        let world = world.lock().map_err(diagnostic)?;
        let request = provider.request(resource, Action::Destroy, prior, session, &world);
        provider.cloud.reach(&request).map_err(|error| request.error(&error))?;
        request.strike()?;
        let Some(object) = world.find(&address).map_err(diagnostic)? else { return gone(r#type) };
        let request = provider.request(resource, Action::Destroy, &object.attributes, session, &world);
        request.held()?;
        provider.cloud.check(&request).map_err(|refusal| refusal.diagnostic(&request))?;
        let pace = world.settings().map_err(diagnostic)?.pace;
        let takes = takes(provider, resource, Action::Destroy, &object.attributes, pace);
        world.destroy(object.clone(), takes).map_err(diagnostic)?
    };
    sleep(gone_at.remaining()).await;
    // To look is to clear away.
    world.lock().and_then(|world| world.find(&address)).map_err(diagnostic)?;
    gone(r#type)
}

fn complete(provider: &Provider, resource: ResourceType<'_>, session: &Session, planned: &mut Json) {
    let templates = Templates {
        id: &resource.conduct.id,
        values: &resource.conduct.values,
        blocks: Some(&resource.conduct.blocks),
        manner: &provider.catalogue.conduct.provider,
        made_up: true,
    };
    provider.cloud.complete(resource.name, session, planned);
    fill(&resource.schema.block, &templates, session, planned);
}

/// The object's own wish to be refused, and after how long.
fn refusal_on_request(
    provider: &Provider,
    resource: ResourceType<'_>,
    planned: &Json,
) -> Result<Option<(String, Duration)>, Diagnostic> {
    let Some(clouds::Refusing { message, times, after }) = provider.cloud.refuses(resource.name, planned) else {
        return Ok(None);
    };
    let (_, world) = provider.ready()?;
    let name = value::text(planned, "name");
    let count = world.lock().and_then(|world| world.count_failure(resource.name, name, times));
    let earlier = count.map_err(diagnostic)?;
    Ok(times.is_none_or(|times| earlier < times).then_some((message, after)))
}

fn takes(provider: &Provider, resource: ResourceType<'_>, action: Action, values: &Json, pace: Pace) -> Duration {
    let takes = &resource.conduct.takes;
    let real = match action {
        Action::Create => takes.create,
        Action::Update => takes.update,
        Action::Destroy => takes.destroy,
        Action::Read => 0,
    };
    provider.cloud.takes(action, values).unwrap_or_else(|| pace.of(Duration::from_secs(real)))
}

fn applied(resource: ResourceType<'_>, object: &Object) -> Outcome {
    Ok(Applied { state: state(resource, &object.attributes)?, private: object.address.key.clone().into_bytes() })
}

fn gone(r#type: &Type) -> Outcome {
    Ok(Applied { state: value::encode(&Json::Null, r#type).map_err(diagnostic)?, private: Vec::new() })
}
