use model::job::{Goal, JobEnd};
use runner::Stop;

use crate::rig::{NOBODY, Rig, doing, finish, freeze, processes_with, terraform_of, until_logged};

#[test]
fn a_stop_lets_terraform_finish_what_it_has_begun() {
    let rig = Rig::new();
    let module = rig.module(
        "m",
        r#"
resource "terraform_data" "first" {
  provisioner "local-exec" { command = "echo begun; while [ ! -e /tmp/go ]; do sleep 0.05; done" }
}
resource "terraform_data" "second" { depends_on = [terraform_data.first] }
"#,
    );
    let job = rig.start(&rig.assignment(Goal::Apply, &module));
    until_logged(&job, "begun");
    job.stop(Stop::Interrupt).unwrap();
    until_logged(&job, "nterrupt");
    std::fs::write(job.folder().join("work/tmp/go"), "").unwrap();
    let ended = finish(job);
    assert_eq!(ended.report.end, JobEnd::Cancelled, "{}", ended.log);
    assert_eq!(ended.report.suspects, [], "{}", ended.log);
    let state = ended.state();
    assert!(!state["resources"].to_string().contains("second"));
    // What was left plans cleanly.
    let mut next = rig.assignment(Goal::Plan, &module);
    terraform_of(&mut next).state = ended.state.clone();
    rig.run(&next).succeeded();
}

#[test]
fn a_stop_becomes_a_kill_after_the_grace_period() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun; exec sleep 7020"));
    let mut assignment = rig.assignment(Goal::Apply, &module);
    assignment.limits.grace_seconds = 1;
    let job = rig.start(&assignment);
    until_logged(&job, "begun");
    freeze(&job);
    job.stop(Stop::Interrupt).unwrap();
    let ended = finish(job);
    assert_eq!(ended.report.end, JobEnd::Cancelled);
    assert_eq!(ended.report.suspects[0].address, "terraform_data.a", "{}", ended.log);
    assert_eq!(processes_with("sleep\x007020"), NOBODY);
}

#[test]
fn a_kill_is_at_once() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("trap '' INT TERM; echo begun; sleep 7021; sleep 7021"));
    let job = rig.start(&rig.assignment(Goal::Apply, &module));
    until_logged(&job, "begun");
    job.stop(Stop::Kill).unwrap();
    job.stop(Stop::Interrupt).unwrap();
    let ended = finish(job);
    assert_eq!(ended.report.end, JobEnd::Cancelled);
    assert_eq!(processes_with("sleep\x007021"), NOBODY);
}

#[test]
fn a_job_that_is_stopped_before_its_first_step_does_nothing() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun"));
    let assignment = rig.assignment(Goal::Apply, &module);
    std::fs::create_dir_all(rig.root()).unwrap();
    let job = rig.start_stopped(&assignment);
    let ended = finish(job);
    assert_eq!(ended.report.end, JobEnd::Cancelled);
    assert!(!ended.log.contains("begun"));
}
