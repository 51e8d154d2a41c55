//! What users write, and what they might write by mistake or malice.

use crate::stage::{Stage, example};

const BUCKET: &str = "kind: ResourceType\nname: NAME\nversion: v1\nschema: {type: object}\n";

#[test]
fn a_folder_is_read_in_order_and_its_folders_only_when_asked() {
    let stage = Stage::new();
    for (file, name) in
        [("all/b.yml", "Bee"), ("all/a.yaml", "Ant"), ("all/in/c.json", "Cow"), ("all/notes.txt", "Not")]
    {
        let text = if file.ends_with("json") {
            r#"{"name": "Cow", "version": "v1", "schema": {"type": "object"}}"#.into()
        } else {
            BUCKET.replace("NAME", name)
        };
        stage.write(file, &text);
    }
    insta::assert_snapshot!(stage.terrane(&["apply", "-f", "all", "--dry-run"]).ok(), @r"
    resourcetype/Ant/v1 created (dry run)
    resourcetype/Bee/v1 created (dry run)
    ");
    insta::assert_snapshot!(stage.terrane(&["apply", "-R", "-f", "all"]).ok(), @r"
    resourcetype/Ant/v1 created
    resourcetype/Bee/v1 created
    resourcetype/Cow/v1 created
    ");
    let run = stage.terrane(&["apply", "-f", "all/b.yml", "-f", "all/in/c.json"]);
    insta::assert_snapshot!(run.ok(), @r"
    resourcetype/Bee/v1 unchanged
    resourcetype/Cow/v1 unchanged
    ");
}

#[test]
fn a_document_that_is_neither_is_named_with_what_was_expected() {
    let stage = Stage::empty();
    let run = stage.fed(&["apply", "-f", "-"], &format!("{BUCKET}---\nname: x\nspecs: {{}}\n"));
    insta::assert_snapshot!(run.all(), @r"
    ---
    error: standard input, document 2: expected a resource type (name, version, schema) or a resource (name, resource_type_name, resource_type_version, action_plugin, spec), or `kind: ResourceType` or `kind: Resource`
    --- 5
    ");
    for wrong in ["just text", "[1]", "kind: Pod\nname: x", "kind: Resource\nname: 5", "{\"schema\": {}}"] {
        assert_eq!(stage.fed(&["apply", "-f", "-"], wrong).code, Some(5), "{wrong}");
    }
}

#[test]
fn yaml_that_does_not_parse_is_named_by_line_and_column() {
    let stage = Stage::empty();
    let file = stage.write("bad.yaml", "name: x\nschema: {a: [1, 2}\n");
    let run = stage.terrane(&["apply", "-f", &file]);
    assert_eq!(run.code, Some(5), "{run:?}");
    assert!(run.stderr.starts_with("error: bad.yaml, line 2, column "), "{run:?}");
    let file = stage.write("bad.json", "{\"name\": \"x\",\n \"schema\": nope}");
    let run = stage.terrane(&["apply", "-f", &file]);
    assert!(run.stderr.contains("bad.json: not JSON") && run.stderr.contains("line 2 column"), "{run:?}");
    let twice = stage.fed(&["apply", "-f", "-"], "name: x\nname: y\nschema: {}\n");
    assert!(twice.code == Some(5) && twice.stderr.contains("line 2"), "{twice:?}");
}

#[test]
fn an_alias_bomb_is_refused_quickly() {
    let stage = Stage::empty();
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..=9 {
        let before = level - 1;
        let items = vec![format!("*a{before}"); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    let run = stage.fed(&["apply", "-f", "-"], &bomb);
    assert_eq!(run.code, Some(5), "{run:?}");
    assert!(run.stderr.contains("not YAML") && run.stderr.len() < 1000, "{run:?}");
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let stage = Stage::empty();
    for text in ["[".repeat(200_000), "{a: ".repeat(50_000), "- ".repeat(50_000), "{\"a\":".repeat(50_000)] {
        let run = stage.fed(&["apply", "-f", "-"], &text);
        assert_eq!(run.code, Some(5), "{}", run.stderr);
    }
}

#[test]
fn norway_stays_norway() {
    let stage = Stage::with_database();
    let text = "{name: no, resource_type_name: DatabaseCluster, resource_type_version: v1, action_plugin: p, labels: {country: NO}, \
        spec: {engine: mysql, engine_version: '8', instance_class: s, storage_gb: 10}}";
    assert_eq!(stage.fed(&["apply", "-f", "-"], text).ok(), "databasecluster/no created\n");
    assert_eq!(stage.terrane(&["get", "-l", "country=NO", "-o", "name"]).ok(), "databasecluster/no\n");
}

#[test]
fn both_examples_apply() {
    let stage = Stage::new();
    let dir = example("");
    let run = stage.terrane(&["apply", "-f", &dir]).ok();
    insta::assert_snapshot!(run, @r"
    resourcetype/Bucket/v1 created
    resourcetype/DatabaseCluster/v1 created
    bucket/site-assets created
    bucket/raw-events created
    bucket/scratch created
    databasecluster/production-pg created
    ");
    let run = stage.terrane(&["get", "-l", "team in (web,data),!legacy", "-o", "name"]).ok();
    insta::assert_snapshot!(run, @r"
    bucket/site-assets
    bucket/raw-events
    bucket/scratch
    ");
}
