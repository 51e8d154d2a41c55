//! Plans as `terraform show -json` prints them, and what is made of them. `fixtures/plan.json` is a true one.

use model::job::Approval;
use model::plugin::Changes;
use model::{PlanSummary, PlannedAction, PlannedAttribute, UnreadablePlan, drift_of};
use serde_json::{Value, json};

fn fixture() -> PlanSummary {
    let plan = serde_json::from_str(include_str!("fixtures/plan.json")).expect("JSON");
    PlanSummary::of(&plan).expect("a plan")
}

fn plan(resource_changes: Value) -> PlanSummary {
    PlanSummary::of(&json!({"format_version": "1.2", "resource_changes": resource_changes})).expect("a plan")
}

/// The attributes of one resource with this change.
fn attributes(change: Value) -> Vec<PlannedAttribute> {
    let entry = json!([{"address": "x_y.z", "mode": "managed", "change": change}]);
    plan(entry).changes.pop().expect("a change").attributes
}

fn shown(attributes: &[PlannedAttribute]) -> Vec<String> {
    let show = |attribute: &PlannedAttribute| {
        let mut text = format!("{}: {} -> {}", attribute.path, attribute.before, attribute.after);
        for (is, word) in [
            (attribute.sensitive, " (sensitive)"),
            (attribute.unknown, " (unknown)"),
            (attribute.forces_replacement, " (forces replacement)"),
        ] {
            text.push_str(if is { word } else { "" });
        }
        text
    };
    attributes.iter().map(show).collect()
}

#[test]
fn a_true_plan_is_told_by_what_it_changes() {
    let plan = fixture();
    assert_eq!(plan.to_string(), "1 to create, 1 to update, 0 to delete, 1 to replace");
    assert_eq!(plan.changes(), Changes { created: 2, updated: 1, deleted: 1 });
    let told: Vec<_> = plan.changes.iter().map(|change| (change.address.as_str(), change.action)).collect();
    assert_eq!(
        told,
        [
            ("terraform_data.network", PlannedAction::Update),
            ("terraform_data.node[0]", PlannedAction::Replace),
            ("terraform_data.node[1]", PlannedAction::Create),
        ]
    );
    assert_eq!(
        shown(&plan.changes[0].attributes),
        [
            r#"input.tags.size: "1" -> "2""#,
            r#"output: {"cidr":"10.0.0.0/16","password":"hunter2","tags":{"owner":"a","size":"1"},"zones":["a","b"]} -> null (unknown)"#,
        ],
        "the module itself declared its output as not sensitive"
    );
    assert_eq!(
        shown(&plan.changes[1].attributes),
        [
            r#"id: "393257e3-ffc7-b1c5-9cd0-ccc8935a0b12" -> null (unknown)"#,
            r#"output: "3f9f8953-9090-df2d-f0f2-b77868b38939" -> null (unknown)"#,
            r#"triggers_replace[0]: 1 -> "2" (forces replacement)"#,
        ]
    );
    assert!(!plan.outputs_change, "more than outputs changes");
}

#[test]
fn sensitive_values_are_not_told_however_deep_they_are() {
    let found = attributes(json!({
        "actions": ["update"],
        "before": {"user": {"name": "a", "password": "old"}, "keys": [{"k": "s1"}, {"k": "s2"}], "blob": {"x": "b1"}, "list": ["p", "q"]},
        "after": {"user": {"name": "b", "password": "new"}, "keys": [{"k": "s1"}, {"k": "s3"}], "blob": {"x": "b2"}, "list": ["p", "r", "s"]},
        "before_sensitive": {"user": {"password": true}, "keys": [{}, {"k": true}], "blob": true, "list": [false, true]},
        "after_sensitive": {"user": {"password": true}, "keys": [{}, {"k": true}], "blob": {}, "list": [false, true, false]},
        "after_unknown": {},
    }));
    assert_eq!(
        shown(&found),
        [
            "blob: null -> null (sensitive)",
            "keys[1].k: null -> null (sensitive)",
            "list[1]: null -> null (sensitive)",
            r#"list[2]: null -> "s""#,
            r#"user.name: "a" -> "b""#,
            "user.password: null -> null (sensitive)",
        ]
    );
    let all = serde_json::to_string(&found).expect("JSON");
    assert!(["old", "new", "s3", "b1", "b2"].iter().all(|secret| !all.contains(&format!("\"{secret}\""))), "{all}");
}

