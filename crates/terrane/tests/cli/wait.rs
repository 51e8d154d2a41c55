//! `terrane wait`

use crate::stage::Stage;

const PG: &str = "databasecluster/production-pg";

#[test]
fn what_is_so_already_needs_no_waiting() {
    let stage = Stage::with_database();
    assert_eq!(stage.terrane(&["wait", PG, "--for=status=pending"]).ok(), format!("{PG} status=pending\n"));
    stage.sql("UPDATE resources SET lifecycle = 'active', observed_generation = 1");
    assert_eq!(stage.terrane(&["wait", PG]).ok(), format!("{PG} ready\n"));
    stage.sql(
        r#"UPDATE resources SET conditions = '[
            {"type": "Ready", "status": "True", "reason": "Reconciled", "message": "", "last_transition_time": "2026-01-01T00:00:00Z"},
            {"type": "Drifted", "status": "False", "reason": "Unchanged", "message": "", "last_transition_time": "2026-01-01T00:00:00Z"}]'"#,
    );
    assert_eq!(stage.terrane(&["wait", PG, "--for=condition=Ready"]).ok(), format!("{PG} condition=Ready\n"));
    let run = stage.terrane(&["wait", PG, "--for=condition=drifted=false"]).ok();
    assert_eq!(run, format!("{PG} condition=drifted=False\n"));
    let run = stage.terrane(&["wait", PG, "--for=condition=Ready=False", "--timeout", "1s"]);
    assert_eq!(run.code, Some(8), "{run:?}");
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
fn a_failure_that_is_not_tried_again_ends_the_wait_with_its_message_and_what_to_do() {
    let stage = Stage::with_database();
    stage.sql(
        r#"UPDATE resources SET lifecycle = 'failed', next_reconcile_at = NULL, failures = 1, failure =
            '{"class": "quota", "step": "apply", "message": "no room", "hint": "Ask for a higher limit."}'"#,
    );
    for goal in ["--for=ready", "--for=condition=Ready", "--for=status=ready"] {
        let run = stage.terrane(&["wait", PG, goal]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains(&format!("error: {PG} failed: no room (quota, during apply)\n")), "{run:?}");
        assert!(run.stderr.contains("  Ask for a higher limit.\n"), "{run:?}");
        assert!(run.stderr.contains(&format!("`terrane reconcile {PG}`")), "{run:?}");
    }
    stage.terrane(&["wait", PG, "--for=status=failed"]).ok();
    let run = stage.terrane(&["wait", PG, "--for=delete", "--timeout", "1s"]);
    assert_eq!(run.code, Some(8), "somebody may still delete it: {run:?}");
}

#[test]
fn a_failure_that_is_tried_again_does_not_end_the_wait() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'failed', status_message = 'the network is down'");
    let run = stage.terrane(&["wait", PG, "--timeout", "1s"]);
    assert_eq!(run.code, Some(8), "{run:?}");
    assert!(run.stderr.contains("the network is down"), "{run:?}");
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
    for goal in ["--for=happy", "--for=status=happy", "--for=condition=", "--for=condition=Ready=Maybe", "--timeout=5"]
    {
        assert_eq!(stage.terrane(&["wait", PG, goal]).code, Some(2), "{goal}");
    }
}
