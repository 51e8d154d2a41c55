//! Fills in defaults at every depth. A missing field gets its default, a missing field without one is not invented, and null
//! where null is not allowed counts as missing, as it does in Kubernetes.

use serde_json::{Map, Value};

use super::check::Check;
use super::limits;
use super::measure::{measure, string_bytes};
use super::meter::{Exhausted, Meter};
use super::node::{Node, NodeId};

/// Where defaults can come from, worked out once for a schema.
pub(super) struct Defaults {
    /// The node that a node has its default from: itself, or what it reaches by `$ref` and `allOf`.
    pub sources: Vec<Option<NodeId>>,
    /// The default stated at a node.
    pub stated: Vec<Option<Value>>,
    /// Whether the node can fill in anything at all, itself or below; most alternatives cannot, and need not be tried.
    pub fills: Vec<bool>,
}

impl Defaults {
    fn of(&self, id: NodeId) -> Option<&Value> {
        self.sources[id].and_then(|source| self.stated[source].as_ref())
    }
}

pub(super) struct Fill<'s> {
    defaults: &'s Defaults,
    check: Check<'s>,
    /// Bytes that may still be added.
    room: usize,
    /// Bytes of the copies that may still be made.
    trials: usize,
    /// Levels that may still be descended.
    levels: usize,
}

impl<'s> Fill<'s> {
    pub(super) fn new(nodes: &'s [Node], defaults: &'s Defaults, meter: Meter, room: usize) -> Self {
        let check = Check { nodes, meter, root: "spec" };
        let (trials, levels) = (limits::TRIAL_BYTES, limits::SPEC_DEPTH);
        Fill { defaults, check, room, trials, levels }
    }

    pub(super) fn into_meter(self) -> Meter {
        self.check.meter
    }

    /// Whether anything was filled in.
    pub(super) fn fill(&mut self, id: NodeId, value: &mut Value) -> Result<bool, Exhausted> {
        if !self.defaults.fills[id] || value.is_null() && self.check.nodes[id].nullable {
            return Ok(false);
        }
        self.check.meter.enter()?;
        let changed = self.node(id, value)?;
        self.check.meter.leave();
        Ok(changed)
    }

    fn node(&mut self, id: NodeId, value: &mut Value) -> Result<bool, Exhausted> {
        let nodes = self.check.nodes;
        let node = &nodes[id];
        let mut changed = false;
        for inner in node.reference.iter().chain(&node.all_of) {
            changed |= self.fill(*inner, value)?;
        }
        self.levels = self.levels.checked_sub(1).ok_or(Exhausted::Depth)?;
        match value {
            Value::Object(members) => changed |= self.members(node, members)?,
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(inner) = node.prefix.get(index).copied().or(node.items) {
                        changed |= self.present(inner, item)?;
                    }
                }
            }
            _ => {}
        }
        self.levels += 1;
        changed |= self.first_matching(&node.any_of, value)?;
        changed |= self.first_matching(&node.one_of, value)?;
        if let Some(condition) = node.condition {
            let holds = self.check.is_valid(condition, value)?;
            if let Some(branch) = if holds { node.then } else { node.otherwise } {
                changed |= self.fill(branch, value)?;
            }
        }
        for (key, inner) in &node.dependent {
            if value.get(key).is_some() {
                changed |= self.fill(*inner, value)?;
            }
        }
        Ok(changed)
    }

    fn members(&mut self, node: &Node, members: &mut Map<String, Value>) -> Result<bool, Exhausted> {
        let mut changed = false;
        for (key, inner) in &node.properties {
            self.check.meter.spend(1)?;
            if !self.defaults.fills[*inner] && self.defaults.sources[*inner].is_none() {
                continue;
            }
            if let Some(member) = members.get_mut(key) {
                changed |= self.present(*inner, member)?;
            } else if let Some(default) = self.defaults.of(*inner) {
                self.take_room(string_bytes(key) + 2)?;
                let mut member = self.copy(default)?;
                self.fill(*inner, &mut member)?;
                members.insert(key.clone(), member);
                changed = true;
            }
        }
        if node.patterns.is_empty() && node.additional.is_none() {
            return Ok(changed);
        }
        for (key, member) in members.iter_mut() {
            self.check.meter.spend(1)?;
            let matched = self.check.matched(node, key)?;
            let named = node.properties.contains_key(key) || !matched.is_empty();
            for inner in matched.into_iter().chain(node.additional.filter(|_| !named)) {
                changed |= self.present(inner, member)?;
            }
        }
        Ok(changed)
    }

    fn present(&mut self, id: NodeId, value: &mut Value) -> Result<bool, Exhausted> {
        if value.is_null()
            && let Some(default) = self.defaults.of(id)
            && !default.is_null()
            && !self.check.is_valid(id, value)?
        {
            *value = self.copy(default)?;
            self.fill(id, value)?;
            return Ok(true);
        }
        self.fill(id, value)
    }

    /// The first alternative that the value matches once that alternative's defaults are in it.
    fn first_matching(&mut self, branches: &[NodeId], value: &mut Value) -> Result<bool, Exhausted> {
        if !branches.iter().any(|branch| self.defaults.fills[*branch]) {
            return Ok(false);
        }
        for branch in branches {
            let size = measure(value);
            self.check.meter.spend((size.nodes + size.bytes / 64) as u64)?;
            self.trials = self.trials.checked_sub(size.bytes).ok_or(Exhausted::Trials)?;
            let room = self.room;
            let mut trial = value.clone();
            let changed = self.fill(*branch, &mut trial)?;
            let matches = self.check.is_valid(*branch, &trial)?;
            self.trials += size.bytes;
            if matches {
                if changed {
                    *value = trial;
                }
                return Ok(changed);
            }
            self.room = room;
        }
        Ok(false)
    }

    fn copy(&mut self, default: &Value) -> Result<Value, Exhausted> {
        let size = measure(default);
        self.check.meter.spend((size.nodes + size.bytes / 64) as u64)?;
        self.take_room(size.bytes)?;
        Ok(default.clone())
    }

    fn take_room(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.room = self.room.checked_sub(bytes).ok_or(Exhausted::Size)?;
        Ok(())
    }
}
