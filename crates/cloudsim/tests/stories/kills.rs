//! Who is killed, and what is left: the cloud does what it has accepted, whoever dies.

use serde_json::Value;

use crate::rig::{Rig, alive, eventually, signal, text};

const SLOW: &str = r#"
    resource "cloudsim_thing" "web" {
      name            = "web"
      create_seconds  = 3
      destroy_seconds = 3
    }
"#;
const APPLY: [&str; 2] = ["apply", "-auto-approve"];

#[test]
fn a_create_whose_terraform_is_killed_is_finished_and_in_no_state() {
    let rig = Rig::new();
    let stack = rig.stack("stack", SLOW);
    let mut terraform = stack.start(&APPLY);
    eventually("the create begins", || rig.object("web"), |web| web["status"] == "creating");
    terraform.kill().unwrap();
    terraform.wait().unwrap();

    let provider = rig.ledger()[0]["pid"].clone();
    eventually("the provider leaves", || alive(&provider), |alive| !alive);
    assert_eq!(rig.object("web")["status"], "ready", "a provider stays for the call under way");
    assert_eq!(rig.effects(), ["create web"]);
    assert_eq!(stack.state().len(), 0);

    let refused = stack.apply_fails();
    assert!(refused.contains("EntityAlreadyExists"), "{refused}");
    stack.succeeds(&["import", "cloudsim_thing.web", "web"]);
    assert!(!stack.has_changes());
}

#[test]
fn a_create_whose_provider_is_killed_is_finished_too() {
    let rig = Rig::new();
    let stack = rig.stack("stack", SLOW);
    let terraform = stack.start(&APPLY);
    eventually("the create begins", || rig.object("web"), |web| web["status"] == "creating");
    signal("KILL", &rig.ledger()[0]["pid"]);

    let output = terraform.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(stack.state().len(), 0);
    eventually("the thing is ready", || rig.object("web"), |web| web["status"] == "ready");
    assert_eq!(rig.effects(), ["create web"]);
}

#[test]
fn a_destroy_whose_terraform_and_provider_are_killed_takes_its_course() {
    let rig = Rig::new();
    let stack = rig.stack("stack", SLOW);
    stack.apply();
    let mut terraform = stack.start(&["destroy", "-auto-approve"]);
    eventually("the destroy begins", || rig.object("web"), |web| web["status"] == "deleting");
    terraform.kill().unwrap();
    signal("KILL", &rig.ledger()[1]["pid"]);
    terraform.wait().unwrap();

    assert_eq!(stack.state(), ["cloudsim_thing.web"]);
    eventually("the thing is gone", || rig.object("web"), Value::is_null);
    assert_eq!(rig.effects(), ["create web", "destroy web"]);
    stack.destroy();
    assert_eq!(rig.effects(), ["create web", "destroy web"]);
    assert_eq!(stack.state().len(), 0);
}

#[test]
fn an_interrupted_terraform_waits_for_what_is_under_way_and_remembers_it() {
    let rig = Rig::new();
    let stack = rig.stack("stack", SLOW);
    let terraform = stack.start(&APPLY);
    eventually("the create begins", || rig.object("web"), |web| web["status"] == "creating");
    // As a terminal does: to the whole group, provider included.
    let provider = rig.ledger()[0]["pid"].clone();
    for pid in [Value::from(terraform.id()), provider] {
        signal("INT", &pid);
    }
    let output = terraform.wait_with_output().unwrap();
    assert!(text(&output).contains("Interrupt received"), "{}", text(&output));
    assert_eq!(stack.state(), ["cloudsim_thing.web"]);
    assert!(!stack.has_changes());
}

#[test]
fn wherever_everything_is_killed_the_ledger_and_the_objects_agree() {
    let rig = Rig::new();
    for round in [1, 3, 5, 7, 9] {
        let things = format!(
            r#"resource "cloudsim_thing" "many" {{
                 count = 10
                 name  = "round-{round}-${{count.index}}"
               }}"#
        );
        let stack = rig.stack(&format!("round-{round}"), &things);
        let before = if round == 1 { 0 } else { rig.objects().len() };
        let mut terraform = stack.start(&["apply", "-auto-approve", "-parallelism=1"]);
        let seen = || rig.path("world").join("ledger.jsonl").metadata().map_or(0, |_| rig.objects().len());
        eventually("some are made", seen, |seen| *seen >= before + round);
        terraform.kill().unwrap();
        signal("KILL", &rig.ledger().last().unwrap()["pid"]);
        terraform.wait().unwrap();
    }
    let mut created: Vec<_> = rig.ledger().iter().map(|entry| entry["id"].to_string()).collect();
    let mut existing: Vec<_> = rig.objects().iter().map(|object| object["id"].to_string()).collect();
    assert!(existing.len() >= 25, "{existing:?}");
    created.sort();
    existing.sort();
    assert_eq!(created, existing);
}
