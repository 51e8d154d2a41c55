use std::time::Duration;

use model::Class;
use model::job::Goal;
use runner::{BootTime, Lease};

use crate::rig::{NOBODY, Rig, doing, finish, freeze, processes_with, until, until_logged};

#[test]
fn an_unrenewed_lease_interrupts_terraform_at_half_time() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun; exec sleep 7011"));
    let job = rig.start_with(&rig.assignment(Goal::Apply, &module), &[], Duration::from_secs(600));
    until_logged(&job, "begun");
    job.renew(Lease::granted(BootTime::now(), Duration::from_secs(40))).unwrap();
    let halved = BootTime::now();
    // Its half is past already, its end is far away.
    job.renew(Lease {
        from: BootTime(halved.0.saturating_sub(40_000_000_000)),
        until: halved.after(Duration::from_secs(39)),
    })
    .unwrap();
    until_logged(&job, "nterrupt");
    let ended = finish(job);
    assert_eq!(ended.failure().class, Class::Network, "{}", ended.log);
    assert!(ended.failure().message.contains("interrupted"), "{:?}", ended.failure());
    assert!(BootTime::now() < halved.after(Duration::from_secs(39)), "it was not killed");
}

#[test]
fn at_the_leases_end_the_whole_tree_is_killed() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun; exec sleep 7010"));
    let job = rig.start(&rig.assignment(Goal::Apply, &module));
    until_logged(&job, "begun");
    freeze(&job);
    job.renew(Lease::granted(BootTime::now(), Duration::from_secs(2))).unwrap();
    let ended = finish(job);
    assert_eq!(ended.failure().class, Class::Network, "{}", ended.log);
    assert!(ended.failure().message.contains("killed"), "{:?}", ended.failure());
    assert_eq!(ended.report.suspects[0].address, "terraform_data.a");
    assert_eq!(processes_with("sleep\x007010"), NOBODY);
}

#[test]
fn a_lease_that_is_renewed_in_time_lets_the_job_go_on() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("echo begun; while [ ! -e /tmp/go ]; do sleep 0.05; done"));
    let job = rig.start_with(&rig.assignment(Goal::Apply, &module), &[], Duration::from_secs(6));
    let begin = BootTime::now();
    until("three leases' time", || {
        job.renew(Lease::granted(BootTime::now(), Duration::from_secs(6))).unwrap();
        (BootTime::now().since(begin) > Duration::from_secs(7)).then_some(())
    });
    std::fs::write(job.folder().join("work/tmp/go"), "").unwrap();
    finish(job).succeeded();
}
