//! Output that somebody stops reading, and output that is for no terminal.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::stage::{Stage, example};

/// Read one line, go away, and see how the command takes it.
fn head(stage: &Stage, args: &[&str]) -> (Option<i32>, String) {
    let mut child = stage.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::with_capacity(1, child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn a_reader_who_goes_away_is_no_failure() {
    let stage = Stage::with_database();
    for number in 0..30 {
        stage.database(&format!("n{number}"), "");
    }
    for args in [
        &["get", "-o", "yaml"][..],
        &["get"],
        &["events", "-o", "json"],
        &["completion", "bash"],
        &["types", "databasecluster/v1"],
    ] {
        let (code, stderr) = head(&stage, args);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn nothing_that_is_piped_has_colours_whatever_no_color_says() {
    let stage = Stage::with_database();
    let edited = std::fs::read_to_string(example("database.yaml")).unwrap().replace("500", "600");
    stage.write("edited.yaml", &edited);
    for env in [&[][..], &[("NO_COLOR", "1")], &[("NO_COLOR", "")]] {
        for args in [
            &["get"][..],
            &["diff", "-f", "edited.yaml"],
            &["describe", "databasecluster/production-pg"],
            &["get", "x/y"],
        ] {
            let run = stage.terrane_with(args, env);
            assert!(!format!("{}{}", run.stdout, run.stderr).contains('\u{1b}'), "{args:?}");
        }
    }
}

/// `script` gives a command a terminal.
fn on_a_terminal(stage: &Stage, command: &str, env: &[(&str, &str)]) -> Option<String> {
    let line = format!("{} {command}", env!("CARGO_BIN_EXE_terrane"));
    let output = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .envs([("HOME", stage.dir.path().to_str()?), ("PATH", "/usr/bin:/bin"), ("TERM", "xterm")])
        .env("TERRANE_SERVER", stage.url())
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_terminal_gets_colours_unless_no_color_is_set() {
    let stage = Stage::with_database();
    stage.sql("UPDATE resources SET lifecycle = 'active'");
    // Not every machine has `script`.
    let Some(shown) = on_a_terminal(&stage, "get", &[]) else { return };
    assert!(shown.contains("\u{1b}[32mready\u{1b}[0m"), "{shown:?}");
    let plain = on_a_terminal(&stage, "get", &[("NO_COLOR", "1")]).unwrap_or_default();
    assert!(plain.contains("ready") && !plain.contains('\u{1b}'), "{plain:?}");
}
