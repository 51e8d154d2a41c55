//! `terrane delete`

use crate::stage::{Stage, example};

#[test]
fn what_was_never_created_is_gone_at_once() {
    let stage = Stage::with_database();
    let dry = stage.terrane(&["delete", "databasecluster/production-pg", "--dry-run"]).ok();
    assert_eq!(dry, "databasecluster/production-pg deleted (dry run)\n");
    assert_eq!(
        stage.terrane(&["delete", "databasecluster/production-pg"]).ok(),
        "databasecluster/production-pg deleted\n"
    );
    assert_eq!(stage.terrane(&["get"]).stderr, "No resources found.\n");
    assert_eq!(stage.terrane(&["delete", "databasecluster/production-pg"]).code, Some(3));
    stage.terrane(&["delete", "databasecluster/production-pg", "--ignore-not-found"]).ok();
}

#[test]
fn files_are_deleted_backwards_resources_before_their_types() {
    let stage = Stage::with_database();
    insta::assert_snapshot!(stage.terrane(&["delete", "-f", &example("database.yaml")]).ok(), @r"
    databasecluster/production-pg deleted
    resourcetype/DatabaseCluster/v1 deleted
    ");
    let again = stage.terrane(&["delete", "-f", &example("database.yaml"), "--ignore-not-found"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_type_in_use_stays_and_an_unused_one_goes() {
    let stage = Stage::with_database();
    let run = stage.terrane(&["delete", "type", "databasecluster/v1"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    stage.terrane(&["delete", "databasecluster", "production-pg"]).ok();
    assert_eq!(
        stage.terrane(&["delete", "type", "databasecluster/v1"]).ok(),
        "resourcetype/DatabaseCluster/v1 deleted\n"
    );
    assert_eq!(stage.terrane(&["delete", "type", "databasecluster/v1"]).code, Some(3));
}

#[test]
fn a_selector_chooses_what_goes() {
    let stage = Stage::with_database();
    stage.database("one", "env: test");
    stage.database("two", "env: test");
    insta::assert_snapshot!(stage.terrane(&["delete", "databasecluster", "-l", "env=test"]).ok(), @r"
    databasecluster/one deleted
    databasecluster/two deleted
    ");
    assert_eq!(stage.terrane(&["delete", "-l", "env=test"]).stderr, "No resources found.\n");
    assert_eq!(stage.terrane(&["get", "-o", "name"]).ok(), "databasecluster/production-pg\n");
    assert_eq!(stage.terrane(&["delete", "databasecluster/production-pg", "-l", "env=prod"]).code, Some(2));
    for nothing in ["", " "] {
        assert_eq!(stage.terrane(&["delete", "-l", nothing]).code, Some(2), "an unset variable deletes nothing");
    }
    assert_eq!(stage.terrane(&["get", "-o", "name"]).ok(), "databasecluster/production-pg\n");
}

#[test]
fn what_exists_outside_is_waited_for_until_it_is_gone() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'active', observed_generation = 1");
    let run = stage.terrane(&["delete", "databasecluster/production-pg", "--no-wait"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "databasecluster/production-pg deleting\n"));
    let run = stage.terrane(&["delete", "databasecluster/production-pg", "--timeout", "0s"]);
    assert_eq!(run.code, Some(8), "{run:?}");
    // A change of what is being deleted is refused.
    let run = stage.terrane(&["apply", "-f", &example("database.yaml")]);
    assert!(run.code == Some(0) || run.code == Some(4), "{run:?}");
    stage.sql("UPDATE resources SET deleted_at = 1");
    stage.terrane(&["wait", "databasecluster/production-pg", "--for=deleted"]).ok();
}
