//! `--watch`

use crate::stage::{Stage, example};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn a_watch_shows_what_there_is_and_then_each_change_once() {
    let stage = Stage::with_database();
    let watch = stage.follow(&["get", "-w"]);
    assert_eq!(words(&watch.line()), ["NAME", "TYPE", "STATUS", "GENERATION", "AGE", "MESSAGE"]);
    assert_eq!(words(&watch.line())[..3], ["production-pg", "DatabaseCluster", "pending"]);
    stage.database("second", "");
    assert_eq!(words(&watch.line())[..3], ["second", "DatabaseCluster", "pending"]);
    stage.terrane(&["delete", "databasecluster/production-pg"]).ok();
    assert_eq!(words(&watch.line())[..3], ["production-pg", "DatabaseCluster", "deleted"]);
}

#[test]
fn a_watch_survives_a_server_that_is_killed_and_misses_nothing() {
    let mut stage = Stage::with_database();
    let watch = stage.follow(&["get", "databasecluster", "-w", "-o", "name"]);
    assert_eq!(watch.line(), "databasecluster/production-pg");
    for round in 0..2 {
        stage.kill();
        assert!(stage.start(), "the server starts again on its port");
        stage.database(&format!("after-{round}"), "");
        assert_eq!(watch.line(), format!("databasecluster/after-{round}"));
    }
}

#[test]
fn a_watch_as_json_is_an_object_per_line_and_tells_of_the_end() {
    let stage = Stage::with_database();
    let watch = stage.follow(&["get", "databasecluster/production-pg", "-w", "-o", "json"]);
    let first: serde_json::Value = serde_json::from_str(&watch.line()).unwrap();
    assert_eq!(first["lifecycle"], "pending");
    stage.terrane(&["delete", "-f", &example("database.yaml")]).ok();
    let last: serde_json::Value = serde_json::from_str(&watch.line()).unwrap();
    assert_eq!(last["lifecycle"], "deleted");
}

#[test]
fn events_are_followed_with_their_actors_across_a_restart() {
    let mut stage = Stage::with_database();
    let watch = stage.follow(&["events", "-w"]);
    assert_eq!(words(&watch.line())[0], "SEQ");
    assert!(watch.line().contains("DatabaseCluster"));
    assert!(watch.line().contains("production-pg"));
    stage.kill();
    assert!(stage.start(), "the server starts again on its port");
    stage.terrane(&["reconcile", "databasecluster/production-pg"]).ok();
    let line = watch.line();
    assert!(line.contains("reconcile_requested") && line.contains("local"), "{line}");
}

#[test]
fn an_interrupt_ends_a_watch_without_a_word() {
    let stage = Stage::with_database();
    let mut child = stage
        .command(&["get", "-w"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut first).unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
