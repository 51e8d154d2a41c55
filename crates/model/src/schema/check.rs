//! Holds a value against a node and everything that the node applies, within the work allowed.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::assertion::all_differ;
use super::explain::{alternatives, explain};
use super::limits;
use super::measure::measure;
use super::meter::{Exhausted, Meter};
use super::nearest::suggestion;
use super::node::{Node, NodeId};
use super::path::{Path, Segment};
use super::violation::{Report, Violation, quote, quote_str};

pub(super) struct Check<'s> {
    pub nodes: &'s [Node],
    pub meter: Meter,
    /// What paths begin with: `spec`, or the place of a default.
    pub root: &'s str,
}

/// `Ok(true)` when nothing was found wrong.
type Verdict = Result<bool, Exhausted>;

impl<'s> Check<'s> {
    pub(super) fn is_valid(&mut self, id: NodeId, value: &Value) -> Verdict {
        self.check(id, value, &mut Path::default(), &mut Report::verdict())
    }

    /// With a report that wants only a verdict, stops at the first violation.
    pub(super) fn check<'v>(
        &mut self,
        id: NodeId,
        value: &'v Value,
        path: &mut Path<'v>,
        report: &mut Report,
    ) -> Verdict {
        self.meter.enter()?;
        let verdict = self.node(id, value, path, report);
        self.meter.leave();
        verdict
    }

    fn node<'v>(&mut self, id: NodeId, value: &'v Value, path: &mut Path<'v>, report: &mut Report) -> Verdict {
        let nodes = self.nodes;
        let node = &nodes[id];
        if node.nullable && value.is_null() {
            return Ok(true);
        }
        if node.never {
            report.add(|| Violation::new(path.render(self.root), "no value at all", quote(value)));
            return Ok(false);
        }
        let mut valid = self.assertions(node, value, path, report)?;
        for inner in node.reference.iter().chain(&node.all_of) {
            if !valid && report.is_verdict() {
                return Ok(false);
            }
            valid &= self.check(*inner, value, path, report)?;
        }
        for step in [Self::choices, Self::conditions, Self::inside, Self::left_over] {
            if !valid && report.is_verdict() {
                return Ok(false);
            }
            valid &= step(self, node, value, path, report)?;
        }
        Ok(valid)
    }

    fn assertions<'v>(&mut self, node: &Node, value: &'v Value, path: &mut Path<'v>, report: &mut Report) -> Verdict {
        let Some(assertions) = &node.assertions else { return Ok(true) };
        self.meter.spend(assertions.cost(value))?;
        let mut valid = assertions.validator.is_valid(value);
        if !valid && !report.is_verdict() {
            // To find out what is wrong, everything is asked again.
            self.meter.spend(assertions.cost(value))?;
            explain(&assertions.validator, value, path, self.root, report);
        }
        if let Some(format) = assertions.integer.filter(|format| !format.admits(value)) {
            valid = false;
            let expected = format!("an integer that fits {}", format.name);
            report.add(|| Violation::new(path.render(self.root), expected, quote(value)));
        }
        if assertions.unique
            && let Value::Array(items) = value
        {
            self.meter.spend(measure(value).bytes as u64 / 8)?;
            if !all_differ(items) {
                valid = false;
                let at = || path.render(self.root);
                report.add(|| Violation::new(at(), "items that all differ", quote(value)));
            }
        }
        Ok(valid)
    }

    fn choices<'v>(&mut self, node: &Node, value: &'v Value, path: &mut Path<'v>, report: &mut Report) -> Verdict {
        let mut valid = true;
        if !node.any_of.is_empty() {
            let matching = self.matching(&node.any_of, value, 1)?;
            valid &= !matching.is_empty() || self.none_matches(&node.any_of, value, path, report)?;
        }
        if !node.one_of.is_empty() {
            let matching = self.matching(&node.one_of, value, usize::MAX)?;
            match matching.as_slice() {
                [_] => {}
                [] => valid &= self.none_matches(&node.one_of, value, path, report)?,
                several => {
                    valid = false;
                    let numbers: Vec<_> = several.iter().map(|index| (index + 1).to_string()).collect();
                    let expected = format!(
                        "exactly one of {} alternatives to match, not {}",
                        node.one_of.len(),
                        numbers.join(" and ")
                    );
                    report.add(|| Violation::new(path.render(self.root), expected, quote(value)));
                }
            }
        }
        Ok(valid)
    }

    fn matching(&mut self, branches: &[NodeId], value: &Value, most: usize) -> Result<Vec<usize>, Exhausted> {
        let mut matching = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if matching.len() < most && self.is_valid(*branch, value)? {
                matching.push(index);
            }
        }
        Ok(matching)
    }

    /// Tells what each alternative misses, which is what the author of the document has to choose between.
    fn none_matches<'v>(
        &mut self,
        branches: &[NodeId],
        value: &'v Value,
        path: &mut Path<'v>,
        report: &mut Report,
    ) -> Verdict {
        if !report.has_room() {
            report.add(|| Violation::new(self.root, "", ""));
            return Ok(false);
        }
        let mut reasons = Vec::with_capacity(branches.len());
        for branch in branches {
            let mut reason = Report::keeping(limits::PER_ALTERNATIVE);
            self.check(*branch, value, path, &mut reason)?;
            reasons.push(reason);
        }
        let at = path.render(self.root);
        report.add(|| alternatives(at, &reasons, quote(value)));
        Ok(false)
    }

    fn conditions<'v>(&mut self, node: &Node, value: &'v Value, path: &mut Path<'v>, report: &mut Report) -> Verdict {
        let mut valid = true;
        if let Some(not) = node.not
            && self.is_valid(not, value)?
        {
            valid = false;
            let expected = format!("a value that {} does not describe", self.nodes[not].at);
            report.add(|| Violation::new(path.render(self.root), expected, quote(value)));
        }
        if let Some(condition) = node.condition {
            let holds = self.is_valid(condition, value)?;
            if let Some(branch) = if holds { node.then } else { node.otherwise } {
                valid &= self.check(branch, value, path, report)?;
            }
        }
        for (key, inner) in &node.dependent {
            self.meter.spend(1)?;
            if value.get(key).is_some() {
                valid &= self.check(*inner, value, path, report)?;
            }
        }
        Ok(valid)
    }

    fn inside<'v>(&mut self, node: &Node, value: &'v Value, path: &mut Path<'v>, report: &mut Report) -> Verdict {
        match value {
            Value::Object(members) => self.members(node, members, path, report),
            Value::Array(items) => self.items(node, items, value, path, report),
            _ => Ok(true),
        }
    }

    fn members<'v>(
        &mut self,
        node: &Node,
        members: &'v Map<String, Value>,
        path: &mut Path<'v>,
        report: &mut Report,
    ) -> Verdict {
        let idle = node.properties.is_empty() && node.patterns.is_empty();
        if idle && node.additional.is_none() && node.names.is_none() {
            return Ok(true);
        }
        let mut valid = true;
        for (key, member) in members {
            self.meter.spend(1)?;
            if let Some(names) = node.names {
                self.meter.spend(key.len() as u64 / 64)?;
                if !self.is_valid(names, &Value::String(key.clone()))? {
                    valid = false;
                    let expected = format!("a field name that {} describes", self.nodes[names].at);
                    path.push(Segment::Key(key));
                    report.add(|| Violation::new(path.render(self.root), expected, quote_str(key)));
                    path.pop();
                }
            }
            path.push(Segment::Key(key));
            let mut known = false;
            if let Some(inner) = node.properties.get(key) {
                known = true;
                valid &= self.check(*inner, member, path, report)?;
            }
            for inner in self.matched(node, key)? {
                known = true;
                valid &= self.check(inner, member, path, report)?;
            }
            if let Some(inner) = node.additional.filter(|_| !known) {
                valid &= self.unnamed(inner, node, key, member, path, report)?;
            }
            path.pop();
            if !valid && report.is_verdict() {
                return Ok(false);
            }
        }
        Ok(valid)
    }

    /// The nodes of the patterns that a key matches.
    pub(super) fn matched(&mut self, node: &Node, key: &str) -> Result<Vec<NodeId>, Exhausted> {
        if node.patterns.is_empty() {
            return Ok(Vec::new());
        }
        let text = Value::String(key.to_owned());
        let mut matched = Vec::new();
        for (pattern, inner) in &node.patterns {
            self.meter.spend(1 + key.len() as u64 * pattern.per_byte / 100)?;
            if pattern.matches(&text) {
                matched.push(*inner);
            }
        }
        Ok(matched)
    }

    fn unnamed<'v>(
        &mut self,
        inner: NodeId,
        node: &Node,
        key: &str,
        member: &'v Value,
        path: &mut Path<'v>,
        report: &mut Report,
    ) -> Verdict {
        if !self.nodes[inner].never {
            return self.check(inner, member, path, report);
        }
        report.add(|| {
            let known = node.properties.keys().map(String::as_str);
            let expected = format!("no such field{}", suggestion(key, known));
            Violation::new(path.render(self.root), expected, quote(member))
        });
        Ok(false)
    }

    fn items<'v>(
        &mut self,
        node: &Node,
        items: &'v [Value],
        value: &'v Value,
        path: &mut Path<'v>,
        report: &mut Report,
    ) -> Verdict {
        if node.prefix.is_empty() && node.items.is_none() && node.contains.is_none() {
            return Ok(true);
        }
        let mut valid = true;
        let mut contained = 0;
        for (index, item) in items.iter().enumerate() {
            path.push(Segment::Index(index));
            if let Some(inner) = node.prefix.get(index).copied().or(node.items) {
                valid &= self.check(inner, item, path, report)?;
            }
            path.pop();
            if let Some(contains) = &node.contains {
                contained += u64::from(self.is_valid(contains.node, item)?);
            }
            if !valid && report.is_verdict() {
                return Ok(false);
            }
        }
        if let Some(contains) = &node.contains {
            let most = contains.most.unwrap_or(u64::MAX);
            if !(contains.least..=most).contains(&contained) {
                valid = false;
                let bounds = match contains.most {
                    Some(most) => format!("between {} and {most}", contains.least),
                    None => format!("at least {}", contains.least),
                };
                let expected =
                    format!("{bounds} items that {} describes, not {contained}", self.nodes[contains.node].at);
                report.add(|| Violation::new(path.render(self.root), expected, quote(value)));
            }
        }
        Ok(valid)
    }

    fn left_over<'v>(&mut self, node: &Node, value: &'v Value, path: &mut Path<'v>, report: &mut Report) -> Verdict {
        let mut valid = true;
        match value {
            Value::Object(members) => {
                let Some(inner) = node.unevaluated_properties else { return Ok(true) };
                let mut seen = HashSet::new();
                self.evaluated(node, value, &mut seen)?;
                for (key, member) in members.iter().filter(|(key, _)| !seen.contains(&Segment::Key(key))) {
                    path.push(Segment::Key(key));
                    valid &= self.unnamed(inner, node, key, member, path, report)?;
                    path.pop();
                }
            }
            Value::Array(items) => {
                let Some(inner) = node.unevaluated_items else { return Ok(true) };
                let mut seen = HashSet::new();
                self.evaluated(node, value, &mut seen)?;
                for (index, item) in items.iter().enumerate() {
                    if !seen.contains(&Segment::Index(index)) {
                        path.push(Segment::Index(index));
                        valid &= self.check(inner, item, path, report)?;
                        path.pop();
                    }
                }
            }
            _ => {}
        }
        Ok(valid)
    }
}
