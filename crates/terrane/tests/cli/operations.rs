//! `terrane operations`

use crate::stage::Stage;

const PG: &str = "databasecluster/production-pg";

#[test]
fn operations_are_a_table_the_latest_first() {
    let stage = Stage::with_database();
    let none = stage.terrane(&["operations", PG]);
    assert_eq!(
        (none.code, none.stderr.as_str()),
        (Some(0), "databasecluster/production-pg has had no operations yet.\n")
    );
    stage.sql(
        "INSERT INTO operations (tenant_id, resource_id, kind, reason, generation, state, phase, step, attempt, message, \
         checkpoint, fencing_token, holder, trace_id, resources_created, resources_updated, resources_deleted, started_at, \
         updated_at, finished_at) VALUES \
         (1, 1, 'reconcile', 'created', 1, 'failed', 'applying', 'apply', 3, 'no room', 'null', 1, 'x', 't', 0, 0, 0, 1, 1, 1), \
         (1, 1, 'reconcile', 'retried', 1, 'waiting', 'applying', 'apply', 1, 'Waiting for run 42', 'null', 2, 'x', 't', 0, 0, 0, 1, 1, NULL)",
    );
    stage.sql("UPDATE resources SET operation_id = 2, lifecycle = 'provisioning'");
    let text = stage.terrane(&["ops", PG]).ok();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ID", "KIND", "REASON", "GENERATION", "STATE", "PHASE", "ATTEMPT", "AGE", "MESSAGE"]);
    assert_eq!(rows[1][..7], ["2", "reconcile", "retried", "1", "waiting", "applying", "1"], "{text}");
    assert_eq!(rows[2][..7], ["1", "reconcile", "created", "1", "failed", "applying", "3"], "{text}");
    assert!(text.contains("Waiting for run 42"), "{text}");
    let one: serde_json::Value =
        serde_json::from_str(&stage.terrane(&["operations", PG, "--limit", "1", "-o", "json"]).ok()).unwrap();
    assert_eq!((one.as_array().unwrap().len(), &one[0]["step"]), (1, &serde_json::json!("apply")));
    let described = stage.terrane(&["describe", PG]).ok();
    for part in [
        "Waiting for:    operation 2: Waiting for run 42\n",
        "Operation:\n  ID:             2\n  Kind:           reconcile, retried\n  State:          waiting\n",
        "  Phase:          applying (step apply)\n  Attempt:        1\n  Started:        1970-",
        "Operations:\n  ID ",
    ] {
        assert!(described.contains(part), "{part:?} is not in:\n{described}");
    }
}
