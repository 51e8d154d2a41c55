//! What is said of documents.

use super::*;

#[test]
fn a_violation_reads_as_a_sentence() {
    let schema = json!({"type": "object", "properties": {"storage_gb": {"type": "integer", "minimum": 10}}});
    assert_eq!(rejection(schema, json!({"storage_gb": 5})), "spec.storage_gb: expected at least 10, found 5\n");
}

#[test]
fn a_violation_survives_serialisation() {
    let violation = Violation { path: "spec.a".into(), expected: "b".into(), found: "c".into() };
    let text = serde_json::to_string(&violation).unwrap();
    assert_eq!(serde_json::from_str::<Violation>(&text).unwrap(), violation);
}

#[test]
fn all_violations_are_told_at_once_with_their_paths() {
    let schema = json!({"type": "object", "required": ["engine"], "properties": {
        "engine": {"type": "string"},
        "nodes": {"type": "array", "items": {"type": "object", "properties": {"size": {"enum": ["s", "m"]}}}}}});
    let said = rejection(schema, json!({"nodes": [{}, {"size": "s"}, {"size": "xl"}], "a.b": 1}));
    assert_eq!(
        said,
        "spec.engine: expected a value (required), found nothing\n\
         spec.nodes[2].size: expected one of \"s\", \"m\", found \"xl\"\n"
    );
}

#[test]
fn an_unknown_field_is_named_with_the_known_one_it_resembles() {
    let schema = json!({"type": "object", "properties": {"size": {}}, "additionalProperties": false});
    let said = rejection(schema, json!({"sise": 1, "other.thing": 2}));
    assert_says(&said, &["spec.sise: expected no such field (did you mean \"size\"?), found 1"]);
    assert_says(&said, &["spec[\"other.thing\"]: expected no such field, found 2"]);
}

#[test]
fn a_document_that_is_not_an_object_is_one_violation_at_spec() {
    let schema = compiled(json!({"type": "object", "required": ["a"]}));
    for spec in [json!(null), json!([1]), json!("x"), json!(3)] {
        let violations = schema.admit(spec).unwrap_err();
        assert_eq!(violations.len(), 1);
        assert_eq!((violations[0].path.as_str(), violations[0].expected.as_str()), ("spec", "an object"));
    }
}

#[test]
fn a_large_value_is_quoted_in_part_and_on_a_character_boundary() {
    let violations = compiled(of_x(json!({"type": "integer"}))).admit(json!({"x": "é😀".repeat(50_000)})).unwrap_err();
    assert!(violations[0].found.chars().count() <= 101 && violations[0].found.ends_with('…'));
}

#[test]
fn a_long_enumeration_is_listed_in_part() {
    let values: Vec<_> = (0..5000).map(|n| format!("v{n}")).collect();
    let violations = compiled(of_x(json!({"enum": values}))).admit(json!({"x": "w"})).unwrap_err();
    assert!(violations[0].expected.len() < 400 && violations[0].expected.contains("\"v0\", \"v1\""));
}

#[test]
fn a_choice_of_which_nothing_matches_tells_what_each_alternative_misses() {
    let schema = of_x(json!({"oneOf": [
        {"type": "object", "required": ["git"]},
        {"type": "object", "required": ["s3"], "properties": {"region": {"type": "string"}}}]}));
    let said = rejection(schema, json!({"x": {"region": 1}}));
    assert_says(&said, &["spec.x: expected one of 2 alternatives", "(1) git: a value (required)"]);
    assert_says(&said, &["(2) s3: a value (required), region: a string", "found {\"region\":1}"]);
}

#[test]
fn a_choice_of_which_several_match_tells_which() {
    let schema = of_x(json!({"oneOf": [{"type": "string"}, {"type": "integer"}, {"minimum": 3}]}));
    assert_says(&rejection(schema, json!({"x": 5})), &["exactly one of 3 alternatives to match, not 2 and 3"]);
}

#[test]
fn beyond_a_hundred_violations_the_rest_is_counted() {
    let schema = of_x(json!({"type": "array", "items": {"type": "string"}}));
    let violations = compiled(schema).admit(json!({"x": vec![1; 1000]})).unwrap_err();
    assert_eq!(violations.len(), 101);
    assert_says(&violations[100].to_string(), &["900 more"]);
}

#[test]
fn formats_are_checked() {
    for (format, good, bad) in [
        ("date-time", "2026-01-02T03:04:05Z", "yesterday"),
        ("date", "2026-01-02", "2026-13-02"),
        ("email", "a@example.org", "a"),
        ("uri", "https://example.org/a", "not a uri"),
        ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "fe80::1", "fe80"),
        ("hostname", "db-1.example.org", "-db"),
        ("byte", "aGVsbG8=", "aGVsbG8"),
    ] {
        let x = json!({"type": "string", "format": format});
        assert!(admits(x.clone(), json!(good)) && !admits(x, json!(bad)), "{format}");
    }
}

#[test]
fn integer_formats_are_ranges() {
    let int32 = json!({"type": "integer", "format": "int32"});
    assert!(admits(int32.clone(), json!(2147483647)) && !admits(int32.clone(), json!(2147483648_i64)));
    assert!(!admits(int32, json!(-2147483649_i64)));
    let int64 = json!({"type": "integer", "format": "int64"});
    assert!(admits(int64.clone(), json!(i64::MAX)) && !admits(int64.clone(), json!(u64::MAX)));
    assert!(!admits(int64, json!(1e19)));
}

#[test]
fn other_formats_are_annotations() {
    for format in ["float", "double", "password", "binary", "regex", "made-up"] {
        assert!(admits(json!({"format": format}), json!("((")));
    }
}

#[test]
fn every_applicator_validates() {
    for (x, good, bad) in [
        (json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}), json!(2), json!(4)),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!(null), json!(1)),
        (json!({"not": {"type": "string"}}), json!(1), json!("a")),
        (json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 2}}), json!("ab"), json!(1)),
        (json!({"dependentSchemas": {"a": {"required": ["b"]}}}), json!({"b": 1}), json!({"a": 1})),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1, "b": 1}), json!({"a": 1})),
        (json!({"patternProperties": {"^n_": {"type": "number"}}}), json!({"s": "a"}), json!({"n_a": "a"})),
        (json!({"additionalProperties": {"type": "number"}}), json!({"a": 1}), json!({"a": "a"})),
        (json!({"propertyNames": {"pattern": "^[a-z]+$"}}), json!({"a": 1}), json!({"A": 1})),
        (json!({"prefixItems": [{"type": "string"}], "items": false}), json!(["a"]), json!(["a", 1])),
        (json!({"contains": {"const": 1}, "minContains": 2, "maxContains": 3}), json!([1, 1]), json!([1])),
        (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2]), json!([1, 1])),
        (
            json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            json!({"b": 1}),
        ),
        (
            json!({"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}],
                "unevaluatedProperties": false}),
            json!({"b": 1, "a": "a"}),
            json!({"b": 1, "a": 1}),
        ),
        (json!({"prefixItems": [{}], "unevaluatedItems": {"type": "string"}}), json!([1, "a"]), json!([1, 2])),
        (
            json!({"uniqueItems": true}),
            json!([[], [[]], [[], []], "1", 1]),
            json!([{"a": 1, "b": 2.0}, {"b": 2, "a": 1.0}]),
        ),
        (json!({"multipleOf": 0.1}), json!(0.3), json!(0.35)),
    ] {
        assert!(admits(x.clone(), good.clone()), "{x} rejects {good}");
        assert!(!admits(x.clone(), bad.clone()), "{x} admits {bad}");
    }
}
