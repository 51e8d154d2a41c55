//! What a change would come to: a pure function of what was, what Terraform proposes and what the user wrote.

use crate::{
    protocol::{AttributePath, PlanRequest, PlanResponse},
    schema::{Attribute, ResourceType, Usage},
    value::{self, Fields, ValueError},
};

pub fn answer(resource: &ResourceType, request: &PlanRequest) -> Result<PlanResponse, ValueError> {
    let prior = Fields::decode(request.prior_state.as_ref())?;
    let Some(proposed) = Fields::decode(request.proposed_new_state.as_ref())? else {
        return Ok(PlanResponse { planned_state: Some(value::null()), ..PlanResponse::default() });
    };
    let config = Fields::decode(request.config.as_ref())?.unwrap_or_default();
    let planned = plan(resource.attributes, prior.as_ref(), proposed, &config);
    let replacing = prior.map(|prior| replacing(resource.attributes, &prior, &planned)).unwrap_or_default();
    Ok(PlanResponse {
        planned_state: Some(planned.encode()),
        requires_replace: replacing.into_iter().map(AttributePath::to).collect(),
        diagnostics: Vec::new(),
    })
}

/// The proposal, with defaults filled in, and unknown where only the cloud can tell.
fn plan(attributes: &[Attribute], prior: Option<&Fields>, proposed: Fields, config: &Fields) -> Fields {
    let mut planned = proposed;
    for attribute in attributes {
        match attribute.usage {
            // Terraform proposes the old value where the user names none; but taking a value back means the default.
            Usage::Default(default) if config.get(attribute.name).is_nil() => {
                planned.set(attribute.name, default.into());
            }
            Usage::Computed if prior.is_none() => planned.set(attribute.name, value::unknown()),
            Usage::Required | Usage::Optional | Usage::Default(_) | Usage::Computed => {}
        }
    }
    planned
}

/// The attributes whose change means a new object.
fn replacing(attributes: &[Attribute], prior: &Fields, planned: &Fields) -> Vec<&'static str> {
    let changed = |attribute: &&Attribute| prior.get(attribute.name) != planned.get(attribute.name);
    attributes.iter().filter(|attribute| attribute.replaces).filter(changed).map(|attribute| attribute.name).collect()
}
