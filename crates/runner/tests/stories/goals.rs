use model::Class;
use model::job::{Goal, JobEnd};
use model::plugin::{Changes, Step};
use runner::{Kind, Phase, Stage};
use serde_json::json;

use crate::rig::{Rig, terraform_of, variable};

const MODULE: &str = r#"
variable "size" { default = 1 }
resource "terraform_data" "a" { input = var.size }
resource "terraform_data" "b" { input = "fixed" }
output "size" { value = terraform_data.a.output }
output "hidden" {
  value     = "geheim-${var.size}"
  sensitive = true
}
"#;

#[test]
fn a_resource_is_made_left_alone_changed_and_removed() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let mut first = rig.assignment(Goal::Apply, &module);
    variable(&mut first, "size", 3);
    let made = rig.run(&first).succeeded();
    assert_eq!(made.report.changes, Changes { created: 2, updated: 0, deleted: 0 });
    assert_eq!(made.report.plan.as_ref().unwrap().creates, 2);
    assert_eq!(made.report.outputs["size"].value, json!(3));
    assert!(made.report.outputs["hidden"].sensitive);
    assert_eq!(made.report.outputs["hidden"].value, json!("geheim-3"));
    assert_eq!(made.report.made.len(), 2);
    assert_eq!(made.report.suspects, []);
    assert_eq!(made.report.isolation, "namespaces");
    assert_eq!(made.report.versions.terraform, "1.11.4");
    assert!(made.log.contains("terraform_data.a: Creation complete after"), "{}", made.log);
    assert!(made.log.contains("Terraform will perform the following actions"), "{}", made.log);
    assert!(!made.log.contains("@message"), "{}", made.log);

    let again = |size: i64, goal: Goal| {
        let mut next = rig.assignment(goal, &module);
        variable(&mut next, "size", size);
        terraform_of(&mut next).state = made.state.clone();
        rig.run(&next)
    };
    let same = again(3, Goal::Apply).succeeded();
    assert!(same.report.changes.is_none());
    assert_eq!(same.report.outputs["size"].value, json!(3));
    assert_eq!(same.state, None, "nothing was applied");
    let stages: Vec<Stage> = same.job.progress(0).unwrap().0.iter().map(|line| line.step).collect();
    assert!(!stages.contains(&Stage::Apply));

    let seen = again(3, Goal::Observe).succeeded();
    assert!(seen.report.changes.is_none());

    let planned = again(4, Goal::Plan).succeeded();
    assert_eq!(planned.report.changes, Changes { created: 0, updated: 1, deleted: 0 });
    assert_eq!(planned.state, None);

    let changed = again(4, Goal::Apply).succeeded();
    assert_eq!(changed.report.changes, Changes { created: 0, updated: 1, deleted: 0 });
    assert_eq!(changed.report.outputs["size"].value, json!(4));

    let gone = again(3, Goal::Destroy).succeeded();
    assert_eq!(gone.report.changes, Changes { created: 0, updated: 0, deleted: 2 });
    assert_eq!(gone.state()["resources"], json!([]));
}

#[test]
fn progress_tells_each_step_and_each_resource() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let ended = rig.run(&rig.assignment(Goal::Apply, &module)).succeeded();
    let (lines, end) = ended.job.progress(0).unwrap();
    let begun: Vec<Stage> = lines.iter().filter(|line| line.kind == Kind::Started).map(|line| line.step).collect();
    assert_eq!(begun, [Stage::Fetch, Stage::Init, Stage::Plan, Stage::Show, Stage::Apply]);
    let completed: Vec<_> = lines.iter().filter(|line| line.phase == Some(Phase::Completed)).collect();
    assert_eq!(completed.len(), 2);
    for line in completed {
        assert_eq!(line.action.as_deref(), Some("create"));
        let at = usize::try_from(line.offset).unwrap();
        let address = line.address.as_ref().unwrap();
        let id = line.id.as_ref().unwrap();
        assert!(ended.log[at..].contains(&format!("{address}: Creation complete")), "{}", &ended.log[at..]);
        assert!(ended.report.made.iter().any(|made| made.address == *address && made.id == *id));
    }
    assert_eq!(ended.job.progress(end).unwrap(), (vec![], end));
}

#[test]
fn a_failure_is_explained_and_what_was_made_is_kept() {
    let rig = Rig::new();
    let module = rig.module(
        "m",
        r#"
resource "terraform_data" "good" {}
resource "terraform_data" "bad" {
  depends_on = [terraform_data.good]
  provisioner "local-exec" { command = "echo no space >&2; exit 3" }
}
"#,
    );
    let ended = rig.run(&rig.assignment(Goal::Apply, &module));
    assert_eq!(ended.failure().step, Step::Apply);
    assert!(ended.log.contains("│ Error: local-exec provisioner error"), "{}", ended.log);
    assert!(ended.log.contains("│   with terraform_data.bad,"), "{}", ended.log);
    assert_eq!(ended.report.made.len(), 1);
    assert_eq!(ended.report.suspects, []);
    assert_eq!(ended.state()["resources"].as_array().unwrap().len(), 2, "the tainted one too");
}

#[test]
fn a_module_that_is_no_terraform_is_refused_before_anything_is_made() {
    let rig = Rig::new();
    let module = rig.module("m", "resource \"terraform_data\" \"a\" { inptu = 1 }");
    let ended = rig.run(&rig.assignment(Goal::Apply, &module));
    assert_eq!(ended.failure().class, Class::InvalidConfig, "{}", ended.log);
    assert_eq!(ended.failure().step, Step::Plan);
    assert!(ended.log.contains("Unsupported argument"), "{}", ended.log);
}

#[test]
fn a_workspace_is_removed_without_a_trace() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let mut ended = rig.run(&rig.assignment(Goal::Plan, &module));
    assert_eq!(ended.report.end, JobEnd::Succeeded);
    ended.job.remove().unwrap();
    let left: Vec<_> = std::fs::read_dir(rig.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["installed"], "what `init` has done is noted for the next");
}
