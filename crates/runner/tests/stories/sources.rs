use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use model::Class;
use model::job::{Goal, Source};

use crate::rig::{Ended, Rig, terraform_of};

#[expect(clippy::disallowed_methods, reason = "the stories make a repository")]
fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Tag `v1`, then two more commits on `main`, the module in `stacks/db`.
fn repository(rig: &Rig) -> (String, Vec<String>) {
    let folder = rig.folder.path().join("repository");
    fs::create_dir_all(folder.join("stacks/db")).unwrap();
    git(&folder, &["init", "--quiet"]);
    let mut commits = vec![];
    for number in 1..=3 {
        let module = format!("output \"number\" {{ value = {number} }}\nterraform {{\n  backend \"s3\" {{}}\n}}\n");
        fs::write(folder.join("stacks/db/main.tf"), module).unwrap();
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "--quiet", "-m", "change"]);
        commits.push(git(&folder, &["rev-parse", "HEAD"]));
        if number == 1 {
            git(&folder, &["tag", "v1"]);
        }
    }
    git(&folder, &["branch", "older", "HEAD~1"]);
    (format!("file://{}", folder.display()), commits)
}

fn run_from(rig: &Rig, source: Source) -> Ended {
    let mut assignment = rig.assignment(Goal::Apply, Path::new(""));
    terraform_of(&mut assignment).source = source;
    rig.run(&assignment)
}

#[test]
fn a_module_comes_from_git_at_a_tag_a_branch_or_a_commit() {
    let rig = Rig::new();
    let (url, commits) = repository(&rig);
    let at = |reference: Option<&str>, commit: Option<&str>| Source::Git {
        git: url.clone(),
        reference: reference.map(str::to_owned),
        commit: commit.map(str::to_owned),
        path: "stacks/db".into(),
    };
    let cases = [
        (at(Some("v1"), None), 1),
        (at(Some("older"), None), 2),
        (at(Some(&commits[1]), None), 2),
        (at(Some(&commits[0][..8]), None), 1),
        (at(None, None), 3),
        (at(Some("main"), Some(&commits[0])), 1),
    ];
    for (source, number) in cases {
        let ended = run_from(&rig, source).succeeded();
        assert_eq!(ended.report.outputs["number"].value, number, "{}", ended.log);
        assert_eq!(ended.report.versions.module_commit.as_ref(), Some(&commits[usize::try_from(number).unwrap() - 1]));
    }
    let nowhere = run_from(&rig, at(Some("no-such-ref"), None));
    assert_eq!(nowhere.failure().class, Class::InvalidConfig, "{}", nowhere.log);
    let outside = Source::Git { git: url.clone(), reference: None, commit: None, path: "../..".into() };
    assert_eq!(run_from(&rig, outside).failure().class, Class::InvalidConfig);
    let missing = Source::Git { git: url, reference: None, commit: None, path: "stacks/other".into() };
    assert!(run_from(&rig, missing).failure().message.contains("stacks/other"));
}

#[test]
fn a_modules_own_backend_is_not_used() {
    let rig = Rig::new();
    for (name, block) in [
        ("cloud", "cloud {\n organization = \"x\"\n}"),
        ("http", "backend \"http\" {\n address = \"http://127.0.0.1:1\"\n}"),
    ] {
        let module = rig.module(name, &format!("terraform {{\n{block}\n}}\nresource \"terraform_data\" \"a\" {{}}"));
        // An override of the module's own is overridden too.
        fs::write(
            module.join("zz_override.tf"),
            "terraform {\n  backend \"local\" {\n    path = \"/job/elsewhere\"\n  }\n}\n",
        )
        .unwrap();
        let ended = rig.run(&rig.assignment(Goal::Apply, &module)).succeeded();
        assert_eq!(ended.state()["resources"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_folder_comes_only_from_below_a_source_root_and_without_links_out_of_it() {
    let rig = Rig::new();
    let elsewhere = Rig::new().module("m", "");
    let ended = rig.run(&rig.assignment(Goal::Plan, &elsewhere));
    assert_eq!(ended.failure().class, Class::InvalidConfig);
    let module = rig.module("m", "");
    symlink("/etc/passwd", module.join("accounts.tf")).unwrap();
    let ended = rig.run(&rig.assignment(Goal::Plan, &module));
    assert!(ended.failure().message.contains("accounts.tf leads out"), "{}", ended.failure().message);
}
