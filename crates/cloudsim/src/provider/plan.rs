//! What a change would come to: a function of what was, what Terraform proposes and what the user wrote.

use serde_json::Value as Json;

use crate::{
    clouds::Cloud,
    protocol::{AttributePath, PlanRequest, PlanResponse},
    schema::{Attribute, Block, Kind, Nesting},
    value::{self, ValueError},
};

use super::{ResourceType, Session};

pub fn answer(
    resource: ResourceType<'_>,
    cloud: &dyn Cloud,
    session: &Session,
    request: &PlanRequest,
) -> Result<PlanResponse, ValueError> {
    let r#type = resource.schema.block.r#type();
    let prior = value::decode(request.prior_state.as_ref(), &r#type)?;
    let proposed = value::decode(request.proposed_new_state.as_ref(), &r#type)?;
    let config = value::decode(request.config.as_ref(), &r#type)?;
    let mut response = PlanResponse {
        planned_private: request.prior_private.clone(),
        legacy_type_system: true,
        ..PlanResponse::default()
    };
    let planned =
        if proposed.is_null() { Json::Null } else { plan(resource, cloud, session, &prior, proposed, &config) };
    if !prior.is_null() && !planned.is_null() {
        response.requires_replace = replacing(resource, &prior, &planned);
    }
    response.planned_state = Some(value::encode(&planned, &r#type)?);
    Ok(response)
}

/// The proposal, with defaults filled in, and unknown where only the cloud can tell.
fn plan(
    resource: ResourceType<'_>,
    cloud: &dyn Cloud,
    session: &Session,
    prior: &Json,
    proposed: Json,
    config: &Json,
) -> Json {
    let mut planned = proposed;
    mark(&resource.schema.block, prior, &mut planned);
    for (path, default) in &resource.conduct.defaults {
        set_default(path, config, &mut planned, default);
    }
    for name in resource.conduct.blocks.keys() {
        let unwritten = config.get(name).is_none_or(|block| block.is_null() || block == &Json::Array(Vec::new()));
        if unwritten {
            planned[name] = if prior.is_null() { value::unknown() } else { prior[name].clone() };
        }
    }
    cloud.plan(resource, session, config, &mut planned);
    if !prior.is_null() && planned != *prior {
        for name in resource.conduct.renewed.iter().filter(|name| config[name.as_str()].is_null()) {
            planned[name] = value::unknown();
        }
    }
    planned
}

/// What is computed and has no value becomes unknown, wherever it was not before. What is write-only is not kept.
fn mark(block: &Block, prior: &Json, planned: &mut Json) {
    mark_attributes(&block.attributes, prior, planned);
    for nested in &block.blocks {
        let before = prior.get(&nested.name).cloned().unwrap_or_default();
        each(nested.nesting, &before, planned.get_mut(&nested.name), |before, element| {
            mark(&nested.block, before, element);
        });
    }
}

fn mark_attributes(attributes: &[Attribute], prior: &Json, planned: &mut Json) {
    let Some(fields) = planned.as_object_mut() else { return };
    for attribute in attributes {
        let Some(field) = fields.get_mut(&attribute.name) else { continue };
        if attribute.flags.write_only {
            *field = Json::Null;
        } else if field.is_null() {
            if attribute.flags.computed && prior.is_null() {
                *field = value::unknown();
            }
        } else if let Kind::Nested(nesting, inner) = &attribute.kind {
            let before = prior.get(&attribute.name).cloned().unwrap_or_default();
            each(*nesting, &before, Some(field), |before, element| mark_attributes(inner, before, element));
        }
    }
}

/// Each object in a collection, with what it was before.
fn each(nesting: Nesting, prior: &Json, value: Option<&mut Json>, mut visit: impl FnMut(&Json, &mut Json)) {
    let Some(value) = value.filter(|value| !value::is_unknown(value)) else { return };
    let keys: Vec<_> = value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    for (place, element) in nesting.elements(value).into_iter().enumerate() {
        let before = match nesting {
            // A set has no places: what says the same so far is the same.
            Nesting::Set => {
                let mut elements = prior.as_array().into_iter().flatten();
                elements.find(|before| says_the_same(before, element)).cloned().unwrap_or_default()
            }
            _ => nesting.counterpart(prior, place, keys.get(place).map(String::as_str)),
        };
        visit(&before, element);
    }
}

fn says_the_same(before: &Json, element: &Json) -> bool {
    let Some(fields) = element.as_object() else { return before == element };
    fields.iter().all(|(name, value)| value.is_null() || before.get(name) == Some(value))
}

/// Puts a default where the user says nothing; in blocks, where there is a block.
fn set_default(path: &str, config: &Json, planned: &mut Json, default: &Json) {
    if let Json::Array(elements) = planned {
        for (at, element) in elements.iter_mut().enumerate() {
            set_default(path, config.get(at).unwrap_or(&Json::Null), element, default);
        }
        return;
    }
    let Some(fields) = planned.as_object_mut() else { return };
    match path.split_once('.') {
        Some((name, rest)) => {
            if let Some(field) = fields.get_mut(name).filter(|field| !value::is_unknown(field)) {
                set_default(rest, config.get(name).unwrap_or(&Json::Null), field, default);
            }
        }
        None if config.get(path).is_none_or(Json::is_null) && fields.contains_key(path) => {
            fields.insert(path.to_owned(), default.clone());
        }
        None => {}
    }
}

/// The attributes whose change means a new object.
fn replacing(resource: ResourceType<'_>, prior: &Json, planned: &Json) -> Vec<AttributePath> {
    let changed = |path: &&String| value::at(prior, path) != value::at(planned, path);
    let mut names: Vec<_> =
        resource.conduct.replaces.iter().filter(changed).filter_map(|path| path.split('.').next()).collect();
    names.dedup();
    names.into_iter().map(AttributePath::to).collect()
}
