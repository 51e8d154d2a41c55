//! Many at once, in one world.

use std::collections::HashSet;

use crate::rig::{Rig, text};

fn many(prefix: &str, count: usize) -> String {
    format!(
        r#"
        resource "cloudsim_thing" "many" {{
          count = {count}
          name  = "{prefix}-${{count.index}}"
        }}
        "#
    )
}

#[test]
fn twenty_things_come_and_go_in_one_apply_each() {
    let rig = Rig::new();
    let stack = rig.stack("stack", &many("thing", 20));
    stack.apply();
    let ids: HashSet<_> = rig.objects().iter().map(|object| object["id"].to_string()).collect();
    assert_eq!(ids.len(), 20);
    assert_eq!(rig.ledger().len(), 20);
    assert_eq!(stack.state().len(), 20);
    assert!(!stack.has_changes());
    stack.destroy();
    assert_eq!(rig.objects().len(), 0);
    assert_eq!(rig.ledger().len(), 40);
}

#[test]
fn things_of_one_apply_are_made_side_by_side() {
    let rig = Rig::new();
    let slow = many("slow", 10).replace("count = 10", "count = 10\ncreate_seconds = 1");
    let stack = rig.stack("stack", &slow);
    stack.apply();
    let created: Vec<_> = rig.objects().iter().map(|object| object["created_at"].as_u64().unwrap()).collect();
    let first_ready = rig.objects().iter().map(|object| object["ready_at"].as_u64().unwrap()).min();
    assert!(created.iter().max() < first_ready.as_ref(), "the last began before the first was ready");
}

#[test]
fn two_terraforms_at_once_share_a_world_and_one_of_them_gets_the_name() {
    let rig = Rig::new();
    let contested = r#"resource "cloudsim_thing" "contested" { name = "contested" }"#;
    let stacks = ["left", "right"].map(|side| rig.stack(side, &(many(side, 10) + contested)));
    let running = stacks.each_ref().map(|stack| stack.start(&["apply", "-auto-approve"]));
    let outputs = running.map(|terraform| terraform.wait_with_output().unwrap());

    let winners = outputs.iter().filter(|output| output.status.success()).count();
    let told: String = outputs.iter().map(text).collect();
    assert_eq!(winners, 1, "{told}");
    assert!(told.contains("EntityAlreadyExists"), "{told}");
    assert_eq!(rig.objects().len(), 21);
    assert_eq!(rig.ledger().len(), 21);
    assert_eq!(stacks.iter().map(|stack| stack.state().len()).sum::<usize>(), 21);
}
