//! `init` runs once for the same module, and again whenever it might do something else.

use std::fs;

use model::job::Goal;

use crate::rig::{Ended, Rig};

const MODULE: &str = r#"
resource "terraform_data" "a" { input = 1 }
"#;

fn ran_init(ended: &Ended) -> bool {
    let laid_down = ended.log.contains("Providers and modules are those of an earlier run.");
    assert_ne!(laid_down, ended.log.contains("Terraform has been successfully initialized!"), "{}", ended.log);
    !laid_down
}

#[test]
fn what_was_installed_once_is_laid_down_for_the_same_module_and_tenant_only() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let plan = || rig.run(&rig.assignment(Goal::Plan, &module)).succeeded();
    assert!(ran_init(&plan()));
    let again = plan();
    assert!(!ran_init(&again));
    assert_eq!(again.report.plan.unwrap().creates, 1);
    let applied = rig.run(&rig.assignment(Goal::Apply, &module)).succeeded();
    assert!(!ran_init(&applied) && applied.state.is_some());

    let mut others = rig.assignment(Goal::Plan, &module);
    others.tenant = "another".into();
    assert!(ran_init(&rig.run(&others).succeeded()), "a tenant's notes are its own");
    rig.module("m", &format!("{MODULE}\n# and a word more"));
    assert!(ran_init(&plan()), "it is another module");
    assert!(!ran_init(&plan()));
}

#[test]
fn what_does_not_fit_any_more_is_installed_anew() {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let plan = || rig.run(&rig.assignment(Goal::Plan, &module)).succeeded();
    assert!(ran_init(&plan()));
    for spoiled in [r#"{"files":{".terraform.lock.hcl":"no such thing {"},"links":{}}"#, "no JSON", "{}"] {
        for note in fs::read_dir(rig.root().join("installed")).unwrap() {
            fs::write(note.unwrap().path(), spoiled).unwrap();
        }
        assert!(plan().log.contains("Terraform has been successfully initialized!"), "{spoiled}");
    }
}

#[test]
fn a_module_with_an_error_fails_by_it_however_it_was_installed() {
    let rig = Rig::new();
    let module = rig.module("m", &format!("{MODULE}\noutput \"x\" {{ value = terraform_data.a.nothing }}\n"));
    for _ in 0..2 {
        let ended = rig.run(&rig.assignment(Goal::Plan, &module));
        assert!(ended.failure().message.contains("nothing"), "{:?}", ended.failure());
    }
}
