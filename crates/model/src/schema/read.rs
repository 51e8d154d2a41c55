//! Reads a schema into nodes, and refuses whatever in it would be ignored or cannot be meant: a misspelt keyword that passed
//! in silence would be a validation that never happens.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::assertion::Pattern;
use super::keyword;
use super::limits;
use super::node::{Contains, Node, NodeId};
use super::path::{child, item};
use super::reference;
use super::shape::Shape;
use super::violation::{Violation, quote};

struct Reader<'s> {
    raw: &'s Value,
    nodes: Vec<Node>,
    /// Node by JSON pointer.
    places: HashMap<String, NodeId>,
    /// Reference yet to be resolved: who has it, and its text.
    references: Vec<(NodeId, &'s str)>,
    overrun: bool,
    pattern_room: usize,
    violations: Vec<Violation>,
}

/// Where the reader is: a path for people and a pointer for `$ref`.
#[derive(Clone)]
struct Place {
    path: String,
    pointer: String,
}

impl Place {
    fn key(&self, key: &str) -> Place {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        Place { path: child(&self.path, key), pointer: format!("{}/{escaped}", self.pointer) }
    }

    fn index(&self, index: usize) -> Place {
        Place { path: item(&self.path, index), pointer: format!("{}/{index}", self.pointer) }
    }
}

/// The nodes, the root first.
pub(super) fn read(raw: &Value) -> Result<Vec<Node>, Vec<Violation>> {
    let mut reader = Reader {
        raw,
        nodes: Vec::new(),
        places: HashMap::new(),
        references: Vec::new(),
        overrun: false,
        pattern_room: limits::ALL_PATTERNS_BYTES,
        violations: Vec::new(),
    };
    reader.schema(raw, Place { path: "schema".to_owned(), pointer: String::new() });
    reader.resolve();
    if reader.overrun {
        let expected = format!(
            "at most {} subschemas, each at a pointer of at most {} bytes",
            limits::SUBSCHEMAS,
            limits::POINTER_BYTES
        );
        // What lies beyond was not read, so that references to it would be called dangling.
        return Err(vec![Violation::new("schema", expected, "more")]);
    }
    if reader.violations.is_empty() { Ok(reader.nodes) } else { Err(reader.violations) }
}

impl<'s> Reader<'s> {
    fn refuse(&mut self, place: &Place, expected: impl Into<String>, found: &Value) {
        self.violations.push(Violation::new(place.path.clone(), expected, quote(found)));
    }

    fn schema(&mut self, raw: &'s Value, place: Place) -> NodeId {
        let id = self.nodes.len();
        if id >= limits::SUBSCHEMAS || place.pointer.len() > limits::POINTER_BYTES {
            self.overrun = true;
            return 0;
        }
        self.nodes.push(Node { at: place.path.clone(), ..Node::default() });
        self.places.insert(place.pointer.clone(), id);
        match raw {
            Value::Bool(verdict) => self.nodes[id].never = !verdict,
            Value::Object(keywords) => self.keywords(id, keywords, &place),
            _ => self.refuse(&place, "a schema (an object)", raw),
        }
        id
    }

