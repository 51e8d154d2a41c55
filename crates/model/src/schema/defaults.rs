//! The defaults of a schema, each proven when the type is created: a default that its own schema rejects would make every
//! resource that relies on it invalid.

use serde_json::Value;

use super::check::Check;
use super::fill::{Defaults, Fill};
use super::limits;
use super::measure::measure;
use super::meter::{Exhausted, Meter};
use super::node::{Node, NodeId};
use super::path::{Path, child};
use super::violation::{Report, Violation, quote};

/// Bytes of all the defaults of a type together, once expanded.
const ALL_DEFAULTS_BYTES: usize = limits::SPEC_BYTES;

pub(super) fn prove(nodes: &[Node]) -> Result<Defaults, Vec<Violation>> {
    let sources: Vec<_> = (0..nodes.len()).map(|id| source(nodes, id)).collect();
    let fills = fillable(nodes, &sources);
    let stated = nodes.iter().map(|node| node.default.clone()).collect();
    let mut defaults = Defaults { sources, stated, fills };
    let mut violations = Vec::new();
    let mut expanded = Vec::new();
    let mut room = ALL_DEFAULTS_BYTES;
    // All the defaults share one meter: each within its bound, thousands of them would not be.
    let mut meter = Meter::new();
    for (id, node) in nodes.iter().enumerate() {
        let Some(default) = &node.default else { continue };
        let at = child(&node.at, "default");
        let outcome;
        (outcome, meter) = expand(nodes, &defaults, id, default, meter, &mut room);
        let value = match outcome {
            Ok(value) => value,
            Err(exhausted) => {
                violations.push(endless(&at, default, exhausted));
                continue;
            }
        };
        let mut check = Check { nodes, meter, root: &at };
        let mut report = Report::keeping(limits::PER_ALTERNATIVE);
        let outcome = check.check(id, &value, &mut Path::default(), &mut report);
        meter = check.meter.resumed();
        violations.extend(report.into_violations(&at));
        violations.extend(outcome.err().map(|exhausted| exhausted.violation(&at)));
        expanded.push((id, value));
    }
    if !violations.is_empty() {
        return Err(violations);
    }
    for (id, value) in expanded {
        defaults.stated[id] = Some(value);
    }
    Ok(defaults)
}

/// The node whose default applies: in-place cycles have been refused by now, so this ends.
fn source(nodes: &[Node], id: NodeId) -> Option<NodeId> {
    let node = &nodes[id];
    if node.default.is_some() {
        return Some(id);
    }
    node.reference.iter().chain(&node.all_of).find_map(|inner| source(nodes, *inner))
}

fn fillable(nodes: &[Node], sources: &[Option<NodeId>]) -> Vec<bool> {
    let mut fills: Vec<bool> = nodes.iter().map(|node| node.within().any(|inner| sources[inner].is_some())).collect();
    let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); nodes.len()];
    for (id, node) in nodes.iter().enumerate() {
        for inner in node.in_place().chain(node.within()) {
            users[inner].push(id);
        }
    }
    let mut pending: Vec<NodeId> = (0..nodes.len()).filter(|id| fills[*id]).collect();
    while let Some(id) = pending.pop() {
        for user in &users[id] {
            if !std::mem::replace(&mut fills[*user], true) {
                pending.push(*user);
            }
        }
    }
    fills
}

fn expand(
    nodes: &[Node],
    defaults: &Defaults,
    id: NodeId,
    default: &Value,
    meter: Meter,
    room: &mut usize,
) -> (Result<Value, Exhausted>, Meter) {
    let size = measure(default);
    let most = limits::DEFAULT_BYTES.min(*room);
    if size.depth > limits::SPEC_DEPTH || size.bytes > most {
        let exhausted = if size.bytes > most { Exhausted::Size } else { Exhausted::Depth };
        return (Err(exhausted), meter);
    }
    let mut value = default.clone();
    let mut fill = Fill::new(nodes, defaults, meter, most - size.bytes);
    let filled = fill.fill(id, &mut value);
    let meter = fill.into_meter().resumed();
    *room = room.saturating_sub(measure(&value).bytes);
    (filled.map(|_| value), meter)
}

fn endless(at: &str, default: &Value, exhausted: Exhausted) -> Violation {
    let expected = match exhausted {
        Exhausted::Size => {
            format!("a default of at most {} bytes, its own defaults included", limits::DEFAULT_BYTES)
        }
        _ => "a default whose own defaults come to an end".to_owned(),
    };
    Violation::new(at, expected, quote(default))
}