#[test]
fn a_creation_tells_everything_that_is_set() {
    let found = attributes(json!({
        "actions": ["create"], "before": null,
        "after": {"name": "a", "tags": {"a.b/c": "1"}, "none": null, "zones": ["x", "y"]},
        "before_sensitive": false, "after_sensitive": {}, "after_unknown": {"id": true, "tags": {}, "node": [{"ip": true}]},
    }));
    assert_eq!(
        shown(&found),
        [
            "id: null -> null (unknown)",
            r#"name: null -> "a""#,
            "node[0].ip: null -> null (unknown)",
            r#"tags."a.b/c": null -> "1""#,
            r#"zones: null -> ["x","y"]"#,
        ]
    );
}

#[test]
fn lists_that_grow_are_told_whole_and_blocks_one_by_one() {
    let found = attributes(json!({
        "actions": ["update"],
        "before": {"zones": ["a"], "rule": [{"port": 1, "to": "x"}]},
        "after": {"zones": ["a", "b"], "rule": [{"port": 2, "to": "x"}, {"port": 3, "to": "y"}]},
        "after_unknown": {}, "before_sensitive": {}, "after_sensitive": {},
    }));
    assert_eq!(
        shown(&found),
        [
            "rule[0].port: 1 -> 2",
            "rule[1].port: null -> 3",
            r#"rule[1].to: null -> "y""#,
            r#"zones: ["a"] -> ["a","b"]"#,
        ]
    );
}

#[test]
fn reads_and_what_stays_are_left_out() {
    let summary = plan(json!([
        {"address": "data.x.y", "mode": "data", "change": {"actions": ["read"], "before": null, "after": {"a": 1}}},
        {"address": "x.same", "mode": "managed", "change": {"actions": ["no-op"], "before": {}, "after": {}}},
    ]));
    assert_eq!(summary, PlanSummary::default());
    assert_eq!(summary.to_string(), "nothing to change");
    assert!(summary.is_empty());
}

