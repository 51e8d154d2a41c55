//! `terrane apply`

use crate::stage::{Stage, example};

#[test]
fn the_first_apply_creates_the_second_changes_nothing_and_an_edit_configures() {
    let stage = Stage::new();
    let file = example("database.yaml");
    insta::assert_snapshot!(stage.terrane(&["apply", "-f", &file]).ok(), @r"
    resourcetype/DatabaseCluster/v1 created
    databasecluster/production-pg created
    ");
    insta::assert_snapshot!(stage.terrane(&["apply", "-f", &file]).ok(), @r"
    resourcetype/DatabaseCluster/v1 unchanged
    databasecluster/production-pg unchanged
    ");
    let text = std::fs::read_to_string(&file).unwrap().replace("storage_gb: 500", "storage_gb: 600");
    let edited = stage.write("edited.yaml", &text);
    insta::assert_snapshot!(stage.terrane(&["apply", "-f", &edited]).ok(), @r"
    resourcetype/DatabaseCluster/v1 unchanged
    databasecluster/production-pg configured
    ");
}

#[test]
fn a_dry_run_says_what_would_happen_and_changes_nothing_even_where_the_type_is_new_too() {
    let stage = Stage::new();
    let run = stage.terrane(&["apply", "--dry-run", "-f", &example("database.yaml")]).ok();
    insta::assert_snapshot!(run, @r"
    resourcetype/DatabaseCluster/v1 created (dry run)
    databasecluster/production-pg created (dry run)
    ");
    let get = stage.terrane(&["get"]);
    assert_eq!((get.stdout.as_str(), get.stderr.as_str()), ("", "No resources found.\n"));
    assert_eq!(stage.terrane(&["get", "types"]).stderr, "No resource types found.\n");
}

#[test]
fn a_dry_run_checks_a_resource_against_the_schema_that_comes_with_it() {
    let stage = Stage::new();
    let text = std::fs::read_to_string(example("database.yaml")).unwrap().replace("storage_gb: 500", "storage_gb: 5");
    let run = stage.fed(&["apply", "--dry-run", "-f", "-"], &text);
    insta::assert_snapshot!(run.all(), @r"
    resourcetype/DatabaseCluster/v1 created (dry run)
    ---
    error: databasecluster/production-pg (standard input, document 2): the spec breaks its type's schema
      spec.storage_gb: expected at least 10, found 5
    --- 5
    ");
}

#[test]
fn types_come_before_resources_whatever_the_order_in_the_file() {
    let stage = Stage::new();
    let text = std::fs::read_to_string(example("database.yaml")).unwrap();
    let (kind, resource) = text.split_once("---\n").unwrap();
    let run = stage.fed(&["apply", "-f", "-"], &format!("{resource}---\n{kind}"));
    insta::assert_snapshot!(run.ok(), @r"
    resourcetype/DatabaseCluster/v1 created
    databasecluster/production-pg created
    ");
}

#[test]
fn the_bodies_of_the_http_api_can_be_applied_from_standard_input() {
    let stage = Stage::with_database();
    let body = r#"{"name": "second", "resource_type_name": "DatabaseCluster", "resource_type_version": "v1",
        "action_plugin": "github_actions",
        "spec": {"engine": "mysql", "engine_version": "8", "instance_class": "db.small", "storage_gb": 20}}"#;
    assert_eq!(stage.fed(&["apply", "-f", "-"], body).ok(), "databasecluster/second created\n");
    assert_eq!(stage.fed(&["apply", "-f", "-"], body).ok(), "databasecluster/second unchanged\n");
}

#[test]
fn one_bad_document_does_not_stop_the_rest_and_each_violation_has_its_line() {
    let stage = Stage::with_database();
    let text = "
name: broken
resource_type_name: DatabaseCluster
resource_type_version: v1
action_plugin: github_actions
spec: {engine: oracle, engine_version: '1', instance_class: db.small, storage_gb: 5}
---
name: fine
resource_type_name: DatabaseCluster
resource_type_version: v1
action_plugin: github_actions
spec: {engine: mysql, engine_version: '8', instance_class: db.small, storage_gb: 50}
";
    let run = stage.fed(&["apply", "-f", "-"], text);
    assert_eq!((run.code, run.stdout.as_str()), (Some(5), "databasecluster/fine created\n"));
    assert!(
        run.stderr.contains("databasecluster/broken (standard input, document 1): the spec breaks its type's schema\n"),
        "{run:?}"
    );
    assert!(run.stderr.contains("\n  spec.storage_gb: expected at least 10, found 5\n"), "{run:?}");
    assert!(run.stderr.contains("\n  spec.engine: "), "{run:?}");
}

#[test]
fn what_a_document_does_not_speak_of_stays_as_it_is() {
    let stage = Stage::with_database();
    let text = std::fs::read_to_string(example("database.yaml")).unwrap().replace("labels:\n  env: prod\n", "");
    let run = stage.fed(&["apply", "-f", "-"], &text).ok();
    assert!(run.contains("databasecluster/production-pg unchanged"), "{run}");
    assert!(stage.terrane(&["get", "-l", "env=prod", "-o", "name"]).ok().contains("production-pg"));
}

#[test]
fn what_get_prints_as_yaml_can_be_applied_again() {
    let stage = Stage::with_database();
    let tricky = "{name: tricky, resource_type_name: DatabaseCluster, resource_type_version: v1, action_plugin: p, \
        annotations: {a: 'yes', b: '0x10', c: 'null', d: \"line\\nbreak: x # y\", e: ' lead', f: '', g: '1e3', h: '- x', i: NO}, \
        spec: {engine: mysql, engine_version: '08', instance_class: '~', storage_gb: 10}}";
    stage.fed(&["apply", "-f", "-"], tricky).ok();
    for form in ["yaml", "json"] {
        let dump = stage.terrane(&["get", "-o", form]).ok();
        insta::allow_duplicates! {
            insta::assert_snapshot!(stage.fed(&["apply", "-f", "-"], &dump).ok(), @r"
            databasecluster/production-pg unchanged
            databasecluster/tricky unchanged
            ");
        }
    }
}

#[test]
fn a_schema_that_resources_would_break_is_a_conflict() {
    let stage = Stage::with_database();
    let text = std::fs::read_to_string(example("database.yaml")).unwrap().replace("maximum: 10000", "maximum: 100");
    let (kind, _) = text.split_once("---\n").unwrap();
    let run = stage.fed(&["apply", "-f", "-"], kind);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("production-pg"), "{run:?}");
}
