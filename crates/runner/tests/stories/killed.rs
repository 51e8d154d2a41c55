use std::process::{Command, Stdio};
use std::time::Duration;

use model::Class;
use model::job::Goal;
use runner::{BootTime, Lease, Supervised, Workspace};

use crate::rig::{NOBODY, Rig, applying, doing, finish, is_alive, kill, pid_in, processes_with, until, until_logged};

/// One that is made, and one that takes until it is killed.
fn slow(mark: &str) -> String {
    format!(
        r#"
resource "terraform_data" "quick" {{}}
resource "terraform_data" "slow" {{
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {{ command = "echo begun; exec sleep {mark}" }}
}}
"#
    )
}

#[test]
fn a_killed_terraform_leaves_its_state_and_its_suspects() {
    let rig = Rig::new();
    let module = rig.module("m", &slow("7001"));
    let job = rig.start(&rig.assignment(Goal::Apply, &module));
    until_logged(&job, "(local-exec): begun");
    kill(applying(&job));
    let ended = finish(job);
    assert_eq!(ended.failure().class, Class::Uncertain, "{:?}", ended.failure());
    assert_eq!(ended.report.made.len(), 1);
    assert_eq!(ended.state()["resources"][0]["name"], "quick");
    assert_eq!(ended.report.suspects.len(), 1);
    assert_eq!(ended.report.suspects[0].address, "terraform_data.slow");
    assert_eq!(processes_with("sleep\x007001"), NOBODY, "what it had started is gone");
}

#[test]
fn a_killed_supervisor_takes_everything_with_it_and_the_rest_is_told_honestly() {
    let rig = Rig::new();
    // A daemon in a session of its own, adopted by nobody.
    let daemon = "setsid sh -c 'sleep 7002; true' >/dev/null 2>&1 & echo begun; exec sleep 7003";
    let module = rig.module("m", &doing(daemon));
    let mut job = rig.start(&rig.assignment(Goal::Apply, &module));
    until_logged(&job, "(local-exec): begun");
    until("the daemon", || (!processes_with("sleep\x007002").is_empty()).then_some(()));
    assert_eq!(job.report().unwrap(), None);
    kill(pid_in(&job, "supervisor"));
    let ended = finish(job);
    assert_eq!(ended.failure().class, Class::Uncertain);
    assert!(ended.failure().message.contains("while it applied"), "{:?}", ended.failure());
    assert_eq!(ended.report.suspects[0].address, "terraform_data.a");
    assert!(ended.log.ends_with("(local-exec): begun\n"), "{}", ended.log);
    assert_eq!(processes_with("sleep\x007002"), NOBODY);
    assert_eq!(processes_with("sleep\x007003"), NOBODY);
    let again = Supervised::find_all(&rig.root()).unwrap().pop().unwrap();
    assert_eq!(finish(again).report, ended.report, "told the same whenever it is asked");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the story starts a runner, to kill it")]
fn a_killed_runner_is_outlived_and_its_successor_finds_the_job() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo done"));
    let assignment = rig.assignment(Goal::Apply, &module);
    let lease = Lease::granted(BootTime::now(), Duration::from_secs(600));
    let workspace = Workspace::prepare(&rig.root(), &assignment, &rig.settings, lease).unwrap();
    let mut runner = Command::new(&rig.settings.program)
        .arg("--start")
        .arg(workspace.folder())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let find = || Supervised::find_all(&rig.root()).unwrap().pop().unwrap();
    until_logged(&find(), "(local-exec): begun");
    runner.kill().unwrap();
    runner.wait().unwrap();
    let mut found = find();
    assert!(found.alive());
    assert_eq!(found.job(), Some(assignment.job));
    assert_eq!(found.assignment().unwrap(), assignment);
    std::fs::write(found.folder().join("work/tmp/go"), "").unwrap();
    let ended = finish(found).succeeded();
    assert!(ended.log.contains("(local-exec): begun\n") && ended.log.contains("(local-exec): done\n"), "{}", ended.log);
}

#[test]
fn a_supervisor_that_was_handed_nothing_begins_nothing() {
    let rig = Rig::new();
    let module = rig.module("m", "");
    let lease = Lease::granted(BootTime::now(), Duration::from_secs(600));
    Workspace::prepare(&rig.root(), &rig.assignment(Goal::Apply, &module), &rig.settings, lease).unwrap();
    let ended = finish(Supervised::find_all(&rig.root()).unwrap().pop().unwrap());
    assert_eq!(ended.failure().class, Class::Crash);
    assert!(ended.failure().message.contains("before the job had begun"));
}

#[test]
fn a_daemon_that_a_job_leaves_behind_ends_with_it() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("setsid sh -c 'sleep 7004; true' >/dev/null 2>&1 & true"));
    let job = rig.start(&rig.assignment(Goal::Apply, &module));
    let inside = pid_in(&job, "inside");
    finish(job).succeeded();
    assert_eq!(processes_with("sleep\x007004"), NOBODY);
    assert!(!is_alive(inside));
}

#[test]
fn whenever_it_is_killed_all_that_was_begun_is_in_the_state_or_among_the_suspects() {
    let rig = Rig::new();
    // The ledger is written by the resources themselves, wherever Terraform's own books stand.
    let module = rig.module(
        "m",
        r#"
resource "terraform_data" "r" {
  count = 60
  provisioner "local-exec" { command = "echo ${count.index} >> /job/tmp/ledger; sleep 0.0${count.index % 4}" }
}
"#,
    );
    for round in 0..8 {
        let job = rig.start(&rig.assignment(Goal::Apply, &module));
        let ledger = job.folder().join("work/tmp/ledger");
        let entries = || std::fs::read_to_string(&ledger).unwrap_or_default();
        until("the ledger", || (entries().lines().count() > round * 4).then_some(()));
        match round % 2 {
            0 => kill(pid_in(&job, "supervisor")),
            _ => kill(applying(&job)),
        }
        let ended = finish(job);
        let state = model::state::State::read(ended.state.as_deref().unwrap_or("{}"));
        let known = state.map(|state| state.objects).unwrap_or_default();
        for index in entries().lines() {
            let address = format!("terraform_data.r[{index}]");
            let settled = known.iter().any(|object| object.address == address);
            let suspected = ended.report.suspects.iter().any(|suspect| suspect.address == address);
            assert!(settled || suspected, "{address} is lost: {:?}\n{}", ended.report, ended.log);
        }
    }
}
