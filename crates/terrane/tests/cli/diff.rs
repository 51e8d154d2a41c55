//! `terrane diff`

use crate::stage::{Stage, example};

#[test]
fn no_differences_are_nothing_and_zero() {
    let stage = Stage::with_database();
    let run = stage.terrane(&["diff", "-f", &example("database.yaml")]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.code), ("", "", Some(0)));
}

#[test]
fn a_difference_is_a_unified_diff_and_one() {
    let stage = Stage::with_database();
    let text = std::fs::read_to_string(example("database.yaml")).unwrap().replace("storage_gb: 500", "storage_gb: 600");
    let file = stage.write("edited.yaml", &text);
    insta::assert_snapshot!(stage.terrane(&["diff", "-f", &file]).all(), @r#"
    --- databasecluster/production-pg (server)
    +++ databasecluster/production-pg (edited.yaml, document 2)
    @@ -6,7 +6,7 @@
       engine: postgres
       engine_version: "16.2"
       instance_class: db.large
    -  storage_gb: 500
    +  storage_gb: 600
       replicas: 2
       backup_retention_days: 14
       high_availability: true
    ---
    --- 1
    "#);
    let get = stage.terrane(&["get", "databasecluster/production-pg", "-o", "yaml"]).ok();
    assert!(get.contains("storage_gb: 500"), "{get}");
}

#[test]
fn what_would_be_new_is_all_added() {
    let stage = Stage::new();
    let run = stage.terrane(&["diff", "-f", &example("database.yaml")]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("--- /dev/null\n+++ databasecluster/production-pg "), "{run:?}");
    assert!(run.stdout.contains("\n+  storage_gb: 500\n"), "{run:?}");
}

#[test]
fn an_error_is_more_than_one() {
    let stage = Stage::with_database();
    let text = std::fs::read_to_string(example("database.yaml")).unwrap().replace("storage_gb: 500", "storage_gb: 5");
    assert_eq!(stage.fed(&["diff", "-f", "-"], &text).code, Some(5));
    assert_eq!(stage.terrane(&["diff", "-f", "missing.yaml"]).code, Some(2));
    assert_eq!(Stage::empty().terrane(&["diff", "-f", &example("database.yaml")]).code, Some(7));
}
