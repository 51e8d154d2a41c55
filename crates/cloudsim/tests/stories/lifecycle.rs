//! From nothing to a thing, through its changes, to nothing again.

use serde_json::json;

use crate::rig::Rig;

const WEB: &str = r#"
    resource "cloudsim_thing" "web" {
      name           = "web"
      tags           = { owner = "me" }
      create_seconds = 0.1
    }
"#;

#[test]
fn a_thing_is_created_and_then_nothing_is_left_to_do() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.succeeds(&["validate"]);
    let plan = stack.succeeds(&["plan"]);
    assert!(plan.contains("Plan: 1 to add, 0 to change, 0 to destroy."), "{plan}");
    assert_eq!(rig.objects().len(), 0, "a plan changes nothing");

    stack.apply();
    let object = rig.object("web");
    assert_eq!(object["status"], "ready");
    assert_eq!(object["attributes"]["size"], 1);
    let attributes = stack.attributes("cloudsim_thing.web");
    assert_eq!(attributes["id"], object["id"]);
    assert_eq!(attributes["endpoint"], object["attributes"]["endpoint"]);
    assert_eq!(attributes["tags"], json!({ "owner": "me" }));
    assert_eq!(rig.effects(), ["create web"]);

    assert!(!stack.has_changes());
    stack.apply();
    assert_eq!(rig.effects(), ["create web"]);
}

#[test]
fn size_and_tags_change_in_place_and_a_default_comes_back() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    let id = rig.object("web")["id"].clone();

    stack.write(
        r#"resource "cloudsim_thing" "web" { 
        name = "web" 
        size = 2.5
        tags = {}
    }"#,
    );
    let applied = stack.apply();
    assert!(applied.contains("0 added, 1 changed, 0 destroyed"), "{applied}");
    assert_eq!(rig.object("web")["id"], id);
    assert_eq!(rig.object("web")["attributes"]["size"], 2.5);
    assert_eq!(rig.object("web")["attributes"]["tags"], json!({}));
    assert!(!stack.has_changes());

    stack.write(r#"resource "cloudsim_thing" "web" { name = "web" }"#);
    stack.apply();
    assert_eq!(rig.object("web")["attributes"]["size"], 1);
    assert!(!stack.has_changes());
    assert_eq!(rig.effects(), ["create web", "update web", "update web"]);
}

#[test]
fn a_new_name_is_a_new_thing() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    let old = rig.object("web")["id"].clone();

    stack.write(r#"resource "cloudsim_thing" "web" { name = "shop" }"#);
    let applied = stack.apply();
    assert!(applied.contains("must be replaced"), "{applied}");
    assert!(applied.contains("1 added, 0 changed, 1 destroyed"), "{applied}");
    assert_ne!(rig.object("shop")["id"], old);
    assert_eq!(rig.effects(), ["create web", "destroy web", "create shop"]);
    assert_eq!(rig.objects().len(), 1);
}

#[test]
fn what_is_destroyed_is_gone_and_its_name_is_free() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    stack.apply();
    stack.destroy();
    assert_eq!(rig.objects().len(), 0);
    assert_eq!(stack.state().len(), 0);
    stack.apply();
    assert_eq!(rig.effects(), ["create web", "destroy web", "create web"]);
    let ledger = rig.ledger();
    assert_ne!(ledger[0]["id"], ledger[2]["id"]);
    assert_eq!(ledger[0]["id"], ledger[1]["id"]);
}

#[test]
fn values_that_only_the_apply_will_tell_may_be_used_for_every_attribute() {
    let rig = Rig::new();
    let stack = rig.stack(
        "stack",
        r#"
        resource "cloudsim_thing" "first" { name = "first" }
        resource "cloudsim_thing" "second" {
          name   = "after-${cloudsim_thing.first.id}"
          size   = length(cloudsim_thing.first.id)
          tags   = { endpoint = cloudsim_thing.first.endpoint }
          secret = cloudsim_thing.first.id
        }
        "#,
    );
    stack.apply();
    assert!(!stack.has_changes());
    let first = rig.object("first");
    let second = stack.attributes("cloudsim_thing.second");
    assert_eq!(second["tags"]["endpoint"], first["attributes"]["endpoint"]);
    assert_eq!(second["secret"], first["id"]);
}

#[test]
fn a_world_may_be_named_by_the_environment_and_must_be_named() {
    let rig = Rig::new();
    let stack = rig.stack("stack", WEB);
    let without_world = rig.path("stack").join("provider.tf");
    let config = std::fs::read_to_string(&without_world).unwrap();
    let start = config.find("provider \"cloudsim\"").unwrap();
    std::fs::write(&without_world, &config[..start]).unwrap();

    let refused = stack.apply_fails();
    assert!(
        refused.contains("The provider needs a world: a folder, or CLOUDSIM_WORLD in the environment"),
        "{refused}"
    );

    let stack = stack.with_environment("CLOUDSIM_WORLD", &rig.world());
    stack.apply();
    assert_eq!(rig.object("web")["status"], "ready");
}
