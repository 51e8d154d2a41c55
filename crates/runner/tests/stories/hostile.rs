use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

use model::Class;
use model::job::Goal;
use runner::{BootTime, Lease, MetadataBlock, Supervised, Workspace, block_metadata};

use crate::rig::{Ended, NOBODY, Rig, doing, finish, is_alive, kill, pid_in, processes_with, until_logged};

/// Tries whatever the commands say, and tells the log what came of it.
fn try_all(rig: &Rig, commands: &str) -> Ended {
    let module = rig.module("hostile", &doing(commands));
    rig.run(&rig.assignment(Goal::Apply, &module))
}

#[test]
fn a_hostile_module_finds_nothing_of_others() {
    let rig = Rig::new();
    let quiet = rig.module("quiet", &doing("echo begun; while [ ! -e /tmp/go ]; do sleep 0.05; done"));
    let neighbour = rig.assignment(Goal::Apply, &quiet);
    let neighbour =
        rig.start_with(&neighbour, &[("NEIGHBOURS_TOKEN", "canary-in-environment")], Duration::from_secs(600));
    until_logged(&neighbour, "begun");
    fs::write(neighbour.folder().join("work/canary"), "canary-in-workspace").unwrap();
    let data = rig.folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("terrane.db"), "canary-in-database").unwrap();
    let (theirs, own) = (neighbour.folder().display().to_string(), rig.root().display().to_string());
    let commands = format!(
        "cat {data}/terrane.db; ls -R {own} {theirs}; cat {canary} {theirs}/assignment.json {theirs}/spool
         cat {own}/*/assignment.json {own}/*/lease
         cat /proc/*/environ | tr '\\0' '\\n' | grep canary
         ls /root /home /var /run /srv /sys /mnt /boot; cat /etc/shadow
         for pid in $(seq 1 2000); do cat /proc/$pid/root{canary}; done 2>/dev/null
         echo processes $(ls -d /proc/[0-9]* | wc -l)
         touch /usr/written /etc/written /written /bin/written {own}/written
         mount -t tmpfs none /tmp; mknod /tmp/disk b 252 0; chmod u+s /bin/sh; unshare -Ur true && echo unshared-user
         kill -9 1; kill -9 -1
         echo survived",
        data = data.display(),
        canary = neighbour.folder().join("work/canary").display(),
    );
    // It kills itself too, which is its own affair.
    let ended = try_all(&rig, &commands);
    assert!(!ended.log.contains("canary-in-"), "{}", ended.log);
    for place in ["/usr/written", "/etc/written", "/written", "/bin/written"] {
        assert!(!std::path::Path::new(place).exists());
    }
    assert!(!rig.root().join("written").exists());
    let seen = ended.log.lines().find_map(|line| line.split("(local-exec): processes ").nth(1)).unwrap();
    assert!(seen.trim().parse::<u32>().unwrap() < 20, "only its own: {seen}");
    assert!(is_alive(pid_in(&neighbour, "supervisor")));
    fs::write(neighbour.folder().join("work/tmp/go"), "").unwrap();
    finish(neighbour).succeeded();
}

#[test]
fn a_job_has_its_own_user_and_no_privileges() {
    let rig = Rig::new();
    let ended = try_all(
        &rig,
        "id -u; grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status; ls / ; echo dev $(ls /dev); ls /proc/1/fd; cat /proc/1/environ; echo end",
    )
    .succeeded();
    let said: Vec<&str> = ended.log.lines().filter_map(|line| line.split("(local-exec): ").nth(1)).collect();
    let uid: u32 = said.iter().find_map(|line| line.parse().ok()).unwrap();
    // An ordinary user has no other users to give: there the job is alone in a namespace of users.
    let expected = if rustix::process::geteuid().is_root() { 200_000..265_536 } else { 0..1 };
    assert!(expected.contains(&uid), "{uid}");
    for capability in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let line = said.iter().find(|line| line.starts_with(capability)).unwrap();
        assert!(line.ends_with("0000000000000000"), "{line}");
    }
    assert!(said.iter().any(|line| line.starts_with("NoNewPrivs") && line.ends_with('1')));
    assert!(said.contains(&"dev fd full null random stderr stdin stdout urandom zero"), "{said:?}");
}

#[test]
fn links_that_a_job_lays_are_not_followed() {
    let rig = Rig::new();
    let theirs = rig.folder.path().join("theirs.json");
    let state = r#"{"version":4,"serial":99,"lineage":"theirs","outputs":{},"resources":[]}"#;
    fs::write(&theirs, state).unwrap();
    let commands = format!(
        "cd /job/source; rm -f terraform.tfstate; ln -s {} terraform.tfstate; ln -sf /etc/passwd /job/plan",
        theirs.display()
    );
    let ended = try_all(&rig, &commands);
    assert_ne!(ended.state.as_deref(), Some(state));
    assert_eq!(fs::read_to_string(&theirs).unwrap(), state);
}

/// A job whose box cannot be built: there is no place for its root.
fn start_without_a_place(rig: &Rig, command: &str) -> Supervised {
    let module = rig.module("m", &doing(command));
    let lease = Lease::granted(BootTime::now(), Duration::from_secs(600));
    let assignment = rig.assignment(Goal::Apply, &module);
    let workspace = Workspace::prepare(&rig.root(), &assignment, &rig.settings, lease).unwrap();
    fs::remove_dir(workspace.folder().join("box")).unwrap();
    Supervised::start(workspace, &BTreeMap::new()).unwrap()
}

#[test]
fn where_isolation_is_demanded_and_cannot_be_had_nothing_runs() {
    let rig = Rig::new();
    let ended = finish(start_without_a_place(&rig, "echo begun"));
    assert!(ended.failure().message.contains("only in isolation"), "{:?}", ended.failure());
    assert!(!ended.log.contains("begun"));
}

#[test]
fn where_it_is_not_demanded_the_report_says_that_there_was_none_and_the_tree_is_killed_all_the_same() {
    let mut rig = Rig::new();
    rig.settings.require_isolation = false;
    let ended =
        finish(start_without_a_place(&rig, "setsid sh -c 'sleep 7040; true' >/dev/null 2>&1 & true")).succeeded();
    assert!(ended.report.isolation.starts_with("none: "), "{}", ended.report.isolation);
    assert_eq!(processes_with("sleep\x007040"), NOBODY);

    let job =
        start_without_a_place(&rig, "setsid sh -c 'sleep 7041; true' >/dev/null 2>&1 & echo begun; exec sleep 7042");
    until_logged(&job, "(local-exec): begun");
    kill(pid_in(&job, "supervisor"));
    let ended = finish(job);
    assert_eq!(ended.failure().class, Class::Uncertain);
    assert_eq!(processes_with("sleep\x007041"), NOBODY);
    assert_eq!(processes_with("sleep\x007042"), NOBODY);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the story takes its routing rule back")]
fn the_metadata_service_is_out_of_reach_for_jobs() {
    let rig = Rig::new();
    match block_metadata(rig.settings.uids) {
        MetadataBlock::InForce => {}
        // Not every kernel or container lets us; the runner tells its operator.
        MetadataBlock::Absent(_) => return,
    }
    assert_eq!(block_metadata(rig.settings.uids), MetadataBlock::InForce, "again changes nothing");
    let ended = try_all(&rig, "bash -c 'exec 3<>/dev/tcp/169.254.169.254/80' 2>&1; echo done").succeeded();
    // It is the runner's to keep; a story leaves the machine as it was.
    for family in ["-4", "-6"] {
        let _ = Command::new("ip").args([family, "rule", "del", "priority", "90"]).output();
    }
    assert!(ended.log.contains("Permission denied") || ended.log.contains("Network is unreachable"), "{}", ended.log);
}
