//! Nothing that a user sends can stall or crash the server. Boundedness is shown by refusal, never by the clock.

use super::*;

fn nested(levels: usize, leaf: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(leaf, |inner, _| wrap(inner))
}

/// Undone level by level: dropping a deep value recurses.
fn drop_slowly(mut value: Value) {
    loop {
        value = match value {
            Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
            Value::Object(mut members) => match members.values_mut().next() {
                Some(inner) => inner.take(),
                None => return,
            },
            _ => return,
        };
    }
}

#[test]
fn a_schema_too_large_is_refused() {
    assert_says(&refusal(json!({"type": "object", "description": "x".repeat(300_000)})), &["at most 262144 bytes"]);
    let many: serde_json::Map<_, _> = (0..6000).map(|n| (format!("p{n}"), json!({}))).collect();
    assert_says(&refusal(json!({"type": "object", "properties": many})), &["at most 5000 subschemas"]);
}

#[test]
fn a_schema_too_deep_is_refused() {
    let schema = nested(100_000, json!({}), |inner| Value::Array(vec![inner]));
    let Err(violations) = Schema::compile(&schema) else { panic!("compiled") };
    assert_says(&violations[0].to_string(), &["at most 128 levels"]);
    drop_slowly(schema);
}

#[test]
fn a_document_too_deep_or_too_large_is_refused() {
    let schema = compiled(json!({"type": "object"}));
    let deep = nested(65, json!({}), |inner| json!({"a": inner}));
    assert_says(&schema.admit(deep).unwrap_err()[0].to_string(), &["at most 64 levels"]);
    for leaf in [json!({}), json!([])] {
        let deeper = nested(100_000, leaf, |inner| Value::Array(vec![inner]));
        assert_says(&schema.admit(deeper).unwrap_err()[0].to_string(), &["at most 64 levels, found 10000"]);
    }
    assert!(schema.admit(nested(63, json!({}), |inner| json!({"a": inner}))).is_ok());
    let large = json!({"a": "x".repeat(1 << 20)});
    assert_says(&schema.admit(large).unwrap_err()[0].to_string(), &["at most 1048576 bytes"]);
}

#[test]
fn the_deepest_document_fits_the_stack_of_a_thread() {
    let schema = compiled(json!({"type": "object", "$ref": "#/$defs/N", "$defs": {"N": {"allOf": [{"type": "object",
        "properties": {"a": {"$ref": "#/$defs/N"}, "d": {"default": 1}}}]}}}));
    let spec = nested(63, json!({}), |inner| json!({"a": inner}));
    assert!(schema.admit(spec).is_ok());
}

