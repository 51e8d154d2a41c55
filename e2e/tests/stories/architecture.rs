//! Which crate may use which: the arrows of the code map, kept true.

use std::process::Command;

use serde_json::Value;

/// A crate of the workspace, and those it may use. The stories and the benchmarks know nothing of the product's code.
const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("store", &["model"]),
    ("link", &["model"]),
    ("nova", &["model"]),
    ("plugins", &["model", "nova"]),
    ("controller", &["model", "store", "link", "plugins"]),
    ("runner", &["model", "link"]),
    ("cloudsim", &[]),
    ("api", &["model", "store", "link", "controller"]),
    ("terrane", &["model", "store", "link", "api", "controller", "runner"]),
    ("e2e", &[]),
    ("bench", &[]),
];

#[test]
fn crates_use_only_what_they_may() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let members: Vec<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    for package in packages {
        let name = text(&package["name"]);
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            panic!("{name} is new: add it to the table in {}", file!());
        };
        let used = package["dependencies"].as_array().unwrap().iter();
        let forbidden: Vec<&str> = used
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| text(&dependency["name"]))
            .filter(|used| members.contains(used) && !allowed.contains(used))
            .collect();
        assert!(forbidden.is_empty(), "{name} uses {forbidden:?}, which the table in {} does not allow", file!());
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
