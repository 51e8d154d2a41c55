//! Data sources: what they answer is what the simulated cloud holds, or what the conduct says of the cloud as such.

use serde_json::{Value as Json, json};

use crate::{
    conduct::{Conduct, DataConduct},
    protocol::{ConfigRequest, Diagnostic, DynamicValue},
    schema::{Block, Schema},
    template, value,
    world::Action,
};

use super::{
    Provider, Request, ResourceType, diagnostic,
    fill::{Templates, conform, fill},
};

pub fn answer(provider: &Provider, request: &ConfigRequest) -> Result<DynamicValue, Diagnostic> {
    let name = request.type_name.as_str();
    let schema = provider.catalogue.schema.data_sources.get(name);
    let schema = schema.ok_or_else(|| Diagnostic::error(format!("{} has no data source {name}", provider.name())))?;
    let none = DataConduct::default();
    let conduct = provider.catalogue.conduct.data.get(name).unwrap_or(&none);
    let mut values = value::decode(request.config.as_ref(), &schema.block.r#type()).map_err(diagnostic)?;
    let (session, world) = provider.ready()?;
    let world = world.lock().map_err(diagnostic)?;

    let data_name = format!("data.{name}");
    let behaviour = Conduct { noun: name.replace('_', " "), ..Conduct::default() };
    let resource = ResourceType { name: &data_name, schema, conduct: &behaviour };
    let config = values.clone();
    let asked = provider.request(resource, Action::Read, &config, session, &world);
    provider.cloud.reach(&asked).map_err(|error| asked.error(&error))?;
    asked.strike().map_err(|error| *error)?;
    let shown = match provider.cloud.data(name, &asked) {
        Some(found) => found.map_err(|refusal| refusal.diagnostic(&asked))?,
        None => show(provider, schema, conduct, name, &asked)?,
    };
    adopt(&schema.block, shown, &mut values);
    mark(&schema.block, &mut values);
    let templates = Templates {
        id: "",
        values: &conduct.values,
        blocks: None,
        manner: &provider.catalogue.conduct.provider,
        made_up: false,
    };
    fill(&schema.block, &templates, session, &mut values);
    value::encode(&values, &schema.block.r#type()).map_err(diagnostic)
}

/// The object that a data source of the same kind shows.
fn show(
    provider: &Provider,
    schema: &Schema,
    conduct: &DataConduct,
    name: &str,
    asked: &Request<'_>,
) -> Result<Json, Diagnostic> {
    let same = provider.catalogue.schema.resources.contains_key(name).then_some(name);
    let Some(shown) = conduct.of.as_deref().or(same) else { return Ok(Json::Null) };
    let wanted =
        schema.block.attributes.iter().filter(|attribute| attribute.flags.required || attribute.flags.optional);
    let wanted: Vec<_> = wanted
        .map(|attribute| (conduct.by.get(&attribute.name).unwrap_or(&attribute.name), &asked.values[&attribute.name]))
        .filter(|(_, value)| !value.is_null())
        .collect();
    let metadata: Vec<_> = ["metadata.name", "metadata.namespace"]
        .into_iter()
        .map(|path| (path, value::text(asked.values, path)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let objects = asked.objects(shown).map_err(diagnostic)?;
    let found = objects.into_iter().find(|object| {
        wanted.iter().all(|(name, value)| same_text(&object.attributes[name.as_str()], value))
            && metadata.iter().all(|(path, text)| value::text(&object.attributes, path) == *text)
    });
    let described: Vec<_> = wanted.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let missing = conduct.missing.as_deref().unwrap_or(&provider.catalogue.conduct.provider.missing);
    let missing = || {
        let known = described.join(", ").replace('"', "");
        asked.error(&template::replace(missing, |hole| match hole {
            "value" => known.clone(),
            "missing" => shown.replace('_', " "),
            hole => format!("{{{hole}}}"),
        }))
    };
    found.map(|object| object.attributes).ok_or_else(missing)
}

fn same_text(is: &Json, wanted: &Json) -> bool {
    let plain = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    is == wanted || plain(is) == plain(wanted)
}

/// Takes over what was found, as far as the data source shows it and the user did not say it.
fn adopt(block: &Block, shown: Json, values: &mut Json) {
    let (Json::Object(mut shown), Json::Object(values)) = (shown, values) else { return };
    for attribute in &block.attributes {
        if let Some(found) = shown.remove(&attribute.name)
            && values.get(&attribute.name).is_none_or(Json::is_null)
        {
            values.insert(attribute.name.clone(), conform(found, &attribute.r#type()));
        }
    }
    for nested in &block.blocks {
        let unsaid = values.get(&nested.name).is_none_or(|said| said.is_null() || *said == json!([]));
        if let Some(found) = shown.remove(&nested.name)
            && unsaid
        {
            let mut found = conform(found, &nested.r#type());
            for element in nested.nesting.elements(&mut found) {
                nested.block.fill_absent_blocks(element);
            }
            values.insert(nested.name.clone(), found);
        }
    }
}

/// What is still to be told.
fn mark(block: &Block, values: &mut Json) {
    let Json::Object(fields) = values else { return };
    for attribute in block.attributes.iter().filter(|attribute| attribute.flags.computed) {
        let field = fields.entry(attribute.name.clone()).or_insert(Json::Null);
        if field.is_null() {
            *field = value::unknown();
        }
    }
    for nested in &block.blocks {
        if let Some(field) = fields.get_mut(&nested.name) {
            for element in nested.nesting.elements(field) {
                mark(&nested.block, element);
            }
        }
    }
}
