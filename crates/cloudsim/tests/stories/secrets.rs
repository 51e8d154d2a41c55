//! What is marked sensitive is not for the screen.

use crate::rig::Rig;

#[test]
fn neither_the_secret_nor_the_token_is_printed() {
    let rig = Rig::new();
    let stack = rig.stack(
        "stack",
        r#"resource "cloudsim_thing" "web" {
             name   = "web"
             secret = "correct-horse"
           }"#,
    );
    let provider = rig.path("stack").join("provider.tf");
    let config = std::fs::read_to_string(&provider).unwrap();
    std::fs::write(&provider, config.replace("world =", "token = \"battery-staple\"\nworld =")).unwrap();

    let mut printed = stack.succeeds(&["plan"]);
    assert!(printed.contains("(sensitive value)"), "{printed}");
    printed += &stack.apply();
    rig.cloudsim(&["edit", &rig.world(), "web", "secret=correct-pony"]);
    printed += &stack.succeeds(&["plan"]);
    printed += &stack.succeeds(&["show"]);
    printed += &stack.destroy();
    for secret in ["correct-horse", "correct-pony", "battery-staple"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[test]
fn the_secret_reaches_the_cloud_and_comes_back() {
    let rig = Rig::new();
    let stack = rig.stack(
        "stack",
        r#"
        resource "cloudsim_thing" "web" {
          name   = "web"
          secret = "correct-horse"
        }
        "#,
    );
    stack.apply();
    assert_eq!(rig.object("web")["attributes"]["secret"], "correct-horse");
    assert_eq!(stack.attributes("cloudsim_thing.web")["secret"], "correct-horse");
    rig.cloudsim(&["edit", &rig.world(), "web", "secret=stolen"]);
    assert!(stack.has_changes());
}