#[test]
fn what_is_moved_taken_over_or_forgotten_is_told_as_such() {
    let same = json!({"actions": ["no-op"], "before": {"id": "1"}, "after": {"id": "1"}});
    let imported =
        json!({"actions": ["no-op"], "before": {"id": "1"}, "after": {"id": "1"}, "importing": {"id": "hello"}});
    let summary = plan(json!([
        {"address": "x.new", "previous_address": "x.old", "mode": "managed", "change": same},
        {"address": "x.imported", "mode": "managed", "change": imported},
        {"address": "x.forgotten", "mode": "managed", "change": {"actions": ["forget"], "before": {"id": "1"}, "after": null}},
        {"address": "x.old", "deposed": "4f3a2b1c", "mode": "managed", "change": {"actions": ["delete"], "before": {"id": "1"}, "after": null}},
    ]));
    let told: Vec<_> = summary
        .changes
        .iter()
        .map(|change| (change.address.as_str(), change.action, shown(&change.attributes)))
        .collect();
    assert_eq!(
        told,
        [
            ("x.new", PlannedAction::Update, vec![r#"(address): "x.old" -> "x.new""#.to_owned()]),
            ("x.imported", PlannedAction::Update, vec![r#"(imported): null -> "hello""#.to_owned()]),
            (
                "x.forgotten",
                PlannedAction::Delete,
                vec![r#"(state): "managed" -> "forgotten, not deleted""#.to_owned()]
            ),
            ("x.old (deposed object 4f3a2b1c)", PlannedAction::Delete, vec![]),
        ]
    );
}

#[test]
fn a_change_of_outputs_alone_is_one() {
    let summary = PlanSummary::of(&json!({
        "format_version": "1.2",
        "output_changes": {"a": {"actions": ["no-op"]}, "b": {"actions": ["update"], "before": 2, "after": 3}},
    }))
    .expect("a plan");
    assert!(summary.outputs_change && !summary.is_empty());
    assert_eq!(summary.to_string(), "only outputs change");
    assert!(!summary.needs_approval(Approval::Manual));
}

#[test]
fn consent_is_asked_for_by_what_would_happen() {
    let action = |actions: Value| plan(json!([{"address": "x.y", "mode": "managed", "change": {"actions": actions}}]));
    for (actions, manual, destroys) in [
        (json!(["create"]), true, false),
        (json!(["update"]), true, false),
        (json!(["delete"]), true, true),
        (json!(["forget"]), true, true),
        (json!(["delete", "create"]), true, true),
        (json!(["create", "delete"]), true, true),
        (json!(["no-op"]), false, false),
    ] {
        let summary = action(actions.clone());
        let asked =
            [Approval::Auto, Approval::Manual, Approval::Destroys].map(|approval| summary.needs_approval(approval));
        assert_eq!(asked, [false, manual, destroys], "{actions}");
    }
}

#[test]
fn a_plan_of_any_size_is_told_in_bounds() {
    let after: Value =
        (0..200).map(|n| (format!("a{n:03}"), json!("ü".repeat(2000)))).collect::<serde_json::Map<_, _>>().into();
    let entry =
        json!({"address": "x.y", "mode": "managed", "change": {"actions": ["create"], "before": null, "after": after}});
    let summary = plan(Value::Array(vec![entry; 501]));
    assert_eq!((summary.creates, summary.changes.len(), summary.unlisted), (501, 500, 1));
    assert_eq!(summary.changes[0].attributes.len(), 100);
    let value = summary.changes[0].attributes[0].after.as_str().expect("text");
    assert!(value.len() < 1100 && value.ends_with("… (4000 bytes)"), "{value}");
}

#[test]
fn what_is_no_plan_is_refused() {
    assert_eq!(PlanSummary::of(&json!({})), Err(UnreadablePlan::NoPlan));
    assert_eq!(PlanSummary::of(&json!({"format_version": "2.0"})), Err(UnreadablePlan::Version("2.0".into())));
    assert_eq!(PlanSummary::of(&json!({"format_version": "1.2", "errored": true})), Err(UnreadablePlan::Errored));
}

#[test]
fn drift_is_told_by_address_and_attribute() {
    let drift = drift_of(&json!({"format_version": "1.2", "resource_drift": [
        {"address": "module.n.aws_vpc.main", "mode": "managed", "change": {
            "actions": ["update"],
            "before": {"tags": {"owner": "a"}, "password": "x", "same": 1}, "after": {"tags": {"owner": "b"}, "password": "y", "same": 1},
            "after_unknown": {}, "before_sensitive": {"password": true}, "after_sensitive": {"password": true}}},
        {"address": "aws_instance.gone[0]", "mode": "managed", "change": {"actions": ["delete"], "before": {"id": "i-1"}, "after": null}},
        {"address": "data.x.y", "mode": "data", "change": {"actions": ["update"], "before": {"a": 1}, "after": {"a": 2}}},
    ]}))
    .expect("a plan");
    let told: Vec<_> = drift.iter().map(|one| format!("{}: {} -> {}", one.path, one.expected, one.found)).collect();
    assert_eq!(
        told,
        [
            r#"module.n.aws_vpc.main.password: "(sensitive)" -> "(sensitive)""#,
            r#"module.n.aws_vpc.main.tags.owner: "a" -> "b""#,
            r#"aws_instance.gone[0]: "there" -> "gone""#,
        ]
    );
}
