//! Tags and labels: what the provider adds to those of a resource, and how resources are found by them.

use serde_json::{Map, Value as Json, json};

use crate::value;

/// The provider's own tags and the resource's, which win; unknown as long as one of them is.
pub fn merged(defaults: Option<&Json>, own: Option<&Json>) -> Json {
    let mut all = Map::new();
    for tags in [defaults, own].into_iter().flatten() {
        if !value::is_known(tags) {
            return value::unknown();
        }
        all.extend(tags.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
    }
    all.retain(|_, value| !value.is_null());
    Json::Object(all)
}

/// All tags of an object, under whichever name its cloud has them.
pub fn of(attributes: &Json) -> Json {
    let names = ["tags_all", "effective_labels", "tags", "labels"];
    let found = names.into_iter().map(|name| &attributes[name]).find(|tags| tags.is_object() || tags.is_array());
    found.cloned().unwrap_or_else(|| json!({}))
}

/// Whether an object has all of these.
pub fn have(attributes: &Json, wanted: &Json) -> bool {
    let tags = of(attributes);
    wanted.as_object().is_none_or(|wanted| wanted.iter().all(|(key, value)| tags.get(key) == Some(value)))
}
