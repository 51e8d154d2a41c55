use model::Class;
use model::job::Goal;

use crate::rig::{NOBODY, Rig, doing, finish, processes_with, until_logged};

#[test]
fn a_job_that_takes_too_long_is_interrupted_and_can_be_continued() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun; exec sleep 7030"));
    let mut assignment = rig.assignment(Goal::Apply, &module);
    assignment.limits.timeout_seconds = 4;
    assignment.limits.grace_seconds = 1;
    let ended = rig.run(&assignment);
    assert_eq!(ended.failure().class, Class::Timeout, "{}", ended.log);
    assert!(ended.failure().hint.contains("terrane continue"), "{:?}", ended.failure());
    assert_eq!(processes_with("sleep\x007030"), NOBODY);
}

#[test]
fn a_job_that_takes_too_much_memory_is_killed_and_its_neighbour_goes_on() {
    let rig = Rig::new();
    let patient = rig.module("patient", &doing("echo begun; while [ ! -e /tmp/go ]; do sleep 0.05; done"));
    let neighbour = rig.start(&rig.assignment(Goal::Apply, &patient));
    until_logged(&neighbour, "begun");
    let greedy = rig.module("greedy", &doing("head -c 900000000 /dev/zero | tail -n 1"));
    let mut assignment = rig.assignment(Goal::Apply, &greedy);
    assignment.limits.memory_bytes = 300 << 20;
    let ended = rig.run(&assignment);
    assert!(matches!(ended.failure().class, Class::Crash | Class::Uncertain), "{:?}", ended.failure());
    assert!(ended.failure().message.contains("limited to 300 MiB"), "{:?}", ended.failure());
    assert!(ended.failure().hint.contains("memory limit") || !ended.report.suspects.is_empty());
    std::fs::write(neighbour.folder().join("work/tmp/go"), "").unwrap();
    finish(neighbour).succeeded();
}
