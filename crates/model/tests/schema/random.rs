//! Random schemas and documents: nothing panics, and what is admitted stays admitted, unchanged.

use proptest::prelude::*;

use super::*;

fn name() -> impl Strategy<Value = String> + Clone {
    prop::sample::select(vec!["a", "b", "c", "$ref", "x.y"]).prop_map(str::to_owned)
}

fn document() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        prop::sample::select(vec![json!(1.5), json!(1e308), json!(u64::MAX), json!("a"), json!("é"), json!("")]),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn types() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["string", "integer", "number", "object", "array", "boolean", "null"])
        .prop_map(Value::from)
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        types().prop_map(|t| json!({"type": t})),
        (types(), document()).prop_map(|(t, d)| json!({"type": t, "default": d})),
        document().prop_map(|d| json!({"default": d})),
        prop::collection::vec(document(), 1..3).prop_map(|e| json!({"enum": e, "nullable": true})),
        document().prop_map(|c| json!({"const": c})),
        prop::collection::btree_set(name(), 0..3).prop_map(|r| json!({"required": r, "minProperties": 1})),
        prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b", "#/properties/a"]).prop_map(|r| json!({"$ref": r})),
        prop::sample::select(vec!["^a", "(", "\\d", "é|b"]).prop_map(|p| json!({"pattern": p, "maxLength": 2})),
        Just(json!({"uniqueItems": true, "multipleOf": 0.5})),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let named = prop::collection::btree_map(name(), inner.clone(), 0..4);
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            4 => (named.clone(), any::<bool>()).prop_map(|(p, a)| json!({"properties": p, "additionalProperties": a})),
            2 => (prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]), several, types())
                .prop_map(|(k, s, t)| json!({k: s, "type": t})),
            2 => (prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(k, s)| json!({k: s})),
            2 => (prop::sample::select(vec!["not", "items", "contains", "additionalProperties", "propertyNames",
                "unevaluatedProperties", "unevaluatedItems"]), inner.clone()).prop_map(|(k, s)| json!({k: s})),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(i, t, e)| json!({"if": i, "then": t, "else": e})),
            1 => named.clone().prop_map(|s| json!({"patternProperties": s})),
            1 => named.prop_map(|s| json!({"dependentSchemas": s})),
        ]
    })
}

fn root() -> impl Strategy<Value = Value> {
    let named = || prop::collection::btree_map(name(), schema(), 0..4);
    (named(), named(), prop::collection::vec(schema(), 1..3)).prop_map(|(properties, mut defs, any_of)| {
        defs.entry("a".into()).or_insert(json!({}));
        defs.entry("b".into()).or_insert(json!({"properties": {"a": {"default": 1}}}));
        json!({"type": "object", "properties": properties, "$defs": defs, "anyOf": any_of})
    })
}

fn spec() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(name(), document(), 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_admitted_is_admitted_again_unchanged(schema in root(), specs in prop::collection::vec(spec(), 4)) {
        if let Ok(schema) = Schema::compile(&schema) {
            for spec in specs {
                if let Ok(admitted) = schema.admit(spec) {
                    prop_assert_eq!(schema.admit(admitted.clone()), Ok(admitted));
                }
            }
        }
    }

    #[test]
    fn any_value_at_all_is_compiled_or_refused(schema in prop_oneof![document(), schema()], spec in document()) {
        if let Ok(schema) = Schema::compile(&schema) {
            let _ = schema.admit(spec);
        }
    }

    /// The crate that the assertions come from is asked about whole schemas here: the two must agree.
    #[test]
    fn the_verdict_is_that_of_json_schema(schema in root(), specs in prop::collection::vec(spec(), 4)) {
        let text = schema.to_string().replace("\"default\":", "\"x-default\":").replace("\"nullable\":true", "\"x-n\":0");
        let schema: Value = serde_json::from_str(&text).unwrap();
        if let (Ok(ours), Ok(theirs)) = (Schema::compile(&schema), jsonschema::draft202012::new(&schema)) {
            for spec in specs {
                prop_assert_eq!(ours.admit(spec.clone()).is_ok(), theirs.is_valid(&spec), "{} {}", schema, spec);
            }
        }
    }
}
