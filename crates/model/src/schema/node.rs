//! A schema as the walks over it need it: one entry per subschema, references resolved, assertions compiled.

use std::collections::BTreeMap;

use serde_json::Value;

use super::assertion::{Assertions, Pattern};

pub(super) type NodeId = usize;

#[derive(Default)]
pub(super) struct Node {
    /// Where it stands in the schema, for messages.
    pub at: String,
    /// The schema `false`.
    pub never: bool,
    /// OpenAPI's `nullable`: null passes whatever else is said, as in `{"$ref": …, "nullable": true}`.
    pub nullable: bool,
    /// Whether `type` has objects in it, where there is a `type`.
    pub object: Option<bool>,
    pub assertions: Option<Assertions>,
    pub default: Option<Value>,

    pub reference: Option<NodeId>,
    pub all_of: Vec<NodeId>,
    pub any_of: Vec<NodeId>,
    pub one_of: Vec<NodeId>,
    pub not: Option<NodeId>,
    pub condition: Option<NodeId>,
    pub then: Option<NodeId>,
    pub otherwise: Option<NodeId>,
    pub dependent: Vec<(String, NodeId)>,

    pub properties: BTreeMap<String, NodeId>,
    pub patterns: Vec<(Pattern, NodeId)>,
    pub additional: Option<NodeId>,
    pub names: Option<NodeId>,
    pub unevaluated_properties: Option<NodeId>,

    pub prefix: Vec<NodeId>,
    pub items: Option<NodeId>,
    pub contains: Option<Contains>,
    pub unevaluated_items: Option<NodeId>,
}

pub(super) struct Contains {
    pub node: NodeId,
    pub least: u64,
    pub most: Option<u64>,
}

impl Node {
    /// The subschemas held against the same value as this one, as often as validation may do so.
    pub(super) fn in_place(&self) -> impl Iterator<Item = NodeId> + '_ {
        let once = || {
            (self.reference.iter().chain(&self.all_of).chain(&self.any_of).chain(&self.one_of))
                .copied()
                .chain([self.not, self.condition, self.then, self.otherwise].into_iter().flatten())
                .chain(self.dependent.iter().map(|(_, node)| *node))
        };
        // To know what is left over, the branches are asked a second time whether they match.
        let again = self.unevaluated_properties.is_some() || self.unevaluated_items.is_some();
        once().chain(again.then(once).into_iter().flatten())
    }

    /// The subschemas held against the values inside.
    pub(super) fn within(&self) -> impl Iterator<Item = NodeId> + '_ {
        (self.properties.values().copied())
            .chain(self.patterns.iter().map(|(_, node)| *node))
            .chain([self.additional, self.names, self.unevaluated_properties].into_iter().flatten())
            .chain(self.prefix.iter().copied())
            .chain([self.items, self.unevaluated_items].into_iter().flatten())
            .chain(self.contains.iter().map(|contains| contains.node))
    }
}

/// Whether a schema is of objects, `None` where it does not say. In-place cycles have been refused by now, so this ends.
pub(super) fn describes_object(nodes: &[Node], id: NodeId) -> Option<bool> {
    let node = &nodes[id];
    if node.object.is_some() {
        return node.object;
    }
    if !node.properties.is_empty() || node.additional.is_some() {
        return Some(true);
    }
    let all: Vec<_> =
        (node.reference.iter().chain(&node.all_of)).filter_map(|inner| describes_object(nodes, *inner)).collect();
    if !all.is_empty() {
        return Some(all.into_iter().all(|object| object));
    }
    let branches: Vec<_> =
        (node.any_of.iter().chain(&node.one_of)).map(|inner| describes_object(nodes, *inner) == Some(true)).collect();
    (!branches.is_empty()).then(|| branches.into_iter().all(|object| object))
}
