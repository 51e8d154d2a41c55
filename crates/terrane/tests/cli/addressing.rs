//! How things are named: TYPE/NAME, the type in any case.

use crate::stage::Stage;

#[test]
fn a_type_may_be_written_in_any_case_and_in_the_plural() {
    let stage = Stage::with_database();
    for kind in ["databasecluster", "DatabaseCluster", "DATABASECLUSTER", "databaseclusters"] {
        let name = stage.terrane(&["get", &format!("{kind}/production-pg"), "-o", "name"]).ok();
        assert_eq!(name, "databasecluster/production-pg\n");
    }
}

#[test]
fn a_missing_name_or_type_is_not_found_and_says_what_there_is() {
    let stage = Stage::with_database();
    insta::assert_snapshot!(stage.terrane(&["get", "databasecluster/nope"]).all(), @r"
    ---
    error: there is no databasecluster/nope
    --- 3
    ");
    insta::assert_snapshot!(stage.terrane(&["get", "database"]).all(), @r"
    ---
    error: there is no resource type database; there are: DatabaseCluster
    --- 3
    ");
    let partly = stage.terrane(&["get", "databasecluster", "nope", "production-pg", "-o", "name"]);
    assert_eq!((partly.code, partly.stdout.as_str()), (Some(3), "databasecluster/production-pg\n"));
}

#[test]
fn types_that_differ_only_in_case_have_to_be_written_exactly() {
    let stage = Stage::new();
    stage
        .fed(
            &["apply", "-f", "-"],
            "{name: Box, version: v1, schema: {type: object}}\n---\n{name: BOX, version: v1, schema: {type: object}}",
        )
        .ok();
    let run = stage.terrane(&["get", "box"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("BOX, Box"), "{run:?}");
    assert_eq!(stage.terrane(&["get", "BOX"]).stderr, "No resources found.\n");
}

#[test]
fn what_is_no_address_is_wrong_usage() {
    let stage = Stage::empty();
    for args in [
        &["describe", "x"][..],
        &["wait", "a/b/c"],
        &["get", "a/"],
        &["delete", "databasecluster"],
        &["delete"],
        &["history"],
    ] {
        assert_eq!(stage.terrane(args).code, Some(2), "{args:?}");
    }
}
