//! Each exit code, once, as `terrane --help` promises it.

use crate::stage::{Stage, example};

#[test]
fn every_exit_code_means_what_the_help_says() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'failed', next_reconcile_at = NULL");
    let type_file = "{name: DatabaseCluster, version: v1, schema: {type: object, required: [colour]}}";
    let codes = [
        stage.terrane(&["get"]).code,
        stage.terrane(&["wait", "databasecluster/production-pg"]).code,
        stage.terrane(&["get", "--no-such-flag"]).code,
        stage.terrane(&["get", "databasecluster/nope"]).code,
        stage.fed(&["apply", "-f", "-"], type_file).code,
        stage.terrane(&["get", "-l", "=="]).code,
        stage.terrane(&["get", "--token", "trn_unknown_token"]).code,
        stage.terrane(&["get", "--server", "http://127.0.0.1:1"]).code,
        stage.terrane(&["wait", "databasecluster/production-pg", "--for=deleted", "--timeout", "0s"]).code,
    ];
    assert_eq!(codes.map(Option::unwrap_or_default), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_server_that_is_not_there_is_named_with_what_to_do() {
    let stage = Stage::empty();
    let run = stage.terrane(&["get", "--server", "http://127.0.0.1:1"]);
    insta::assert_snapshot!(run.all(), @r"
    ---
    error: http://127.0.0.1:1 cannot be reached: Connection refused (os error 111)
    Is it running? `terrane up` starts one here; --server or a context names another.
    --- 7
    ");
    assert_eq!(stage.terrane(&["get", "-w"]).code, Some(7));
}

#[test]
fn with_no_server_an_apply_of_many_fails_once() {
    let stage = Stage::empty();
    let run = stage.terrane(&["apply", "-f", &example("")]);
    assert_eq!((run.code, run.stderr.matches("cannot be reached").count()), (Some(7), 1), "{run:?}");
}

#[test]
fn a_server_address_that_is_none_is_wrong_usage() {
    let stage = Stage::empty();
    for server in ["localhost:8000", "ftp://x", "http://", "nonsense", "http://x/?q=1"] {
        assert_eq!(stage.terrane(&["get", "--server", server]).code, Some(2), "{server}");
    }
    assert_eq!(stage.terrane(&["get", "--ca-cert", "missing.pem"]).code, Some(2));
}

#[test]
fn every_command_teaches_with_an_example() {
    let stage = Stage::empty();
    for command in [
        "apply",
        "get",
        "describe",
        "diff",
        "delete",
        "history",
        "operations",
        "plugins",
        "outputs",
        "reconcile",
        "retry",
        "continue",
        "rollback",
        "cleanup",
        "import",
        "alerts",
        "wait",
        "events",
        "types",
        "whoami",
    ] {
        let help = stage.terrane(&[command, "--help"]).ok();
        assert!(help.contains("Example") && help.contains(&format!("terrane {command}")), "{command}:\n{help}");
    }
}
