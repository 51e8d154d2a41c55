//! `describe`, `history`, `outputs`, `events`, `reconcile`, `whoami`: looking closely at one thing.

use crate::stage::Stage;

const PG: &str = "databasecluster/production-pg";

#[test]
fn describe_tells_everything() {
    let stage = Stage::with_database();
    let text = stage.terrane(&["describe", PG]).ok();
    for part in [
        "Name:           production-pg\n",
        "Type:           DatabaseCluster/v1\n",
        "Status:         pending (pending)\n",
        "Waiting for:    a controller to take it up\n",
        "Waiting since:  20",
        "Next look:      20",
        "Drift policy:   correct\n",
        "Operation:      none under way\n",
        "Drift:          not looked for yet\n",
        "Finalizers:     none\n",
        "Holds:          none\n",
        "Operations:     none yet\n",
        "Generation:     1 (observed 0)\n",
        "Labels:         env=prod\n",
        "Conditions:\n  TYPE ",
        "NeverReconciled",
        "Spec:\n  engine: postgres\n",
        "History:        none yet\n",
        "Events:\n  SEQ ",
        "created",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn describe_tells_why_it_failed_and_when_it_is_tried_again() {
    let stage = Stage::with_database();
    stage.sql(
        r#"UPDATE resources SET lifecycle = 'failed', status_message = 'the network is down', failures = 3,
            next_reconcile_at = 4102444800000000, last_reconcile_time = 1000000, holds = '["database prod-1"]',
            failure = '{"class": "network", "step": "apply", "message": "no route", "hint": "Is the proxy up?"}',
            drift = '{"observed_at": "2026-01-02T00:00:00Z", "attributes": [
                {"path": "tags.owner", "expected": "a", "found": "b", "first_seen": "2026-01-01T00:00:00Z"}]}'"#,
    );
    let text = stage.terrane(&["describe", PG]).ok();
    for part in [
        "Status:         failed (failed)\n",
        "Waiting for:    the next try\n",
        "Waiting since:  1970-01-01T00:00:01Z (",
        "Last failure:\n  Class:          network\n  Step:           apply\n  Message:        no route\n",
        "  Hint:           Is the proxy up?\n  In a row:       3\n  Next try:       2100-01-01T00:00:00Z (in ",
        "Drift, as of 2026-01-02T00:00:00Z",
        "tags.owner",
        "Holds:\n  database prod-1\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    stage.sql("UPDATE resources SET next_reconcile_at = NULL");
    let text = stage.terrane(&["describe", PG]).ok();
    assert!(text.contains("Waiting for:    a change of the resource or of its type, or `terrane reconcile`"), "{text}");
    assert!(text.contains("Next try:       not by itself"), "{text}");
    stage.sql(r#"UPDATE resources SET lifecycle = 'deleting', finalizers = '["backup.example/veto"]'"#);
    let text = stage.terrane(&["describe", PG]).ok();
    assert!(text.contains("Waiting for:    finalizers to be taken off: backup.example/veto\n"), "{text}");
    assert!(text.contains("Finalizers:\n  backup.example/veto\n"), "{text}");
}

#[test]
fn plugins_are_listed_with_where_they_come_from() {
    let stage = Stage::new();
    let text = stage.terrane(&["plugins"]).ok();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "KIND", "VERSION", "ORIGIN", "STEPS", "DESCRIPTION"]);
    assert!(rows.iter().any(|row| row[..2] == ["http_api", "input"] && row[3] == "built-in"), "{text}");
    let all: serde_json::Value = serde_json::from_str(&stage.terrane(&["plugins", "-o", "json"]).ok()).unwrap();
    assert_eq!(all["inputs"][0]["name"], "http_api");
}