#[test]
fn a_chain_of_references_at_each_level_is_cut_before_the_stack_is() {
    let mut defs: serde_json::Map<_, _> =
        (0..100).map(|n| (format!("R{n}"), json!({"$ref": format!("#/$defs/R{}", n + 1)}))).collect();
    defs.insert("R100".into(), json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/R0"}}}));
    let schema = json!({"$ref": "#/$defs/R0", "$defs": defs});
    let spec = nested(60, json!({}), |inner| json!({"a": inner}));
    assert_says(&rejection(schema, spec), &["nests too deep for so involved a schema"]);
}

#[test]
fn patterns_that_backtrack_are_refused() {
    for pattern in [r"^(?=a)", r"^(?!a)", r"(?<=a)b", r"(?<!a)b", r"(a)\1"] {
        let said = refusal(of_x(json!({"pattern": pattern})));
        assert_says(&said, &["schema.properties.x.pattern", "linear time"]);
        refused(of_x(json!({"patternProperties": {pattern: {}}})));
    }
}

#[test]
fn patterns_that_are_too_large_are_refused() {
    for pattern in [r"((a?){0,50}){0,50}b$", r"^\p{L}{1,200}$", r"(((a{100}){100}){100}){100}"] {
        assert_says(&refusal(of_x(json!({"pattern": pattern}))), &["schema.properties.x.pattern", "a smaller pattern"]);
    }
    assert_says(&refusal(of_x(json!({"pattern": "a".repeat(3000)}))), &["at most 2048 bytes"]);
    refused(of_x(json!({"pattern": "(".repeat(1000) + &")".repeat(1000)})));
}

#[test]
fn patterns_that_are_too_large_together_are_refused() {
    let many: serde_json::Map<_, _> =
        (0..100).map(|n| (format!("p{n}"), json!({"pattern": format!(r"^\w{{1,255}}{n}$")}))).collect();
    assert_says(&refusal(json!({"type": "object", "properties": many})), &["of the whole schema together"]);
}

#[test]
fn ecma_patterns_in_common_use_work() {
    assert!(admits(json!({"pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}), json!("a-b")));
    assert!(admits(json!({"pattern": r"^\d+$"}), json!("12")) && !admits(json!({"pattern": r"^\d+$"}), json!("١")));
    assert!(admits(json!({"pattern": r"^\w{1,255}$"}), json!("abc")));
    assert!(!admits(json!({"pattern": r"^\cA\/$"}), json!("x")));
}

#[test]
fn a_heavy_pattern_on_a_long_string_runs_out_of_steps() {
    let schema = of_x(json!({"pattern": r"(\d?\w?a?){90}$"}));
    assert_says(&rejection(schema, json!({"x": "ab1-".repeat(200_000)})), &["steps"]);
}

#[test]
fn references_that_double_at_each_level_are_refused() {
    let level = |n: usize| {
        let next = json!({"$ref": format!("#/$defs/A{}", n + 1)});
        (format!("A{n}"), json!({"allOf": [next, next]}))
    };
    let mut defs: serde_json::Map<_, _> = (0..40).map(level).collect();
    defs.insert("A40".into(), json!({"type": "object"}));
    assert_says(&refusal(json!({"type": "object", "$defs": defs, "$ref": "#/$defs/A0"})), &["at most 256 subschemas"]);
}

#[test]
fn branches_that_double_at_each_level_of_the_document_are_refused() {
    let x = json!({"properties": {"x": {"$ref": "#/$defs/N"}}});
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = json!({"type": "object", "$ref": "#/$defs/N", "$defs": {"N": {keyword: [x, x]}}});
        assert_says(&refusal(schema), &["at most 1024 subschemas", "depth of the document"]);
    }
    let mixed = json!({"properties": {"x": {"$ref": "#/$defs/N"}}, "patternProperties": {"^x": {"$ref": "#/$defs/N"}}});
    refused(json!({"type": "object", "$ref": "#/$defs/N", "$defs": {"N": mixed}}));
    let items = json!({"items": {"$ref": "#/$defs/N"}, "contains": {"$ref": "#/$defs/N"}});
    refused(json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/N"}}, "$defs": {"N": items}}));
    let left = json!({"anyOf": [x], "unevaluatedProperties": false});
    refused(json!({"type": "object", "$ref": "#/$defs/N", "$defs": {"N": left}}));
}

#[test]
fn a_schema_that_applies_itself_in_place_is_refused() {
    for n in [
        json!({"$ref": "#/$defs/N"}),
        json!({"allOf": [{"$ref": "#/$defs/N"}]}),
        json!({"not": {"$ref": "#/$defs/N"}}),
        json!({"dependentSchemas": {"a": {"$ref": "#/$defs/N"}}}),
        json!({"if": {}, "then": {"$ref": "#/$defs/N"}}),
    ] {
        assert_says(&refusal(json!({"type": "object", "$defs": {"N": n}})), &["leads back to itself"]);
    }
    assert_says(&refusal(json!({"type": "object", "$ref": "#"})), &["leads back to itself"]);
}

#[test]
fn trees_are_accepted() {
    let node = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        "left": {"$ref": "#/$defs/Node"}, "right": {"$ref": "#/$defs/Node"}}});
    let schema = compiled(json!({"$ref": "#/$defs/Node", "$defs": {"Node": node}}));
    let spec = json!({"name": "a", "children": [{"name": "b", "left": {"name": "c"}}, {}]});
    assert_eq!(schema.admit(spec).unwrap_err()[0].path, "spec.children[1].name");
    compiled(json!({"type": "object", "properties": {"x": {"$ref": "#"}}}));
}

#[test]
fn a_document_too_large_for_so_involved_a_schema_is_refused() {
    let branches: Vec<_> = (0..200).map(|n| json!({"not": {"const": format!("v{n}")}})).collect();
    let schema = of_x(json!({"items": {"allOf": branches[..120]}}));
    assert_says(&rejection(schema, json!({"x": vec!["v"; 100_000]})), &["too large for so involved a schema"]);
}

#[test]
fn colliding_items_do_not_make_uniqueness_quadratic() {
    let shapes: Vec<Value> = (0..13_u32)
        .flat_map(|bits| (0..1_u32 << bits).map(move |n| (bits, n)))
        .map(|(bits, n)| {
            (0..bits).fold(json!([]), |inner, bit| if n >> bit & 1 == 0 { json!([inner]) } else { json!([[], inner]) })
        })
        .collect();
    assert!(shapes.len() > 8000);
    assert!(admits(json!({"type": "array", "uniqueItems": true}), Value::Array(shapes)));
}

#[test]
fn a_schema_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Schema>();
}
