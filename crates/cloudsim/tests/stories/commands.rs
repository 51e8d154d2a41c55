//! The commands for people.

use crate::rig::Rig;

#[test]
fn help_teaches_by_example() {
    let help = Rig::new().cloudsim(&["--help"]);
    for taught in
        ["cloudsim mirror", "TF_CLI_CONFIG_FILE", "source = \"terrane/cloudsim\"", "fail_times", "CLOUDSIM_WORLD"]
    {
        assert!(help.contains(taught), "{taught} is missing: {help}");
    }
}

#[test]
fn a_mirror_written_again_keeps_lock_files_valid() {
    let rig = Rig::new();
    let stack = rig.stack("stack", "");
    let lock_file = rig.path("stack").join(".terraform.lock.hcl");
    let locked = std::fs::read_to_string(&lock_file).unwrap();
    rig.cloudsim(&["mirror", rig.path("mirror").to_str().unwrap()]);
    std::fs::remove_dir_all(rig.path("stack").join(".terraform")).unwrap();
    stack.succeeds(&["init", "-lockfile=readonly"]);
    assert_eq!(std::fs::read_to_string(&lock_file).unwrap(), locked);
}

#[test]
fn mistakes_are_explained() {
    let rig = Rig::new();
    let world = rig.world();
    let complaint = rig.cloudsim_fails(&["objects", &world]);
    assert!(complaint.contains("there is no world at"), "{complaint}");

    rig.stack("stack", r#"resource "cloudsim_thing" "web" { name = "web" }"#).apply();
    for (args, answer) in [
        (["nobody", "size=1"], "no object has the name \"nobody\""),
        (["web", "colour=red"], "there is no attribute colour; there are id, endpoint, name, size"),
        (["web", "name=shop"], "name is what the object is known by, and cannot be changed"),
        (["web", "size=big"], "\"big\" is not a number"),
        (["web", "size.x=1"], "size is not a map"),
        (["web", "tags=red"], "change one entry at a time, as in tags.KEY=VALUE"),
        (["web", "size"], "\"size\" is not KEY=VALUE"),
    ] {
        let complaint = rig.cloudsim_fails(&["edit", &world, args[0], args[1]]);
        assert!(complaint.contains(answer), "{complaint}");
    }
    assert_eq!(rig.object("web")["attributes"]["size"], 1);
}
