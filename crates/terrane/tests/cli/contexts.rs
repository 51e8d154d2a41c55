//! `terrane context`

use std::os::unix::fs::PermissionsExt;

use crate::stage::{Stage, finish};

/// Without TERRANE_SERVER, as at a user's own prompt.
fn plain(stage: &Stage, args: &[&str]) -> crate::stage::Run {
    let mut command = stage.command(args);
    command.env_remove("TERRANE_SERVER");
    finish(command)
}

#[test]
fn contexts_are_made_listed_shown_used_and_forgotten() {
    let stage = Stage::empty();
    assert!(plain(&stage, &["context"]).stderr.starts_with("No contexts; commands go to http://localhost:8000."));
    plain(&stage, &["context", "set", "one", "--server", "http://one", "--token", "trn_secret"]).ok();
    plain(&stage, &["context", "set", "two", "--server", "http://two", "--tenant", "acme"]).ok();
    insta::assert_snapshot!(plain(&stage, &["context"]).ok(), @r"
        NAME   SERVER       TENANT
    *   one    http://one
        two    http://two   acme
    ");
    let shown = plain(&stage, &["context", "show"]);
    assert!(!format!("{shown:?}").contains("secret"), "{shown:?}");
    insta::assert_snapshot!(shown.ok(), @r"
    name:     one
    server:   http://one
    tenant:   -
    token:    set
    ca-cert:  -
    ");
    plain(&stage, &["context", "use", "two"]).ok();
    assert!(plain(&stage, &["context", "list"]).ok().contains("\n*   two"));
    plain(&stage, &["context", "delete", "two"]).ok();
    assert_eq!(plain(&stage, &["context", "use", "two"]).code, Some(3));
    assert_eq!(plain(&stage, &["context", "show"]).code, Some(3));
    assert_eq!(plain(&stage, &["context", "set", "Bad Name"]).code, Some(2));
    assert_eq!(plain(&stage, &["context", "set", "three", "--server", "nonsense"]).code, Some(2));
}

#[test]
fn the_file_is_closed_to_others_and_a_token_does_not_move_to_another_server() {
    let stage = Stage::empty();
    stage.fed(&["context", "set", "one", "--server", "http://one", "--token", "-"], "trn_secret\n").ok();
    let file = stage.dir.path().join("config/terrane/contexts.toml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&file).unwrap().contains("trn_secret"));
    plain(&stage, &["context", "set", "one", "--server", "http://elsewhere"]).ok();
    assert!(!std::fs::read_to_string(&file).unwrap().contains("trn_secret"));
}

#[test]
fn the_context_in_use_says_where_to_go() {
    let stage = Stage::new();
    plain(&stage, &["context", "set", "here", "--server", &stage.url()]).ok();
    plain(&stage, &["context", "set", "away", "--server", "http://127.0.0.1:1"]).ok();
    assert!(plain(&stage, &["whoami"]).ok().contains(&stage.url()));
    assert_eq!(plain(&stage, &["whoami", "--context", "away"]).code, Some(7));
    assert_eq!(plain(&stage, &["whoami", "--context", "nowhere"]).code, Some(3));
    assert!(stage.terrane_with(&["whoami"], &[("TERRANE_CONTEXT", "away")]).ok().contains(&stage.url()));
}

#[test]
fn a_context_is_not_used_for_another_server_than_its_own() {
    let stage = Stage::new();
    // The token would be refused, were it sent.
    plain(&stage, &["context", "set", "other", "--server", "http://other", "--token", "trn_secret", "--tenant", "x"])
        .ok();
    assert!(plain(&stage, &["whoami", "--server", &stage.url()]).ok().contains("tenant:  default"));
}

#[test]
fn a_broken_file_is_named_without_its_contents() {
    let stage = Stage::empty();
    stage.write("config/terrane/contexts.toml", "[contexts.one]\ntoken = trn_secret\n");
    let run = plain(&stage, &["context"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("contexts.toml") && !run.stderr.contains("trn_secret"), "{run:?}");
}
