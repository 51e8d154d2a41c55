//! What the cloud makes of what only it can tell: by the conduct that is written down, and else by a guess that fits.

use serde_json::{Value as Json, json};

use crate::{
    conduct::Manner,
    random,
    schema::{Attribute, Block, Flags, Kind, Type},
    template::{self, Scope},
    value::{self, Values},
};

use super::Session;

/// Templates may refer to what other templates fill; longer chains than this do not occur.
const PASSES: usize = 5;

/// Templates for what is to be filled, by path.
pub struct Templates<'a> {
    pub id: &'a str,
    pub values: &'a Values,
    pub blocks: Option<&'a Values>,
    pub manner: &'a Manner,
    /// Whether what nobody has written down is made up, another each time; else it is empty, and always so.
    pub made_up: bool,
}

/// Fills every unknown part.
pub fn fill(block: &Block, templates: &Templates<'_>, session: &Session, values: &mut Json) {
    for _ in 0..PASSES {
        let so_far = values.clone();
        let scope = Scope { values: &so_far, session };
        visit(block, "", values, &mut |path, r#type, _, unknown| {
            let found = templates.find(path).and_then(|template| template::expand(&template, &scope));
            if let Some(found) = found {
                *unknown = conform(found, r#type);
            }
        });
        if value::is_known(values) {
            break;
        }
    }
    visit(block, "", values, &mut |path, r#type, flags, unknown| {
        *unknown = guess(path, r#type, flags, templates.made_up);
    });
    block.fill_absent_blocks(values);
}

impl Templates<'_> {
    fn find(&self, path: &str) -> Option<Json> {
        let written = self.values.get(path).or_else(|| self.blocks.and_then(|blocks| blocks.get(path)));
        written.cloned().or_else(|| match path {
            "id" if !self.id.is_empty() => Some(Json::from(self.id)),
            _ => self.manner.values.get(path).cloned(),
        })
    }
}

type Visitor<'a> = dyn FnMut(&str, &Type, Flags, &mut Json) + 'a;

/// Each unknown part, with its path.
fn visit(block: &Block, prefix: &str, value: &mut Json, visitor: &mut Visitor<'_>) {
    visit_attributes(&block.attributes, prefix, value, visitor);
    for nested in &block.blocks {
        let Some(field) = value.get_mut(&nested.name) else { continue };
        let path = format!("{prefix}{}", nested.name);
        if value::is_unknown(field) {
            visitor(&path, &nested.r#type(), Flags { computed: true, ..Flags::default() }, field);
            continue;
        }
        for element in nested.nesting.elements(field) {
            visit(&nested.block, &format!("{path}."), element, visitor);
        }
    }
}

fn visit_attributes(attributes: &[Attribute], prefix: &str, value: &mut Json, visitor: &mut Visitor<'_>) {
    for attribute in attributes {
        let Some(field) = value.get_mut(&attribute.name) else { continue };
        let path = format!("{prefix}{}", attribute.name);
        if value::is_unknown(field) {
            visitor(&path, &attribute.r#type(), attribute.flags, field);
        } else if let Kind::Nested(nesting, inner) = &attribute.kind {
            for element in nesting.elements(field) {
                visit_attributes(inner, &format!("{path}."), element, visitor);
            }
        }
    }
}

/// A value in the type that is wanted: templates are texts, and leave out of an object what it does not need.
pub fn conform(value: Json, r#type: &Type) -> Json {
    match (r#type, value) {
        (_, Json::Null) => Json::Null,
        (Type::String, Json::String(text)) => Json::String(text),
        (Type::String, other) => Json::String(other.to_string()),
        (Type::Number, Json::String(text)) => text.parse().map_or(Json::Null, Json::Number),
        (Type::Bool, Json::String(text)) => text.parse().map_or(Json::Null, Json::Bool),
        (Type::List(of) | Type::Set(of), Json::Array(elements)) => {
            elements.into_iter().map(|element| conform(element, of)).collect()
        }
        (Type::List(_) | Type::Set(_), Json::String(text)) if text.is_empty() => json!([]),
        (Type::List(of) | Type::Set(of), single) => json!([conform(single, of)]),
        (Type::Map(of), Json::Object(entries)) => {
            Json::Object(entries.into_iter().map(|(key, value)| (key, conform(value, of))).collect())
        }
        (Type::Map(_), _) => json!({}),
        (Type::Object(of), Json::Object(mut fields)) => {
            let fields =
                of.iter().map(|(name, of)| (name.clone(), conform(fields.remove(name).unwrap_or_default(), of)));
            Json::Object(fields.collect())
        }
        (_, value) => value,
    }
}

/// Something of the right type. What the user could have set and did not is empty.
fn guess(path: &str, r#type: &Type, flags: Flags, made_up: bool) -> Json {
    let name = path.rsplit('.').next().unwrap_or(path);
    match r#type {
        Type::String if name == "id" && !made_up => json!("-"),
        Type::String if !made_up || flags.optional && name != "id" => json!(""),
        Type::String if name == "id" => json!(random::hex(16)),
        Type::String => json!(format!("{}-{}", name.replace('_', "-"), random::hex(8))),
        Type::Number => json!(0),
        Type::Bool => json!(false),
        Type::Dynamic => Json::Null,
        Type::List(_) | Type::Set(_) => json!([]),
        Type::Map(_) => json!({}),
        Type::Object(fields) => {
            Json::Object(fields.iter().map(|(name, of)| (name.clone(), guess(name, of, flags, made_up))).collect())
        }
        Type::Tuple(of) => of.iter().map(|of| guess(path, of, flags, made_up)).collect(),
    }
}
