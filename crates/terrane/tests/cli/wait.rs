//! `terrane wait`

use crate::stage::Stage;

const PG: &str = "databasecluster/production-pg";

#[test]
fn what_is_so_already_needs_no_waiting() {
    let stage = Stage::with_database();
    assert_eq!(stage.terrane(&["wait", PG, "--for=status=pending"]).ok(), format!("{PG} status=pending\n"));
    stage.sql("UPDATE resources SET lifecycle = 'active', observed_generation = 1");
    assert_eq!(stage.terrane(&["wait", PG]).ok(), format!("{PG} ready\n"));
    assert_eq!(stage.terrane(&["wait", PG, "--for=condition=Ready"]).ok(), format!("{PG} condition=Ready\n"));
    stage.terrane(&["wait", "databasecluster/nope", "--for=deleted"]).ok();
}

#[test]
fn a_change_ends_the_waiting() {
    let stage = Stage::with_database();
    let waiting = stage.follow(&["wait", PG, "--for=ready"]);
    stage.sql("UPDATE resources SET lifecycle = 'active', observed_generation = 1");
    // The change is told with the next event of the resource.
    stage.terrane(&["reconcile", PG]).ok();
    assert_eq!(waiting.line(), format!("{PG} ready"));
    assert_eq!(waiting.end(), Some(0));
}

#[test]
fn ready_means_the_generation_that_is_wanted_now() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'active', observed_generation = 1, generation = 2");
    let run = stage.terrane(&["wait", PG, "--timeout", "0s"]);
    assert_eq!(run.code, Some(8), "{run:?}");
    let run = stage.terrane(&["wait", PG, "--timeout", "1s"]);
    assert_eq!(run.code, Some(8), "{run:?}");
}

#[test]
fn a_failure_of_what_is_wanted_ends_the_wait_for_ready_with_its_message() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'failed', status_message = 'no quota'");
    let run = stage.terrane(&["wait", PG]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("error: databasecluster/production-pg failed: no quota\n"), "{run:?}");
    stage.terrane(&["wait", PG, "--for=status=failed"]).ok();
}

#[test]
fn an_old_failure_does_not_end_the_wait_for_the_correction() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'failed', generation = 2");
    stage.sql(
        "INSERT INTO reconciliation_history (tenant_id, resource_id, generation, success, phase, error_message, \
         resources_created, resources_updated, resources_deleted, reconcile_time) \
         VALUES (1, 1, 1, FALSE, 'applying', 'quota', 0, 0, 0, 1)",
    );
    assert_eq!(stage.terrane(&["wait", PG, "--timeout", "1s"]).code, Some(8));
}

#[test]
fn what_is_deleted_meanwhile_is_not_found() {
    let stage = Stage::with_database();
    assert_eq!(stage.terrane(&["wait", "databasecluster/nope"]).code, Some(3));
    let mut waiting = stage.command(&["wait", PG]);
    let waiting = std::thread::spawn(move || waiting.output().unwrap());
    // Only once it listens is a deletion "meanwhile"; either way the answer is the same.
    stage.terrane(&["delete", PG]).ok();
    assert_eq!(waiting.join().unwrap().status.code(), Some(3));
}

#[test]
fn a_goal_that_does_not_exist_is_wrong_usage() {
    let stage = Stage::empty();
    for goal in ["--for=happy", "--for=status=happy", "--for=condition=", "--timeout=5"] {
        assert_eq!(stage.terrane(&["wait", PG, goal]).code, Some(2), "{goal}");
    }
}
