//! `terrane delete --forget`

use crate::stage::Stage;

const PG: &str = "databasecluster/production-pg";

fn with_something_outside() -> Stage {
    let stage = Stage::with_database();
    stage.sql(
        r#"UPDATE resources SET lifecycle = 'active', observed_generation = 1, last_reconcile_time = 1,
            holds = '["database prod-1 in eu-central-1"]', finalizers = '["backup.example/veto"]'"#,
    );
    stage
}

#[test]
fn forgetting_wants_a_yes_and_says_what_may_remain() {
    let stage = with_something_outside();
    let run = stage.terrane(&["delete", PG, "--forget"]);
    assert!(run.code == Some(2) && run.stderr.contains("--yes"), "{run:?}");
    let remains =
        "What it stood for may still exist, and nobody looks after it any more:\n  database prod-1 in eu-central-1\n";
    let run = stage.terrane(&["delete", PG, "--forget", "--dry-run"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (format!("{PG} forgotten (dry run)\n").as_str(), remains));
    stage.terrane(&["get", PG]).ok();
    let run = stage.terrane(&["delete", PG, "--forget", "--yes"]);
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr.as_str()),
        (Some(0), "databasecluster/production-pg forgotten\n", remains)
    );
    assert_eq!(stage.terrane(&["get", PG]).code, Some(3));
    assert!(stage.terrane(&["events"]).ok().contains("forgotten"));
    assert_eq!(stage.terrane(&["delete", PG, "--forget", "--yes"]).code, Some(3));
    stage.terrane(&["delete", PG, "--forget", "--yes", "--ignore-not-found"]).ok();
}

#[test]
fn what_may_remain_is_in_the_json_too() {
    let stage = with_something_outside();
    let run = stage.terrane(&["delete", PG, "--forget", "-y", "-o", "json"]);
    assert!(run.stderr.contains("database prod-1"), "{run:?}");
    let answer: serde_json::Value = serde_json::from_str(&run.ok()).unwrap();
    assert_eq!(answer["may_remain"], serde_json::json!(["database prod-1 in eu-central-1"]));
    assert_eq!(answer["resource"]["name"], "production-pg");
}

#[test]
fn forgetting_is_for_resources_that_are_named() {
    let stage = Stage::with_database();
    for args in [
        &["delete", "-l", "env=prod", "--forget", "--yes"][..],
        &["delete", PG, "--yes"],
        &["delete", PG, "-o", "json"],
        &["delete", "type", "databasecluster/v1", "--forget", "--yes"],
    ] {
        assert_eq!(stage.terrane(args).code, Some(2), "{args:?}");
    }
    let help = stage.terrane(&["delete", "--help"]).ok();
    assert!(help.contains("--forget") && help.contains("its credentials are lost for good"), "{help}");
}
