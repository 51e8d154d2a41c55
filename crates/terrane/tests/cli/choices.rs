//! `terrane retry` and its siblings, `alerts`, and outputs that are not for everybody.

use crate::stage::Stage;

const PG: &str = "databasecluster/production-pg";

/// As a controller leaves it when a first provision failed half-way.
const FAILED: &str = r#"UPDATE resources SET lifecycle = 'failed', begun_generation = 1, next_reconcile_at = NULL, failures = 1,
    holds = '["aws_vpc.main (vpc-7)"]', failure = '{"class": "crash", "step": "apply", "message": "the provider crashed",
    "hint": "Use another version.", "choices": ["retry", "continue", "cleanup"], "alert": true}'"#;

#[test]
fn what_can_be_done_is_described_done_and_refused_with_what_can_be_done_instead() {
    let stage = Stage::with_database();
    let refused = stage.terrane(&["retry", PG]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    stage.sql(FAILED);
    let described = stage.terrane(&["describe", PG]).ok();
    for part in [
        "Waiting for:    a person's choice (retry, continue, cleanup), or a change of the resource\n",
        "  Can be done:    terrane retry databasecluster/production-pg\n",
        "                  terrane continue databasecluster/production-pg\n",
        "                  terrane cleanup databasecluster/production-pg\n",
    ] {
        assert!(described.contains(part), "{part:?} is not in:\n{described}");
    }
    let refused = stage.terrane(&["rollback", PG, "--yes"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("what can be done: retry, continue, cleanup"), "{refused:?}");
    let refused = stage.terrane(&["import", PG, "aws_vpc.main", "vpc-7"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    let done = stage.terrane(&["continue", PG]).ok();
    assert_eq!(done, "databasecluster/production-pg goes on from the state that was reached\n");
    let events = stage.terrane(&["events", PG]).ok();
    assert!(events.contains("continue_requested"), "{events}");
}

#[test]
fn alerts_are_listed_while_they_stand() {
    let stage = Stage::with_database();
    let none = stage.terrane(&["alerts"]);
    assert_eq!((none.code, none.stderr.as_str()), (Some(0), "No alerts stand.\n"));
    stage.sql(FAILED);
    stage.sql("INSERT INTO alerts (resource_id, tenant_id, since) SELECT id, tenant_id, 1 FROM resources");
    let text = stage.terrane(&["alerts"]).ok();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["RESOURCE", "SINCE", "CLASS", "CHOICES", "HOLDS", "MESSAGE"]);
    assert_eq!((rows[1][0], &rows[1][2..5]), (PG, &["crash", "retry,continue,cleanup", "1"][..]), "{text}");
    stage.terrane(&["delete", PG, "--forget", "--yes"]).ok();
    assert_eq!(stage.terrane(&["alerts"]).ok(), "");
}

#[test]
fn a_sensitive_output_is_named_and_not_shown() {
    let stage = Stage::with_database();
    stage.sql(
        r#"INSERT INTO sealed_outputs (resource_id, tenant_id, names, sealed, key_id)
            SELECT id, tenant_id, '["password"]', x'00', 'gone' FROM resources"#,
    );
    let text = stage.terrane(&["outputs", PG]).ok();
    let shown = |line: &str| line.starts_with("password") && line.ends_with("(sensitive; --reveal shows it)");
    assert!(text.lines().any(shown), "{text}");
    let hidden = stage.terrane(&["outputs", PG, "password"]);
    assert_eq!(hidden.code, Some(3), "{hidden:?}");
    assert!(hidden.stderr.contains("--reveal shows it"), "{hidden:?}");
    let unopened = stage.terrane(&["outputs", PG, "--reveal"]);
    assert_eq!(unopened.code, Some(4), "no key of this server opens it: {unopened:?}");
}
