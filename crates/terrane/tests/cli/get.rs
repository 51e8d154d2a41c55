//! `terrane get`

use crate::stage::{Stage, example};

/// Ages depend on the clock.
fn without_age(text: &str) -> String {
    text.lines()
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().map(|word| if is_age(word) { "AGE" } else { word }).collect();
            format!("{}\n", words.join(" "))
        })
        .collect()
}

fn is_age(word: &str) -> bool {
    word.strip_suffix('s').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn all_resources_are_a_table_and_wide_has_more_columns() {
    let stage = Stage::with_database();
    insta::assert_snapshot!(without_age(&stage.terrane(&["get"]).ok()), @r"
    NAME TYPE STATUS GENERATION AGE MESSAGE
    production-pg DatabaseCluster pending 1 AGE Waiting for the first reconciliation
    ");
    insta::assert_snapshot!(without_age(&stage.terrane(&["get", "-o", "wide"]).ok()), @r"
    NAME TYPE STATUS GENERATION AGE LIFECYCLE ID VERSION PLUGIN OBSERVED LABELS MESSAGE
    production-pg DatabaseCluster pending 1 AGE pending 1 v1 noop 0 env=prod Waiting for the first reconciliation
    ");
}

#[test]
fn one_resource_is_an_object_and_several_are_a_list() {
    let stage = Stage::with_database();
    let one: serde_json::Value =
        serde_json::from_str(&stage.terrane(&["get", "databasecluster/production-pg", "-o", "json"]).ok()).unwrap();
    assert_eq!(one["name"], "production-pg");
    let all: serde_json::Value = serde_json::from_str(&stage.terrane(&["get", "-o", "json"]).ok()).unwrap();
    assert_eq!(all[0]["spec"]["storage_gb"], 500);
    let yaml = stage.terrane(&["get", "databasecluster/production-pg", "-o", "yaml"]).ok();
    assert!(yaml.contains("\nspec:\n  engine: postgres\n"), "{yaml}");
}

#[test]
fn filters_narrow_the_list() {
    let stage = Stage::with_database();
    stage.database("other", "env: test");
    let names = |args: &[&str]| stage.terrane(&[&["get", "-o", "name"], args].concat()).ok();
    assert_eq!(names(&["-l", "env=test"]), "databasecluster/other\n");
    assert_eq!(names(&["databasecluster", "--limit", "1"]), "databasecluster/production-pg\n");
    assert_eq!(names(&["--status", "ready"]), "");
    assert_eq!(names(&["--plugin", "github_actions"]), "databasecluster/other\n");
    assert_eq!(names(&["--plugin", "none"]), "");
    assert_eq!(names(&["databasecluster", "other", "production-pg"]).lines().count(), 2);
    let wrong = stage.terrane(&["get", "-l", "=="]);
    assert_eq!(wrong.code, Some(5), "{wrong:?}");
}

#[test]
fn more_resources_than_a_page_holds_are_all_listed() {
    let stage = Stage::with_database();
    let documents: Vec<_> = (0..1100)
        .map(|number| {
            format!(
                "{{name: n{number}, resource_type_name: DatabaseCluster, resource_type_version: v1, action_plugin: p, \
                 spec: {{engine: mysql, engine_version: '8', instance_class: s, storage_gb: 10}}}}\n"
            )
        })
        .collect();
    assert_eq!(stage.fed(&["apply", "-f", "-"], &documents.join("---\n")).ok().lines().count(), 1100);
    assert_eq!(stage.terrane(&["get", "-o", "name"]).ok().lines().count(), 1101);
    assert_eq!(stage.terrane(&["get", "-o", "name", "--limit", "1050"]).ok().lines().count(), 1050);
}

#[test]
fn types_tenants_and_tokens_are_listed_too() {
    let stage = Stage::with_database();
    insta::assert_snapshot!(without_age(&stage.terrane(&["get", "types"]).ok()), @r"
    NAME VERSION TENANT AGE
    DatabaseCluster v1 default AGE
    ");
    insta::assert_snapshot!(without_age(&stage.terrane(&["types", "-o", "wide"]).ok()), @r"
    NAME VERSION TENANT AGE ID DESCRIPTION
    DatabaseCluster v1 default AGE 1 Managed database cluster
    ");
    let one = stage.terrane(&["types", "databasecluster/v1"]).ok();
    assert!(one.contains("schema:\n  type: object\n"), "{one}");
    assert!(stage.terrane(&["types", "databasecluster"]).ok().contains("DatabaseCluster"));
    assert!(stage.terrane(&["get", "tenants"]).ok().contains("default"));
    assert_eq!(stage.terrane(&["get", "tokens"]).stderr, "No tokens found.\n");
    assert_eq!(stage.terrane(&["get", "types", "-l", "a=b"]).code, Some(2));
}

#[test]
fn diff_and_get_of_both_examples_show_no_colour_off_a_terminal() {
    let stage = Stage::new();
    let run = stage.terrane(&["diff", "-f", &example("database.yaml")]);
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    assert!(!stage.terrane(&["get", "nothing"]).stderr.contains('\u{1b}'));
}
