//! Which schemas are legal, and how OpenAPI's ways are understood.

use super::*;

#[test]
fn nullable_admits_null() {
    for x in [
        json!({"type": "string", "nullable": true}),
        json!({"type": "string", "enum": ["a"], "nullable": true}),
        json!({"$ref": "#/$defs/S", "nullable": true}),
        json!({"allOf": [{"$ref": "#/$defs/S"}], "nullable": true}),
        json!({"type": ["string", "null"]}),
    ] {
        let schema = json!({"type": "object", "$defs": {"S": {"type": "string"}}, "properties": {"x": x}});
        let schema = compiled(schema);
        assert!(schema.admit(json!({"x": null})).is_ok());
        assert!(schema.admit(json!({"x": 5})).is_err());
    }
    assert!(!admits(json!({"type": "string"}), json!(null)));
}

#[test]
fn exclusive_bounds_are_read_in_both_forms() {
    for x in [json!({"minimum": 3, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 3})] {
        assert!(!admits(x.clone(), json!(3)) && admits(x, json!(4)));
    }
    let x = json!({"maximum": 3, "exclusiveMaximum": false});
    assert!(admits(x, json!(3)));
    assert_says(&refusal(of_x(json!({"exclusiveMaximum": true}))), &["schema.properties.x.exclusiveMaximum"]);
}

#[test]
fn annotations_do_no_harm() {
    let x = json!({"example": {"$ref": "#/nowhere"}, "discriminator": {"propertyName": "k"}, "xml": {}, "x-any": {"type": 5},
        "externalDocs": {}, "deprecated": true, "readOnly": true, "writeOnly": false, "title": "t", "description": "d"});
    assert!(admits(x, json!(1)));
}

#[test]
fn a_misspelt_keyword_is_refused_with_the_right_one() {
    for (typo, meant) in [("propertys", "properties"), ("requierd", "required"), ("minLenght", "minLength")] {
        let said = refusal(of_x(json!({typo: {}})));
        assert_says(&said, &[&format!("schema.properties.x.{typo}: "), &format!("did you mean {meant:?}?")]);
    }
}

#[test]
fn all_problems_of_a_schema_are_told_at_once() {
    let said = refusal(of_x(json!({"type": "strin", "minLength": -1, "pattern": "(", "items": 3})));
    assert_says(&said, &["x.type", "x.minLength", "x.pattern: expected a valid regular expression", "x.items"]);
}

#[test]
fn local_references_work_from_every_place_and_in_every_spelling() {
    for reference in [
        "#/$defs/S",
        "#/definitions/S",
        "#/components/schemas/S",
        "#/$defs/a~1b",
        "#/$defs/c~0d",
        "#/$defs/a%7E1b",
        "#/%24defs/S",
        "#/$defs/e%25f",
        "#/properties/y",
        "#/$defs/list/items",
    ] {
        let s = json!({"type": "string"});
        let schema = compiled(json!({"type": "object",
            "$defs": {"S": s, "a/b": s, "c~d": s, "e%f": s, "list": {"items": s}}, "definitions": {"S": s},
            "components": {"schemas": {"S": s}}, "properties": {"x": {"$ref": reference}, "y": s}}));
        assert!(schema.admit(json!({"x": "a"})).is_ok() && schema.admit(json!({"x": 1})).is_err(), "{reference}");
    }
}

#[test]
fn references_to_anything_else_are_refused() {
    for (reference, reason) in [
        ("https://example.org/s", "no other document"),
        ("other.json#/a", "no other document"),
        ("", "no other document"),
        ("#anchor", "no anchors"),
        ("#/$defs/None", "no such part"),
        ("#/properties", "not a schema"),
        ("#/properties/x/default", "not a schema"),
        ("#/%zz", "%-escapes"),
    ] {
        let said = refusal(of_x(json!({"$ref": reference, "default": {"type": "string"}})));
        assert_says(&said, &["schema.properties.x.$ref", reason]);
    }
}

#[test]
fn keywords_that_move_references_about_are_refused() {
    for keyword in ["$id", "$anchor", "$dynamicRef", "$recursiveRef", "$dynamicAnchor"] {
        assert_says(&refusal(of_x(json!({keyword: "#a"}))), &[&format!("x.{keyword}")]);
    }
    assert_says(&refusal(json!({"type": "object", "$schema": "https://example.org/mine"})), &["schema.$schema"]);
    compiled(json!({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}));
    compiled(json!({"type": "object", "$schema": "https://spec.openapis.org/oas/3.1/dialect/base"}));
}

#[test]
fn data_that_looks_like_a_reference_is_data() {
    let schema = compiled(json!({"type": "object", "properties": {
        "$ref": {"type": "string"},
        "e": {"enum": [{"$ref": "#/nowhere"}]}, "c": {"const": {"$ref": 5, "propertys": 1}},
        "d": {"default": {"$ref": "https://example.org"}, "example": {"$ref": 1}}}}));
    let spec = schema.admit(json!({"$ref": "text", "e": {"$ref": "#/nowhere"}})).unwrap();
    assert_eq!(spec["d"], json!({"$ref": "https://example.org"}));
}

#[test]
fn the_top_level_must_describe_an_object() {
    for schema in [
        json!({"type": "string"}),
        json!(true),
        json!(false),
        json!({}),
        json!([]),
        json!({"allOf": [{"type": "array"}]}),
    ] {
        assert_says(&refusal(schema), &["schema: expected a schema of an object"]);
    }
    for schema in [
        json!({"type": "object"}),
        json!({"properties": {"a": {}}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}),
        json!({"allOf": [{"properties": {}, "type": "object"}, {"required": ["a"]}]}),
        json!({"oneOf": [{"type": "object"}, {"properties": {"a": {}}}]}),
    ] {
        compiled(schema);
    }
}

#[test]
fn numbers_out_of_reason_are_refused_or_work() {
    for x in [
        json!({"multipleOf": 0}),
        json!({"multipleOf": -1}),
        json!({"multipleOf": 1e-300}),
        json!({"multipleOf": 1e300}),
        json!({"minLength": -1}),
        json!({"maxItems": 1.5}),
        json!({"maxItems": "3"}),
        json!({"minimum": "3"}),
        json!({"minProperties": 1e300}),
    ] {
        refused(of_x(x));
    }
    assert!(!admits(json!({"minimum": 1e308}), json!(5)) && admits(json!({"maximum": 1e308}), json!(-1e308)));
    assert!(
        admits(json!({"maxItems": 3.0}), json!([1]))
            && admits(json!({"minLength": 0, "maxLength": u64::MAX}), json!(""))
    );
    assert!(!admits(json!({"multipleOf": 0.3}), json!(1e308)));
    assert!(admits(json!({"multipleOf": 1e-12}), json!(u64::MAX)));
}
