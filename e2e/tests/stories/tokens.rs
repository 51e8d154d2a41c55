//! Whoever is not on this machine needs a token; tokens end; and no secret is ever logged.

use std::time::Duration;

use e2e::{Api, Database, Server, database_cluster, free_port, resource, run, until};
use jiff::Timestamp;
use serde_json::{Value, json};

async fn a_server_for_others_refuses_to_start_without_tokens(database: Database) {
    let listen = format!("0.0.0.0:{}", free_port());
    let refused = run(database.folder(), &["server", "--listen", &listen, "--database", &database.url]);
    assert_eq!(refused.code, Some(1), "{}", refused.said());
    assert!(refused.stderr.contains("`terrane bootstrap`"), "{}", refused.stderr);
}

async fn the_token_of_bootstrap_opens_the_door_and_wrong_expired_and_revoked_ones_do_not(database: Database) {
    let operator = bootstrap(&database, &database.url);
    let server = Server::start(&database, &["--require-tokens"]).await;
    let api = server.api();
    let missing = api.get("/api/v1/whoami").await;
    assert_eq!((missing.status, missing.header("www-authenticate")), (401, "Bearer"));
    let admin = api.with_token(&operator);
    assert_eq!(admin.get("/api/v1/whoami").await.ok()["role"], "operator");
    admin.post("/api/v1/resource-types", &database_cluster()).await.ok();

    let (public, secret) = operator.rsplit_once('_').expect("a token has a public and a secret part");
    let wrong = [
        format!("{public}_{}", secret.chars().rev().collect::<String>()),
        format!("{public}_"),
        secret.to_string(),
        "trn_0123456789ab_nothing".into(),
    ];
    for token in wrong {
        assert_eq!(status(&api.with_token(&token)).await, 401, "{token}");
    }

    let made = create(&admin, json!({ "name": "to-be-revoked", "role": "editor" })).await;
    let editor = api.with_token(secret_of(&made));
    editor.post("/api/v1/resources", &resource(1)).await.ok();
    assert_eq!(admin.delete(&format!("/api/v1/tokens/{}", made["id"])).await.status, 204);
    assert_eq!(status(&editor).await, 401);

    let soon = Timestamp::now() + Duration::from_secs(2);
    let made = create(&admin, json!({ "name": "to-expire", "role": "viewer", "expires_at": soon.to_string() })).await;
    let viewer = api.with_token(secret_of(&made));
    until("the token to expire", async || status(&viewer).await == 401).await;
    assert!(Timestamp::now() >= soon, "not before its time");
}

async fn no_secret_is_logged(database: Database) {
    let password = "correct-horse-battery-staple";
    let url = database.url_with_password(password);
    let operator = bootstrap(&database, &url);
    let mut server =
        Server::spawn("server", &["--database", &url, "--require-tokens", "--log", "trace,hyper=debug"], &[]);
    server.ready().await;
    let api = server.api();
    let admin = api.with_token(&operator);
    admin.post("/api/v1/resource-types", &database_cluster()).await.ok();
    let made = create(&admin, json!({ "name": "ci", "role": "editor" })).await;
    let editor = secret_of(&made).to_string();
    api.with_token(&editor).post("/api/v1/resources", &resource(1)).await.ok();
    let wrong = format!("{operator}-but-wrong");
    assert_eq!(status(&api.with_token(&wrong)).await, 401);
    let unknown = "trn_0123456789ab_no-such-token-in-this-world";
    assert_eq!(status(&api.with_token(unknown)).await, 401);
    assert_eq!(
        api.with_token(&editor).post("/api/v1/tokens", &json!({ "name": "x", "role": "admin" })).await.status,
        403
    );
    assert_eq!(admin.delete(&format!("/api/v1/tokens/{}", made["id"])).await.status, 204);
    if database.is_postgres() {
        database.shut().await;
        assert_eq!(status(&admin).await, 503);
        database.open_again().await;
    }
    server.term();
    server.end().await;
    let mut said = server.log();
    assert!(said.contains("/api/v1/tokens"), "requests are logged: {said}");

    // What the other commands print, also when they fail.
    for command in ["config", "doctor", "migrate"] {
        said += &run(database.folder(), &[command, "--database", &url]).said();
    }
    let nobody = format!("postgres://terrane:{password}@127.0.0.1:{}/nowhere", free_port());
    for command in ["config", "doctor", "migrate", "server", "bootstrap"] {
        said += &run(database.folder(), &[command, "--database", &nobody, "--log", "trace"]).said();
    }
    // After the second `_`: the secret itself may have more of them.
    let secret_part = |token: &str| token.splitn(3, '_').nth(2).unwrap_or_default().to_string();
    let secrets = [secret_part(&operator), secret_part(&editor), secret_part(unknown), password.to_string()];
    for secret in secrets {
        let leak = said.lines().find(|line| line.contains(&secret));
        assert_eq!(leak, None, "{secret} was written out");
    }
}

/// The first token, from standard output.
fn bootstrap(database: &Database, url: &str) -> String {
    let made = run(database.folder(), &["bootstrap", "--database", url]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let token = made.stdout.trim().to_string();
    assert!(!made.stderr.contains(&token), "the secret goes to standard output alone");
    token
}

fn secret_of(made: &Value) -> &str {
    made["token"].as_str().expect("the answer shows the secret, this once")
}

async fn create(admin: &Api, body: Value) -> Value {
    admin.post("/api/v1/tokens", &body).await.ok()
}

async fn status(api: &Api) -> u16 {
    api.get("/api/v1/whoami").await.status
}

on_both!(
    a_server_for_others_refuses_to_start_without_tokens,
    the_token_of_bootstrap_opens_the_door_and_wrong_expired_and_revoked_ones_do_not,
    no_secret_is_logged,
);
