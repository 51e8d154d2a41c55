//! The schemas of resource types, which users supply. Specs are validated against them and get their defaults from them.
//!
//! Neither the schema nor the document is trusted: whatever could make validation stall or exhaust memory is refused when the
//! type is created (`bound`), and what remains is metered for each document (`meter`). See `limits` for the figures.

mod assertion;
mod bound;
mod check;
mod defaults;
mod evaluated;
mod explain;
mod fill;
mod keyword;
mod limits;
mod measure;
mod meter;
mod nearest;
mod node;
mod path;
mod read;
mod reference;
mod shape;
mod violation;

use serde_json::Value;

use check::Check;
use fill::{Defaults, Fill};
use measure::{dismantle, measure};
use meter::Meter;
use node::{Node, NodeId};
use path::Path;
use violation::{Report, capped, quote};

pub use violation::Violation;

const ROOT: NodeId = 0;

/// A compiled schema. Share it in an `Arc`.
pub struct Schema {
    nodes: Vec<Node>,
    defaults: Defaults,
}

impl Schema {
    /// Checks that the schema is a legal and bounded OpenAPI v3 schema of an object, and compiles it. Paths are into the schema.
    pub fn compile(schema: &Value) -> Result<Schema, Vec<Violation>> {
        let size = measure(schema);
        if size.depth > limits::SCHEMA_DEPTH {
            let expected = format!("at most {} levels", limits::SCHEMA_DEPTH);
            return Err(vec![Violation::new("schema", expected, format!("{} levels", size.depth))]);
        }
        if size.bytes > limits::SCHEMA_BYTES {
            let expected = format!("at most {} bytes", limits::SCHEMA_BYTES);
            return Err(vec![Violation::new("schema", expected, format!("{} bytes", size.bytes))]);
        }
        if !schema.is_object() {
            let expected = "a schema of an object (\"type\": \"object\")";
            return Err(vec![Violation::new("schema", expected, quote(schema))]);
        }
        let nodes = read::read(schema).map_err(capped)?;
        bound::check(&nodes).map_err(|violation| vec![violation])?;
        if node::describes_object(&nodes, ROOT) != Some(true) {
            let expected = "a schema of an object (\"type\": \"object\" or \"properties\")";
            return Err(vec![Violation::new("schema", expected, quote(schema))]);
        }
        let defaults = defaults::prove(&nodes).map_err(capped)?;
        Ok(Schema { nodes, defaults })
    }

    /// Fills in defaults at every depth, then validates. Paths begin with `spec`.
    pub fn admit(&self, spec: Value) -> Result<Value, Vec<Violation>> {
        if let Err(violation) = within_limits(&spec) {
            dismantle(spec);
            return Err(vec![violation]);
        }
        if !spec.is_object() {
            return Err(vec![Violation::new("spec", "an object", quote(&spec))]);
        }
        let spec = self.filled(spec).map_err(|violation| vec![violation])?;
        let mut report = Report::keeping(limits::VIOLATIONS);
        let mut check = Check { nodes: &self.nodes, meter: Meter::new(), root: "spec" };
        let outcome = check.check(ROOT, &spec, &mut Path::default(), &mut report);
        if outcome == Ok(true) {
            return Ok(spec);
        }
        let mut violations = report.into_violations("spec");
        violations.extend(outcome.err().map(|exhausted| exhausted.violation("spec")));
        Err(violations)
    }

    /// One default can make another apply, so they are gone over until nothing changes: what is admitted is then admitted
    /// unchanged ever after.
    fn filled(&self, mut spec: Value) -> Result<Value, Violation> {
        for _ in 0..limits::FILL_ROUNDS {
            let room = limits::SPEC_BYTES.saturating_sub(measure(&spec).bytes);
            let changed = Fill::new(&self.nodes, &self.defaults, Meter::new(), room)
                .fill(ROOT, &mut spec)
                .map_err(|exhausted| exhausted.violation("spec"))?;
            within_limits(&spec)?;
            if !changed {
                return Ok(spec);
            }
        }
        let expected = format!("defaults that settle within {} rounds", limits::FILL_ROUNDS);
        Err(Violation::new("spec", expected, "defaults that each bring another into play"))
    }
}

fn within_limits(spec: &Value) -> Result<(), Violation> {
    let size = measure(spec);
    if size.depth > limits::SPEC_DEPTH {
        let expected = format!("at most {} levels", limits::SPEC_DEPTH);
        return Err(Violation::new("spec", expected, format!("{} levels", size.depth)));
    }
    if size.bytes > limits::SPEC_BYTES {
        let expected = format!("at most {} bytes with defaults filled in", limits::SPEC_BYTES);
        return Err(Violation::new("spec", expected, format!("{} bytes", size.bytes)));
    }
    Ok(())
}
