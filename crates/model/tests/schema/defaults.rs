//! Which defaults are filled in, where, and which are refused.

use super::*;

#[track_caller]
fn filled(schema: Value, spec: Value) -> Value {
    compiled(schema).admit(spec).expect("a legal spec")
}

#[test]
fn defaults_are_filled_in_at_every_depth() {
    let with_a = json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}});
    for (x, value) in [
        (with_a.clone(), json!({"a": 1})),
        (json!({"$ref": "#/$defs/A"}), json!({"a": 1})),
        (json!({"allOf": [{"$ref": "#/$defs/A"}]}), json!({"a": 1})),
        (json!({"$ref": "#/$defs/A", "nullable": true}), json!({"a": 1})),
    ] {
        let schema = json!({"type": "object", "$defs": {"A": with_a}, "properties": {"x": x}});
        assert_eq!(filled(schema, json!({"x": {}})), json!({"x": value}));
    }
    for (x, before, after) in [
        (json!({"items": with_a}), json!([{}, {"a": 2}]), json!([{"a": 1}, {"a": 2}])),
        (json!({"prefixItems": [with_a]}), json!([{}, {}]), json!([{"a": 1}, {}])),
        (json!({"additionalProperties": with_a}), json!({"k": {}}), json!({"k": {"a": 1}})),
        (json!({"patternProperties": {"^k": with_a}}), json!({"k": {}, "l": {}}), json!({"k": {"a": 1}, "l": {}})),
        (json!({"dependentSchemas": {"k": with_a}}), json!({"k": 0}), json!({"k": 0, "a": 1})),
    ] {
        assert_eq!(filled(of_x(x), json!({"x": before})), json!({"x": after}));
    }
}

#[test]
fn a_default_reached_by_reference_applies() {
    let schema = json!({"type": "object", "$defs": {"S": {"type": "string", "default": "s"}}, "properties": {
        "x": {"$ref": "#/$defs/S"}, "y": {"allOf": [{"$ref": "#/$defs/S"}]}, "z": {"$ref": "#/$defs/S", "default": "z"}}});
    assert_eq!(filled(schema, json!({})), json!({"x": "s", "y": "s", "z": "z"}));
}

#[test]
fn the_branch_that_matches_fills_in_its_defaults() {
    let kind = |kind: &str, field: &str| {
        json!({"type": "object", "required": ["kind", field],
            "properties": {"kind": {"enum": [kind]}, field: {"type": "integer", "default": 7}}})
    };
    for choice in ["oneOf", "anyOf"] {
        let schema = of_x(json!({choice: [kind("a", "size"), kind("b", "count")]}));
        assert_eq!(filled(schema, json!({"x": {"kind": "b"}})), json!({"x": {"kind": "b", "count": 7}}));
    }
    let schema = of_x(json!({"if": {"required": ["a"]}, "then": {"properties": {"t": {"default": 1}}},
        "else": {"properties": {"e": {"default": 2}}}}));
    let spec = filled(schema, json!({"x": {"a": 0}}));
    assert_eq!(spec, json!({"x": {"a": 0, "t": 1}}));
}

#[test]
fn a_default_object_is_filled_with_its_own_defaults() {
    let schema = of_x(json!({"type": "object", "default": {}, "properties": {
        "y": {"type": "object", "default": {"k": 1}, "properties": {"z": {"default": 3}}}}}));
    assert_eq!(filled(schema, json!({})), json!({"x": {"y": {"k": 1, "z": 3}}}));
}

#[test]
fn a_missing_object_without_a_default_is_not_invented() {
    let schema = of_x(json!({"type": "object", "properties": {"a": {"default": 1}}}));
    assert_eq!(filled(schema, json!({})), json!({}));
}

#[test]
fn null_gives_way_to_a_default_unless_it_is_allowed() {
    let schema = json!({"type": "object", "properties": {
        "x": {"type": "integer", "default": 1}, "y": {"type": "integer", "default": 1, "nullable": true}}});
    assert_eq!(filled(schema, json!({"x": null, "y": null})), json!({"x": 1, "y": null}));
}

#[test]
fn a_default_that_its_schema_rejects_is_refused() {
    let said = refusal(of_x(json!({"type": "object", "properties": {"size": {"minimum": 5, "default": 3}}})));
    assert_says(&said, &["schema.properties.x.properties.size.default: expected at least 5, found 3"]);
    let said = refusal(of_x(json!({"default": {"size": 3}, "properties": {"size": {"minimum": 5}}})));
    assert_says(&said, &["schema.properties.x.default.size: expected at least 5"]);
}

#[test]
fn a_default_without_end_is_refused() {
    let node = json!({"type": "object", "properties": {"child": {"$ref": "#/$defs/N"}}, "default": {}});
    let schema = json!({"type": "object", "$defs": {"N": node}, "properties": {"x": {"$ref": "#/$defs/N"}}});
    assert_says(&refusal(schema), &["schema.$defs.N.default: expected a default whose own defaults come to an end"]);
    let r = json!({"$ref": "#/$defs/N"});
    let wide = json!({"type": "object", "properties": {"l": r, "r": r}, "default": {}});
    assert_says(&refusal(json!({"type": "object", "$defs": {"N": wide}})), &["schema.$defs.N.default"]);
}

#[test]
fn defaults_that_grow_a_document_beyond_its_limit_are_stopped() {
    let items = json!({"type": "object", "properties": {"a": {"type": "string", "default": "x".repeat(10_000)}}});
    let said = rejection(of_x(json!({"type": "array", "items": items})), json!({"x": vec![json!({}); 100_000]}));
    assert_says(&said, &["spec: expected at most 1048576 bytes with defaults filled in"]);
}

#[test]
fn a_default_that_brings_another_into_play_settles() {
    let schema = compiled(json!({"type": "object", "anyOf": [
        {"required": ["a"], "properties": {"b": {"default": 1}}}, {"properties": {"a": {"default": 1}}}]}));
    let spec = schema.admit(json!({})).unwrap();
    assert_eq!(spec, json!({"a": 1, "b": 1}));
    assert_eq!(schema.admit(spec.clone()).unwrap(), spec);
}
