use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::Class;
use model::job::{Approval, Goal, JobEnd};
use serde_json::json;

use crate::rig::{Rig, terraform_of, variable};

const MODULE: &str = r#"
variable "size" { default = 1 }
resource "terraform_data" "a" {
  input            = var.size
  triggers_replace = var.size
}
"#;

#[test]
fn an_approved_plan_is_applied_byte_for_byte() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let mut asked = rig.assignment(Goal::Apply, &module);
    variable(&mut asked, "size", 7);
    terraform_of(&mut asked).approval = Approval::Manual;
    let waits = rig.run(&asked);
    assert_eq!(waits.report.end, JobEnd::AwaitsApproval, "{}", waits.log);
    assert_eq!(waits.state, None);
    assert_eq!(waits.report.changes.created, 1, "what would be");
    let plan = waits.report.plan_file.unwrap();

    let mut approved = rig.assignment(Goal::Apply, &module);
    // What the inputs are by now does not matter: the plan is what was approved.
    variable(&mut approved, "size", 8);
    terraform_of(&mut approved).approval = Approval::Manual;
    terraform_of(&mut approved).plan = Some(plan.clone());
    let applied = rig.run(&approved).succeeded();
    assert_eq!(applied.report.changes.created, 1);
    assert_eq!(applied.state()["resources"][0]["instances"][0]["attributes"]["input"]["value"], json!(7));

    let mut tampered = rig.assignment(Goal::Apply, &module);
    let mut bytes = STANDARD.decode(&plan.base64).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    terraform_of(&mut tampered).plan = Some(model::job::PlanFile { base64: STANDARD.encode(bytes), ..plan.clone() });
    let refused = rig.run(&tampered);
    assert_eq!(refused.failure().class, Class::Conflict);
    assert_eq!(refused.state, None);

    let mut moved = rig.assignment(Goal::Apply, &module);
    terraform_of(&mut moved).plan = Some(plan);
    terraform_of(&mut moved).state = applied.state;
    let stale = rig.run(&moved);
    assert!(stale.log.contains("Saved plan is stale"), "{}", stale.log);
    assert_eq!(stale.state, None);
}

#[test]
fn consent_is_asked_for_where_something_would_be_destroyed_but_not_for_a_delete() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let mut first = rig.assignment(Goal::Apply, &module);
    terraform_of(&mut first).approval = Approval::Destroys;
    let made = rig.run(&first).succeeded();
    let mut replacing = rig.assignment(Goal::Apply, &module);
    variable(&mut replacing, "size", 2);
    terraform_of(&mut replacing).approval = Approval::Destroys;
    terraform_of(&mut replacing).state = made.state.clone();
    assert_eq!(rig.run(&replacing).report.end, JobEnd::AwaitsApproval);
    let mut deleted = rig.assignment(Goal::Destroy, &module);
    terraform_of(&mut deleted).approval = Approval::Manual;
    terraform_of(&mut deleted).state = made.state.clone();
    assert_eq!(rig.run(&deleted).succeeded().report.changes.deleted, 1);
}
