//! What people do to a cloud behind Terraform's back, and how Terraform finds out; and how it adopts what it did not make.

use serde_json::{Value, json};

use crate::rig::Rig;

const WEB: &str = r#"resource "cloudsim_thing" "web" { name = "web" }"#;

#[test]
fn a_change_by_hand_is_seen_and_put_right() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    rig.cloudsim(&["edit", &rig.world(), "web", "size=5", "tags.by=hand"]);

    let plan = stack.succeeds(&["plan"]);
    assert!(plan.contains("= 5 -> 1"), "{plan}");
    assert!(plan.contains("- \"by\" = \"hand\""), "{plan}");
    stack.apply();
    assert_eq!(rig.object("web")["attributes"]["size"], 1);
    assert_eq!(rig.object("web")["attributes"]["tags"], Value::Null);
    assert_eq!(rig.effects(), ["create web", "update web"], "the hand leaves no trace in the ledger");
}

#[test]
fn a_change_of_the_object_s_file_is_seen() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    assert!(!stack.has_changes());
    let id = rig.object("web")["id"].as_str().unwrap().to_owned();
    let file = rig.path("world").join(format!("objects/cloudsim/default/cloudsim_thing/{id}.json"));
    let mut object: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    object["attributes"]["tags"] = json!({ "written": "by an editor" });
    std::fs::write(&file, object.to_string()).unwrap();
    assert!(stack.has_changes());
    stack.succeeds(&["apply", "-refresh-only", "-auto-approve"]);
    assert_eq!(stack.attributes("cloudsim_thing.web")["tags"], json!({ "written": "by an editor" }));
}

#[test]
fn what_somebody_removed_is_made_again() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    let lost = rig.object("web")["id"].clone();
    rig.cloudsim(&["remove", &rig.world(), "web"]);
    assert_eq!(rig.objects().len(), 0);

    let plan = stack.succeeds(&["plan"]);
    assert!(plan.contains("1 to add, 0 to change, 0 to destroy"), "{plan}");
    stack.apply();
    assert_ne!(rig.object("web")["id"], lost);
}

#[test]
fn a_namesake_is_not_mistaken_for_what_was_removed() {
    let rig = Rig::new();
    let [mine, theirs] = ["mine", "theirs"].map(|name| rig.stack(name, WEB));
    mine.apply();
    rig.cloudsim(&["remove", &rig.world(), "web"]);
    theirs.apply();
    let namesake = rig.object("web");

    let plan = mine.succeeds(&["plan"]);
    assert!(plan.contains("1 to add, 0 to change, 0 to destroy"), "{plan}");
    // Without a refresh the state still knows the old id, and the new one is not touched all the same.
    mine.succeeds(&["destroy", "-auto-approve", "-refresh=false"]);
    assert_eq!(rig.object("web"), namesake);
    assert_eq!(mine.state().len(), 0);
    assert!(!theirs.has_changes());
}

#[test]
fn what_is_gone_can_be_destroyed_but_not_updated() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    rig.cloudsim(&["remove", &rig.world(), "web"]);

    stack.write(
        r#"resource "cloudsim_thing" "web" {
        name = "web"
        size = 2
    }"#,
    );
    let refused = stack.fails(&["apply", "-auto-approve", "-refresh=false"]);
    assert!(refused.contains("NoSuchEntity"), "{refused}");
    stack.succeeds(&["destroy", "-auto-approve", "-refresh=false"]);
    assert_eq!(rig.effects(), ["create web"], "there was nothing to destroy");
}

#[test]
fn a_thing_is_imported_by_id_or_by_name() {
    let rig = Rig::new();
    rig.stack("maker", WEB).apply();
    let id = rig.object("web")["id"].as_str().unwrap().to_owned();
    for (stack, by) in [("by-id", id.as_str()), ("by-name", "web")] {
        let stack = rig.stack(stack, WEB);
        stack.succeeds(&["import", "cloudsim_thing.web", by]);
        assert_eq!(stack.attributes("cloudsim_thing.web")["id"], id);
        assert!(!stack.has_changes());
    }
    let refused = rig.stack("by-nothing", WEB).fails(&["import", "cloudsim_thing.web", "nobody"]);
    assert!(refused.contains("NoSuchEntity: no thing has the id or name \"nobody\""), "{refused}");
}
