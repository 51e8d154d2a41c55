//! The commands that look after a server rather than speak to one.

use crate::stage::Stage;

#[test]
fn completion_scripts_know_the_commands() {
    let stage = Stage::empty();
    for shell in ["bash", "zsh", "fish"] {
        let script = stage.terrane(&["completion", shell]).ok();
        for command in ["apply", "describe", "bootstrap", "context"] {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
    assert_eq!(stage.terrane(&["completion", "cobol"]).code, Some(2));
}

#[test]
fn config_names_the_source_of_every_setting() {
    let stage = Stage::empty();
    stage.write("terrane.toml", "data_dir = \"from-file\"\nlog = \"debug\"\n");
    let run = stage.terrane_with(&["config", "--listen", "127.0.0.1:9999"], &[("TERRANE_LOG", "warn")]).ok();
    let words: Vec<Vec<&str>> = run.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |name: &str| words.iter().find(|row| row[0] == name).map(|row| row[1..].join(" ")).unwrap();
    assert_eq!(row("listen"), "127.0.0.1:9999 # flag --listen");
    assert_eq!(row("data_dir"), "from-file # terrane.toml");
    assert_eq!(row("log"), "warn # environment TERRANE_LOG");
    assert_eq!(row("require_tokens"), "false # default");
    let database = row("database");
    assert!(database.contains("from-file/terrane.db") && database.ends_with("# default"), "{database}");
}

#[test]
fn config_takes_the_db_variables_and_shows_no_password() {
    let stage = Stage::empty();
    let env = [("DB_HOST", "db.example.com"), ("DB_PASSWORD", "hunter2")];
    let run = stage.terrane_with(&["config"], &env).ok();
    assert!(run.contains("db.example.com") && run.contains("# environment DB_*"), "{run}");
    assert!(!run.contains("hunter2"), "{run}");
    let file = stage.write("bad.toml", "colour = \"red\"\n");
    let run = stage.terrane(&["config", "--config", &file]);
    assert!(run.code == Some(2) && run.stderr.contains("colour"), "{run:?}");
}

#[test]
fn an_empty_variable_is_an_unset_one() {
    let stage = Stage::empty();
    let file = stage.write("some.toml", "database = \"postgres://db.example.com/terrane\"\n");
    let env = [("TERRANE_DATABASE", ""), ("DB_HOST", ""), ("TERRANE_LISTEN", "")];
    let run = stage.terrane_with(&["config", "--config", &file], &env).ok();
    assert!(run.contains("postgres://db.example.com/terrane"), "{run}");
    assert!(run.contains("127.0.0.1:8000"), "{run}");
}

#[test]
fn doctor_tries_what_a_start_would_do() {
    let stage = Stage::empty();
    let listen = format!("127.0.0.1:{}", stage.port);
    let run = stage.terrane(&["doctor", "--listen", &listen, "--data-dir", "/proc/nowhere"]);
    assert!(run.code == Some(1) && run.stdout.contains("cannot be made"), "{run:?}");
}

#[test]
fn doctor_says_what_is_well_and_what_is_not() {
    let stage = Stage::empty();
    let listen = format!("127.0.0.1:{}", stage.port);
    let run = stage.terrane(&["doctor", "--listen", &listen]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("will be made at the first start"), "{run:?}");
    let run = stage.terrane(&["doctor", "--listen", &listen, "--require-tokens"]);
    assert!(run.code == Some(1) && run.stdout.contains("terrane bootstrap"), "{run:?}");
    let run = stage.terrane(&["doctor", "--listen", "nonsense"]);
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn the_version_is_told() {
    let stage = Stage::empty();
    assert_eq!(stage.terrane(&["version"]).ok(), format!("terrane {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_second_server_on_the_same_data_is_told_so() {
    let stage = Stage::new();
    let data = stage.data_dir().display().to_string();
    let run = stage.terrane(&["up", "--data-dir", &data, "--listen", "127.0.0.1:0"]);
    assert!(run.code == Some(1) && run.stderr.contains("another terrane"), "{run:?}");
}
