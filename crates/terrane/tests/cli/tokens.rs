//! A server that asks for tokens: from the first one, over tenants and roles, to their end.

use crate::stage::{Run, Stage, finish};

/// A server that asks for tokens, and the operator's context for it.
fn guarded() -> Stage {
    let mut stage = Stage::empty();
    let data = stage.data_dir().display().to_string();
    let token = stage.terrane(&["bootstrap", "--data-dir", &data]).ok();
    stage.serve(&["--require-tokens"]);
    let url = stage.url();
    stage.fed(&["context", "set", "main", "--server", &url, "--token", "-"], &token).ok();
    stage
}

fn with_token(stage: &Stage, token: &str, args: &[&str]) -> Run {
    stage.terrane_with(args, &[("TERRANE_TOKEN", token.trim())])
}

#[test]
fn without_a_token_the_answer_is_not_allowed_and_how_to_get_one() {
    let mut stage = Stage::empty();
    let data = stage.data_dir().display().to_string();
    stage.terrane(&["bootstrap", "--data-dir", &data]).ok();
    stage.serve(&["--require-tokens"]);
    let run = stage.terrane(&["get"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(run.stderr.contains("terrane context set NAME --server URL --token -"), "{run:?}");
}

#[test]
fn the_bootstrapped_operator_comes_in_by_a_context() {
    let stage = guarded();
    let mut command = stage.command(&["whoami"]);
    command.env_remove("TERRANE_SERVER");
    let me = finish(command).ok();
    assert!(me.contains("actor:   token:operator\nrole:    operator\n"), "{me}");
}

#[test]
fn a_token_is_alone_on_standard_output_and_its_role_is_its_limit() {
    let stage = guarded();
    let made = stage.terrane(&["token", "create", "reader", "--role", "viewer", "--expires", "30d"]);
    assert!(made.stderr.contains("token reader of tenant default, viewer, good until "), "{made:?}");
    let secret = made.ok();
    assert_eq!(secret.lines().count(), 1);
    with_token(&stage, &secret, &["get"]).ok();
    let refused = with_token(&stage, &secret, &["token", "list"]);
    assert!(refused.code == Some(6) && refused.stderr.contains("needs the role admin"), "{refused:?}");
    let list = stage.terrane(&["token", "list"]).ok();
    assert!(list.contains("reader") && !list.contains(secret.trim()), "{list}");
    assert_eq!(stage.terrane(&["token", "create", "reader", "--role", "viewer"]).code, Some(4));
    assert_eq!(stage.terrane(&["token", "revoke", "reader"]).ok(), "token/reader revoked\n");
    assert_eq!(with_token(&stage, &secret, &["get"]).code, Some(6));
    assert_eq!(stage.terrane(&["token", "revoke", "reader"]).code, Some(3));
    assert_eq!(stage.terrane(&["token", "create", "x", "--role", "king"]).code, Some(2));
    assert_eq!(stage.terrane(&["token", "create", "x", "--role", "viewer", "--expires", "soon"]).code, Some(2));
}

#[test]
fn an_operators_token_goes_to_the_fleet_by_itself() {
    let stage = guarded();
    let secret = stage.terrane(&["token", "create", "deputy", "--role", "operator"]).ok();
    assert!(with_token(&stage, &secret, &["whoami"]).ok().contains("role:    operator"));
    assert!(stage.terrane(&["token", "list", "--tenant", "fleet", "-o", "name"]).ok().contains("token/deputy"));
}

#[test]
fn tenants_are_made_used_and_deleted() {
    let stage = guarded();
    assert_eq!(
        stage.terrane(&["tenant", "create", "acme", "--description", "Acme Corp"]).ok(),
        "tenant/acme created\n"
    );
    assert_eq!(stage.terrane(&["tenant", "create", "acme"]).code, Some(4));
    assert!(stage.terrane(&["tenant", "list"]).ok().contains("Acme Corp"));
    let secret = stage.terrane(&["token", "create", "boss", "--role", "admin", "--tenant", "acme"]).ok();
    assert!(with_token(&stage, &secret, &["whoami"]).ok().contains("tenant:  acme"));
    assert_eq!(with_token(&stage, &secret, &["get", "--tenant", "default"]).code, Some(6));
    let made = stage.fed(&["apply", "-f", "-", "--tenant", "acme"], "{name: Box, version: v1, schema: {type: object}}");
    assert_eq!(made.ok(), "resourcetype/Box/v1 created\n");
    assert!(stage.terrane(&["types", "--tenant", "acme"]).ok().contains("Box"));
    assert_eq!(stage.terrane(&["types"]).stderr, "No resource types found.\n");
    assert_eq!(stage.terrane(&["tenant", "delete", "acme"]).code, Some(4));
    stage.terrane(&["delete", "type", "box/v1", "--tenant", "acme"]).ok();
    assert_eq!(stage.terrane(&["tenant", "delete", "acme"]).ok(), "tenant/acme deleted\n");
    assert_eq!(stage.terrane(&["tenant", "delete", "acme"]).code, Some(3));
}
