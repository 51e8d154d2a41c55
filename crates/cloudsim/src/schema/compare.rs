//! Where two descriptions of one provider differ. The first may know fewer types than the second, but what it says of a
//! type it says in full.

use std::collections::BTreeMap;

use super::{Attribute, Block, Kind, ProviderSchema, Schema};

/// One line per difference; none, if what `ours` says is what `theirs` says.
pub fn differences(ours: &ProviderSchema, theirs: &ProviderSchema) -> Vec<String> {
    let mut found = Vec::new();
    compare_blocks(&format!("provider {}", ours.name()), &ours.config, &theirs.config, &mut found);
    compare_schemas("resource", &ours.resources, &theirs.resources, &mut found);
    compare_schemas("data", &ours.data_sources, &theirs.data_sources, &mut found);
    found
}

fn compare_schemas(
    kind: &str,
    ours: &BTreeMap<String, Schema>,
    theirs: &BTreeMap<String, Schema>,
    found: &mut Vec<String>,
) {
    for (name, ours) in ours {
        let place = format!("{kind} {name}");
        let Some(theirs) = theirs.get(name) else {
            found.push(format!("{place}: there is no such type"));
            continue;
        };
        if ours.version != theirs.version {
            found.push(format!("{place}: version {} should be {}", ours.version, theirs.version));
        }
        compare_blocks(&place, &ours.block, &theirs.block, found);
    }
}

fn compare_blocks(place: &str, ours: &Block, theirs: &Block, found: &mut Vec<String>) {
    compare_attributes(place, &ours.attributes, &theirs.attributes, found);
    for block in &ours.blocks {
        let place = format!("{place}.{}", block.name);
        match theirs.blocks.iter().find(|other| other.name == block.name) {
            None => found.push(format!("{place}: there is no such block")),
            Some(other) => {
                let ours = (block.nesting, block.min, block.max);
                let theirs = (other.nesting, other.min, other.max);
                if ours != theirs {
                    found.push(format!("{place}: nesting {ours:?} should be {theirs:?}"));
                }
                compare_blocks(&place, &block.block, &other.block, found);
            }
        }
    }
    let missing = theirs.blocks.iter().filter(|other| !ours.blocks.iter().any(|block| block.name == other.name));
    found.extend(missing.map(|block| format!("{place}.{}: the block is missing", block.name)));
}

fn compare_attributes(place: &str, ours: &[Attribute], theirs: &[Attribute], found: &mut Vec<String>) {
    for attribute in ours {
        let place = format!("{place}.{}", attribute.name);
        let Some(other) = theirs.iter().find(|other| other.name == attribute.name) else {
            found.push(format!("{place}: there is no such attribute"));
            continue;
        };
        if attribute.flags != other.flags {
            found.push(format!("{place}: {:?} should be {:?}", attribute.flags, other.flags));
        }
        match (&attribute.kind, &other.kind) {
            (Kind::Nested(nesting, inner), Kind::Nested(other_nesting, other_inner)) if nesting == other_nesting => {
                compare_attributes(&place, inner, other_inner, found);
            }
            (kind, other) if kind == other => {}
            (_, _) => found.push(format!("{place}: {} should be {}", attribute.r#type(), other.r#type())),
        }
    }
    let missing = theirs.iter().filter(|other| !ours.iter().any(|attribute| attribute.name == other.name));
    found.extend(missing.map(|attribute| format!("{place}.{}: the attribute is missing", attribute.name)));
}
