//! What the cloud refuses.

use crate::rig::Rig;

#[test]
fn a_name_can_be_taken_once() {
    let rig = Rig::new();
    let web = r#"resource "cloudsim_thing" "web" { name = "web" }"#;
    rig.stack("first", web).apply();
    let second = rig.stack("second", web);
    let refused = second.apply_fails();
    assert!(refused.contains(r#"EntityAlreadyExists: a thing with the name "web" already exists"#), "{refused}");
    assert_eq!(second.state().len(), 0);
    assert_eq!(rig.effects(), ["create web"]);
}

#[test]
fn a_create_that_is_to_fail_fails_and_leaves_nothing() {
    let rig = Rig::new();
    let stack = rig.stack(
        "stack",
        r#"
        resource "cloudsim_thing" "good" { name = "good" }
        resource "cloudsim_thing" "bad" {
          name = "bad"
          fail = "InsufficientCapacity: try another zone"
        }
        "#,
    );
    for _ in 0..2 {
        let refused = stack.apply_fails();
        assert!(refused.contains("Error: InsufficientCapacity: try another zone"), "{refused}");
    }
    assert_eq!(stack.state(), ["cloudsim_thing.good"]);
    assert_eq!(rig.effects(), ["create good"]);
}

#[test]
fn a_create_that_fails_twice_succeeds_the_third_time() {
    let rig = Rig::new();
    let flaky = |name: &str| {
        format!(
            r#"resource "cloudsim_thing" "flaky" {{
                 name       = "{name}"
                 fail       = "Throttling: slow down"
                 fail_times = 2
               }}"#
        )
    };
    let stack = rig.stack("stack", &flaky("flaky"));
    for _ in 0..2 {
        let refused = stack.apply_fails();
        assert!(refused.contains("Throttling: slow down"), "{refused}");
        assert_eq!(rig.objects().len(), 0);
    }
    stack.apply();
    assert!(!stack.has_changes());
    assert_eq!(rig.effects(), ["create flaky"]);

    stack.write(&flaky("another"));
    stack.apply_fails();
}

#[test]
fn nonsense_is_refused_before_anything_happens() {
    let rig = Rig::new();
    let stack = rig.stack(
        "stack",
        r#"resource "cloudsim_thing" "odd" {
             name           = "../escape"
             create_seconds = -1
           }"#,
    );
    let refused = stack.fails(&["validate"]);
    assert!(refused.contains("InvalidParameterValue: a name has 1 to 100 letters"), "{refused}");
    assert!(refused.contains("InvalidParameterValue: create_seconds is negative"), "{refused}");
}

#[test]
fn a_name_that_only_the_apply_tells_is_checked_then() {
    let rig = Rig::new();
    let stack = rig.stack(
        "stack",
        r#"
        resource "cloudsim_thing" "first" { name = "first" }
        resource "cloudsim_thing" "odd" { name = "../${cloudsim_thing.first.id}" }
        "#,
    );
    let refused = stack.apply_fails();
    assert!(refused.contains("InvalidParameterValue: a name has 1 to 100 letters"), "{refused}");
    assert_eq!(rig.effects(), ["create first"]);
}
