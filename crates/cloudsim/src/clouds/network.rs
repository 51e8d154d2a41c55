//! Networks within networks.

use ipnet::IpNet;
use serde_json::Value as Json;

use crate::{value, world::Object};

pub fn networks(values: &Json, path: &str) -> Vec<IpNet> {
    value::at(values, path).into_iter().filter_map(|text| text.as_str()?.parse().ok()).collect()
}

/// Whether each of the inner networks is within one of the outer.
pub fn within(inner: &[IpNet], outer: &[IpNet]) -> bool {
    inner.iter().all(|inner| outer.iter().any(|outer| outer.contains(inner)))
}

pub fn overlap(a: &[IpNet], b: &[IpNet]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.contains(b) || b.contains(a)))
}

/// An object, other than this one, whose networks overlap with these.
pub fn overlapping<'a>(objects: &'a [Object], id: &str, path: &str, networks: &[IpNet]) -> Option<&'a Object> {
    let mut others = objects.iter().filter(|object| object.id != id);
    others.find(|object| overlap(&self::networks(&object.attributes, path), networks))
}