    fn keywords(&mut self, id: NodeId, keywords: &'s Map<String, Value>, place: &Place) {
        let mut shape = Shape::new(&place.path);
        let (mut least, mut most) = (1, None);
        self.nodes[id].object = keywords.get("type").map(|types| match types {
            Value::Array(types) => types.iter().any(|name| name == "object"),
            name => name == "object",
        });
        for (key, raw) in keywords {
            let at = place.key(key);
            match key.as_str() {
                "$ref" => match raw {
                    Value::String(target) => self.references.push((id, target)),
                    _ => self.refuse(&at, "a reference such as \"#/$defs/Name\"", raw),
                },
                "$schema" => {
                    if !raw.as_str().is_some_and(keyword::is_dialect) {
                        self.refuse(&at, "a draft of JSON Schema or the OpenAPI dialect", raw);
                    }
                }
                "$defs" | "definitions" => {
                    self.named(raw, &at);
                }
                "components" => self.components(raw, &at),
                "allOf" => self.nodes[id].all_of = self.listed(raw, &at),
                "anyOf" => self.nodes[id].any_of = self.listed(raw, &at),
                "oneOf" => self.nodes[id].one_of = self.listed(raw, &at),
                "prefixItems" => self.nodes[id].prefix = self.listed(raw, &at),
                "not" => self.nodes[id].not = Some(self.schema(raw, at)),
                "if" => self.nodes[id].condition = Some(self.schema(raw, at)),
                "then" => self.nodes[id].then = Some(self.schema(raw, at)),
                "else" => self.nodes[id].otherwise = Some(self.schema(raw, at)),
                "dependentSchemas" => self.nodes[id].dependent = self.named(raw, &at),
                "properties" => {
                    self.nodes[id].properties = self.named(raw, &at).into_iter().collect();
                }
                "patternProperties" => self.patterns(id, raw, &at),
                "additionalProperties" => self.nodes[id].additional = Some(self.schema(raw, at)),
                "propertyNames" => self.nodes[id].names = Some(self.schema(raw, at)),
                "unevaluatedProperties" => {
                    self.nodes[id].unevaluated_properties = Some(self.schema(raw, at));
                }
                "unevaluatedItems" => self.nodes[id].unevaluated_items = Some(self.schema(raw, at)),
                "items" if raw.is_array() => {
                    self.refuse(&at, "one schema for all items (\"prefixItems\" holds a list)", raw);
                }
                "items" => self.nodes[id].items = Some(self.schema(raw, at)),
                "contains" => {
                    let node = self.schema(raw, at);
                    self.nodes[id].contains = Some(Contains { node, least: 1, most: None });
                }
                "minContains" => least = shape.count(key, raw).unwrap_or(1),
                "maxContains" => most = shape.count(key, raw),
                "default" => self.nodes[id].default = Some(raw.clone()),
                "nullable" => match raw {
                    Value::Bool(nullable) => self.nodes[id].nullable = *nullable,
                    _ => self.refuse(&at, "true or false", raw),
                },
                _ if keyword::is_annotation(key) => {}
                _ if shape.take(key, raw, keywords) => {}
                _ => self.refuse(&at, keyword::refusal(key), raw),
            }
        }
        if let Some(contains) = &mut self.nodes[id].contains {
            (contains.least, contains.most) = (least, most);
        }
        self.nodes[id].assertions = shape.finish(&mut self.violations, &mut self.pattern_room);
    }

    fn listed(&mut self, raw: &'s Value, place: &Place) -> Vec<NodeId> {
        match raw {
            Value::Array(schemas) if !schemas.is_empty() => {
                (schemas.iter().enumerate()).map(|(index, schema)| self.schema(schema, place.index(index))).collect()
            }
            _ => {
                self.refuse(place, "a list of at least one schema", raw);
                Vec::new()
            }
        }
    }

    fn named(&mut self, raw: &'s Value, place: &Place) -> Vec<(String, NodeId)> {
        match raw {
            Value::Object(schemas) => {
                (schemas.iter()).map(|(name, schema)| (name.clone(), self.schema(schema, place.key(name)))).collect()
            }
            _ => {
                self.refuse(place, "schemas by name (an object)", raw);
                Vec::new()
            }
        }
    }

    fn components(&mut self, raw: &'s Value, place: &Place) {
        match raw.as_object() {
            Some(parts) if parts.keys().all(|part| part == "schemas") => {
                if let Some(schemas) = parts.get("schemas") {
                    self.named(schemas, &place.key("schemas"));
                }
            }
            _ => self.refuse(place, "an object with \"schemas\" alone", raw),
        }
    }

    fn patterns(&mut self, id: NodeId, raw: &'s Value, place: &Place) {
        for (source, node) in self.named(raw, place) {
            match Pattern::compile(&source, &mut self.pattern_room) {
                Ok(pattern) => self.nodes[id].patterns.push((pattern, node)),
                Err(expected) => {
                    let at = place.key(&source);
                    self.refuse(&at, expected, &Value::String(source));
                }
            }
        }
    }

    fn resolve(&mut self) {
        for (id, target) in std::mem::take(&mut self.references) {
            let resolved = reference::pointer(target).and_then(|pointer| match self.places.get(&pointer) {
                Some(node) => Ok(*node),
                None if self.raw.pointer(&pointer).is_some() => {
                    Err("a reference to a schema: that part of this one is not a schema")
                }
                None => Err("a reference to a part of this schema: there is no such part"),
            });
            match resolved {
                Ok(node) => self.nodes[id].reference = Some(node),
                Err(expected) => {
                    let at = child(&self.nodes[id].at, "$ref");
                    self.violations.push(Violation::new(at, expected, quote(&Value::from(target))));
                }
            }
        }
    }
}
