//! Which fields and items of a value some subschema has spoken for; `unevaluatedProperties` and `unevaluatedItems` get the rest.

use std::collections::HashSet;

use serde_json::Value;

use super::check::Check;
use super::meter::Exhausted;
use super::node::{Node, NodeId};
use super::path::Segment;

impl Check<'_> {
    /// Adds what `node` itself and the branches that match have evaluated, `unevaluated…` of the node itself left out.
    pub(super) fn evaluated<'v>(
        &mut self,
        node: &Node,
        value: &'v Value,
        seen: &mut HashSet<Segment<'v>>,
    ) -> Result<(), Exhausted> {
        self.meter.enter()?;
        self.own(node, value, seen)?;
        for inner in node.reference.iter().chain(&node.all_of) {
            self.inherited(*inner, value, seen)?;
        }
        for branch in node.any_of.iter().chain(&node.one_of) {
            if self.is_valid(*branch, value)? {
                self.inherited(*branch, value, seen)?;
            }
        }
        if let Some(condition) = node.condition {
            let holds = self.is_valid(condition, value)?;
            if holds {
                self.inherited(condition, value, seen)?;
            }
            if let Some(branch) = if holds { node.then } else { node.otherwise } {
                self.inherited(branch, value, seen)?;
            }
        }
        for (key, inner) in &node.dependent {
            if value.get(key).is_some() {
                self.inherited(*inner, value, seen)?;
            }
        }
        self.meter.leave();
        Ok(())
    }

    fn inherited<'v>(
        &mut self,
        id: NodeId,
        value: &'v Value,
        seen: &mut HashSet<Segment<'v>>,
    ) -> Result<(), Exhausted> {
        let nodes = self.nodes;
        let node = &nodes[id];
        if node.unevaluated_properties.is_some() || node.unevaluated_items.is_some() {
            // It has passed, so that what was left over there has been evaluated by that.
            everything(value, seen, node);
        }
        self.evaluated(node, value, seen)
    }

    fn own<'v>(&mut self, node: &Node, value: &'v Value, seen: &mut HashSet<Segment<'v>>) -> Result<(), Exhausted> {
        match value {
            Value::Object(members) => {
                for key in members.keys() {
                    self.meter.spend(1)?;
                    let spoken_for = node.additional.is_some()
                        || node.properties.contains_key(key)
                        || !self.matched(node, key)?.is_empty();
                    if spoken_for {
                        seen.insert(Segment::Key(key));
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.meter.spend(1)?;
                    let contained = match &node.contains {
                        Some(contains) => self.is_valid(contains.node, item)?,
                        None => false,
                    };
                    if contained || node.items.is_some() || index < node.prefix.len() {
                        seen.insert(Segment::Index(index));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn everything<'v>(value: &'v Value, seen: &mut HashSet<Segment<'v>>, node: &Node) {
    match value {
        Value::Object(members) if node.unevaluated_properties.is_some() => {
            seen.extend(members.keys().map(|key| Segment::Key(key)));
        }
        Value::Array(items) if node.unevaluated_items.is_some() => {
            seen.extend((0..items.len()).map(Segment::Index));
        }
        _ => {}
    }
}
