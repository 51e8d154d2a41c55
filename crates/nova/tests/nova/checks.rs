use nova::{check, check_change, kind_of};
use serde_json::{Value, json};

use crate::sample::{blueprint, catalogues, spec};

fn refused(spec: Value) -> Vec<String> {
    let refusals = check(&blueprint(), &catalogues(), &spec).expect_err("it is refused");
    refusals.iter().map(ToString::to_string).collect()
}

#[test]
fn a_cloud_and_a_region_are_enough() {
    let wish = check(&blueprint(), &catalogues(), &spec()).expect("a wish");
    assert_eq!(wish.provider, "near");
    assert_eq!(wish.spec["node_count"], 3);
    assert_eq!(wish.spec["size"], "small", "the cloud's own default");
    let far = check(&blueprint(), &catalogues(), &json!({ "provider": "far", "region": "there-2" })).expect("a wish");
    assert_eq!((&far.spec["size"], &far.spec["kubernetes_version"]), (&json!("large"), &json!("1.32")));
}

#[test]
fn what_is_wrong_is_told_with_its_field_its_reason_and_what_would_be_right() {
    let cases = [
        (json!({ "region": "here-1" }), "provider: which cloud it shall be is not said (one of near, far)"),
        (
            json!({ "provider": "naer", "region": "here-1" }),
            "provider: the template sample does not work on \"naer\" (did you mean near?)",
        ),
        (json!({ "provider": 7, "region": "here-1" }), "provider: 7 is no name of a cloud (one of near, far)"),
        (
            json!({ "provider": "near", "region": "heer-1" }),
            "region: \"heer-1\" is no region of Nearby, as of 2026-01-01 (did you mean here-1?)",
        ),
        (
            json!({ "provider": "near", "region": "there-1" }),
            "region: \"there-1\" is no region of Nearby, as of 2026-01-01 (did you mean here-1 or here-2?)",
        ),
        (
            json!({ "provider": "near", "region": "here-1", "size": "gigantic" }),
            "size: \"gigantic\" is no instance type of Nearby, as of 2026-01-01 (for instance small, large)",
        ),
        (
            json!({ "provider": "near", "region": "here-1", "size": "other" }),
            "size: Nearby has \"other\" only in here-2 (of the same size: large)",
        ),
        (
            json!({ "provider": "near", "region": "here-1", "kubernetes_version": "1.23" }),
            "kubernetes_version: \"1.23\" is no Kubernetes version of Nearby, as of 2026-01-01 (did you mean 1.33 or 1.32?)",
        ),
        (
            json!({ "provider": "near", "region": "here-1", "high_availability": true, "node_count": 2 }),
            "node_count: high availability needs at least 3 nodes",
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(refused(spec), [expected]);
    }
}

#[test]
fn a_clouds_limits_are_its_own() {
    let nodes = |provider: &str, region: &str| json!({ "provider": provider, "region": region, "node_count": 50 });
    assert!(check(&blueprint(), &catalogues(), &nodes("near", "here-1")).is_ok());
    let found = refused(nodes("far", "there-1"));
    assert!(found[0].starts_with("node_count: expected") && found[0].contains("20"), "{found:?}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let spec = json!({ "provider": "near", "region": "x", "size": "y", "high_availability": true, "node_count": 1 });
    let found = refused(spec);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn an_update_that_cannot_be_is_refused() {
    let blueprint = blueprint();
    let old = check(&blueprint, &catalogues(), &spec()).expect("a wish");
    let to = |spec: Value| check(&blueprint, &catalogues(), &spec).expect("a wish");
    let refusals = |new: Value| -> Vec<String> {
        check_change(&blueprint, &old.spec, &to(new)).iter().map(ToString::to_string).collect()
    };
    assert!(refusals(json!({ "provider": "near", "region": "here-1", "node_count": 9 })).is_empty());
    assert_eq!(
        refusals(json!({ "provider": "near", "region": "here-2", "kubernetes_version": "1.32" })),
        [
            "region: a cluster stays in its region; make another one there",
            "kubernetes_version: a cluster does not go back to an older version",
        ]
    );
}

#[test]
fn a_template_becomes_a_resource_type() {
    let kind = kind_of(&blueprint());
    assert_eq!((kind.name.as_str(), kind.version.as_str()), ("Cluster", "v1"));
    assert_eq!(kind.schema["properties"]["provider"]["enum"], json!(["near", "far"]));
    assert_eq!(kind.plugin_config, json!({ "source": { "template": "sample", "version": "1.2.0" } }));
    assert!(model::schema::Schema::compile(&kind.schema).is_ok());
}