#[test]
fn history_and_outputs_show_what_was_done() {
    let stage = Stage::with_database();
    let none = stage.terrane(&["history", PG]);
    assert_eq!(
        (none.code, none.stderr.as_str()),
        (Some(0), "databasecluster/production-pg has not been reconciled yet.\n")
    );
    assert_eq!(stage.terrane(&["outputs", PG]).stderr, "databasecluster/production-pg has no outputs yet.\n");
    stage.sql(
        "INSERT INTO reconciliation_history (tenant_id, resource_id, generation, success, phase, error_message, \
         resources_created, resources_updated, resources_deleted, reconcile_time) \
         VALUES (1, 1, 1, FALSE, 'applying', 'quota', 0, 0, 0, 1), (1, 1, 1, TRUE, 'completed', NULL, 3, 0, 0, 1)",
    );
    stage.sql(r#"UPDATE resources SET outputs = '{"url": "postgres://pg", "ports": [5432]}'"#);
    let history = stage.terrane(&["history", PG]).ok();
    let rows: Vec<Vec<&str>> = history.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..5], ["2", "1", "ok", "completed", "3"], "{history}");
    assert_eq!(rows[2][..4], ["1", "1", "failed", "applying"], "{history}");
    assert_eq!(rows[2].last(), Some(&"quota"), "{history}");
    assert_eq!(stage.terrane(&["history", PG, "--limit", "1", "-o", "json"]).ok().matches("\"id\"").count(), 1);
    assert_eq!(stage.terrane(&["outputs", PG, "url"]).ok(), "postgres://pg\n");
    assert_eq!(stage.terrane(&["outputs", PG, "ports"]).ok(), "[5432]\n");
    insta::assert_snapshot!(stage.terrane(&["outputs", PG]).ok(), @r"
    KEY     VALUE
    url     postgres://pg
    ports   [5432]
    ");
    assert_eq!(stage.terrane(&["outputs", PG, "-o", "yaml"]).ok(), "url: postgres://pg\nports:\n- 5432\n");
    let wrong = stage.terrane(&["outputs", PG, "nope"]);
    assert!(wrong.code == Some(3) && wrong.stderr.contains("it has: url, ports"), "{wrong:?}");
    assert!(stage.terrane(&["describe", PG]).ok().contains("History:\n  ID "));
}

#[test]
fn events_tell_who_did_what() {
    let stage = Stage::with_database();
    stage.terrane(&["reconcile", PG]).ok();
    let all = stage.terrane(&["events"]).ok();
    assert_eq!(all.lines().count(), 4, "{all}");
    let one = stage.terrane(&["events", PG]).ok();
    let actions: Vec<_> = one.lines().skip(1).filter_map(|line| line.split_whitespace().nth(4)).collect();
    assert_eq!(actions, ["created", "reconcile_requested"], "{one}");
    assert!(one.contains("local"), "{one}");
    assert_eq!(stage.terrane(&["events", "--kind", "resource_type", "-o", "json"]).ok().lines().count(), 1);
    let last = all.lines().last().unwrap().split_whitespace().next().unwrap();
    assert_eq!(stage.terrane(&["events", "--since", last]).stderr, "No events found.\n");
}

#[test]
fn reconcile_asks_for_an_attempt_now() {
    let stage = Stage::with_database();
    assert_eq!(stage.terrane(&["reconcile", PG]).ok(), "databasecluster/production-pg will be reconciled\n");
    assert!(stage.terrane(&["describe", PG]).ok().contains("Forced:"));
    let run = stage.terrane(&["reconcile", "databasecluster/nope", PG]);
    assert_eq!((run.code, run.stdout.lines().count()), (Some(3), 1));
}

#[test]
fn a_message_cannot_steer_the_terminal() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET status_message = 'red' || char(27) || '[31m' || char(10) || 'NAME: fake'");
    for args in [&["get", "-o", "wide"][..], &["describe", PG]] {
        let text = stage.terrane(args).ok();
        assert!(!text.contains('\u{1b}') && !text.contains("\nNAME: fake"), "{text}");
    }
}

#[test]
fn whoami_names_the_actor_the_tenant_and_the_server() {
    let stage = Stage::new();
    let expected = format!("actor:   local\nrole:    operator\ntenant:  default\nserver:  {}\n", stage.url());
    assert_eq!(stage.terrane(&["whoami"]).ok(), expected);
    assert_eq!(stage.terrane(&["whoami", "--tenant", "nope"]).code, Some(3));
}
