//! Establishes, before a type is accepted, that no document can make validation explode.
//!
//! Two things multiply: subschemas held against the same value (`allOf` of `$ref`s, level upon level), and branches that descend
//! into the same key and come back to the same recursive node, which doubles the work at each level of the *document*. So the
//! number of subschemas held against one value is computed for values at every depth that a document can have; a tree of
//! `$ref`s that visits each child once keeps it constant, and is accepted.

use std::collections::HashMap;

use super::limits;
use super::node::{Node, NodeId};
use super::violation::Violation;

/// The subschemas held against one value, repetitions included.
type Closure = Vec<NodeId>;

pub(super) fn check(nodes: &[Node]) -> Result<(), Violation> {
    let mut closures = Closures { nodes, known: vec![None; nodes.len()], open: vec![false; nodes.len()] };
    for id in 0..nodes.len() {
        closures.of(id)?;
    }
    let closures: Vec<Closure> = closures.known.into_iter().map(Option::unwrap_or_default).collect();
    let mut work = limits::ANALYSIS_STEPS;
    let mut layer: Vec<u64> = closures.iter().map(|closure| closure.len() as u64).collect();
    for _ in 0..=limits::SPEC_DEPTH {
        let mut next = Vec::with_capacity(nodes.len());
        for (id, closure) in closures.iter().enumerate() {
            let applications = deeper(nodes, closure, &layer, &mut work).ok_or_else(|| {
                Violation::new(&nodes[id].at, "a schema whose cost can be bounded", "one too complex to")
            })?;
            if applications > limits::APPLICATIONS {
                return Err(Violation::new(
                    &nodes[id].at,
                    format!("at most {} subschemas for one value of a document", limits::APPLICATIONS),
                    "branches that multiply with the depth of the document",
                ));
            }
            next.push(applications);
        }
        // Each layer is a function of the one before: once it repeats, so do all that follow.
        if next == layer {
            break;
        }
        layer = next;
    }
    Ok(())
}

struct Closures<'n> {
    nodes: &'n [Node],
    known: Vec<Option<Closure>>,
    open: Vec<bool>,
}

impl Closures<'_> {
    /// Recurses no deeper than the limit on its result, since each level adds one.
    fn of(&mut self, id: NodeId) -> Result<(), Violation> {
        self.visit(id, 0)
    }

    fn visit(&mut self, id: NodeId, level: usize) -> Result<(), Violation> {
        if self.known[id].is_some() {
            return Ok(());
        }
        if self.open[id] {
            let found = "a reference that leads back to itself without descending into a field or an item";
            return Err(Violation::new(&self.nodes[id].at, "a schema that ends", found));
        }
        self.open[id] = true;
        let mut closure = vec![id];
        for inner in self.nodes[id].in_place() {
            if level < limits::IN_PLACE {
                self.visit(inner, level + 1)?;
            }
            if let Some(inner) = &self.known[inner] {
                closure.extend(inner);
            }
            if closure.len() > limits::IN_PLACE || level >= limits::IN_PLACE {
                return Err(Violation::new(
                    &self.nodes[id].at,
                    format!("at most {} subschemas applied to one value", limits::IN_PLACE),
                    "more, through $ref, allOf, anyOf, oneOf and the like",
                ));
            }
        }
        self.open[id] = false;
        self.known[id] = Some(closure);
        Ok(())
    }
}

/// How many subschemas are held against the worst value inside one that `closure` is held against, when `layer` says what each
/// entails. Patterns are taken to match every key, and `contains` counts twice as `unevaluatedItems` may ask it again.
fn deeper(nodes: &[Node], closure: &[NodeId], layer: &[u64], work: &mut u64) -> Option<u64> {
    let cost = |node: &Option<NodeId>| node.map_or(0, |id| layer[id]);
    let mut any_key = 0_u64;
    let mut by_key: HashMap<&str, (u64, u64)> = HashMap::new();
    let mut any_item = 0_u64;
    let mut by_item: Vec<(u64, u64)> = Vec::new();
    for id in closure {
        let node = &nodes[*id];
        let size = 1 + node.properties.len() + node.patterns.len() + node.prefix.len();
        *work = work.checked_sub(size as u64)?;
        let additional = cost(&node.additional);
        any_key += additional + cost(&node.unevaluated_properties) + cost(&node.names);
        any_key += node.patterns.iter().map(|(_, id)| layer[*id]).sum::<u64>();
        for (key, id) in &node.properties {
            let entry = by_key.entry(key).or_default();
            *entry = (entry.0 + layer[*id], entry.1 + additional);
        }
        let items = cost(&node.items);
        any_item += items + cost(&node.unevaluated_items);
        any_item += node.contains.as_ref().map_or(0, |contains| 2 * layer[contains.node]);
        for (index, id) in node.prefix.iter().enumerate() {
            if by_item.len() <= index {
                by_item.push((0, 0));
            }
            let entry = &mut by_item[index];
            *entry = (entry.0 + layer[*id], entry.1 + items);
        }
    }
    // A named key gets what its name says in place of `additionalProperties`; an item of the prefix likewise.
    let keys = by_key.values().map(|(named, instead)| any_key + named - instead);
    let items = by_item.iter().map(|(named, instead)| any_item + named - instead);
    Some(keys.chain(items).chain([any_key, any_item]).max().unwrap_or(0))
}
