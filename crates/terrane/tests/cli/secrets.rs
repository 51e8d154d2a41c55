//! `terrane secret`, and the key that seals.

use std::os::unix::fs::PermissionsExt;

use crate::stage::Stage;

#[test]
fn a_secret_comes_from_a_file_a_variable_or_standard_input_and_is_never_shown() {
    let stage = Stage::new();
    let file = stage.write("token.txt", "hunter2-of-the-file\n");
    assert_eq!(stage.terrane(&["secret", "set", "a", "--from-file", &file]).ok(), "secret/a set\n");
    let env = [("TOKEN", "hunter2-of-the-environment")];
    stage.terrane_with(&["secret", "set", "b", "--from-env", "TOKEN", "--host", "api.example.com"], &env).ok();
    stage.fed(&["secret", "set", "c", "--host", "a.example", "--host", "*.b.example"], "hunter2-of-the-pipe\n").ok();
    let tried = stage.fed(&["secret", "set", "d", "--dry-run"], "x").ok();
    assert_eq!(tried, "secret/d set (dry run)\n");
    let list = stage.terrane(&["secret", "list"]).ok();
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "HOSTS", "AGE", "CHANGED"]);
    assert_eq!((rows[1][..2].to_vec(), rows[2][..2].to_vec()), (vec!["a", "any"], vec!["b", "api.example.com"]));
    assert_eq!(rows[3][..2], ["c", "a.example,*.b.example"]);
    assert_eq!(rows.len(), 4, "{list}");
    for args in [&["secret", "list", "-o", "json"][..], &["events", "-o", "json"], &["get", "secrets", "-o", "yaml"]] {
        assert!(!stage.terrane(args).ok().contains("hunter2"), "{args:?}");
    }
    assert_eq!(stage.terrane(&["secret", "delete", "a"]).ok(), "secret/a deleted\n");
    assert_eq!(stage.terrane(&["secret", "delete", "a"]).code, Some(3));
    assert!(stage.terrane(&["events", "--kind", "secret"]).ok().contains("deleted"));
}

#[test]
fn a_value_is_never_an_argument_and_the_help_says_why() {
    let stage = Stage::empty();
    assert_eq!(stage.terrane(&["secret", "set", "a", "hunter2"]).code, Some(2));
    assert_eq!(stage.terrane(&["secret", "set", "a", "--from-env", "NOT_SET"]).code, Some(2));
    assert_eq!(stage.terrane(&["secret", "set", "a", "--from-file", "missing"]).code, Some(2));
    assert_eq!(stage.fed(&["secret", "set", "a"], "\n").code, Some(2));
    let help = stage.terrane(&["secret", "set", "--help"]).ok();
    assert!(help.contains("never an argument") && help.contains("history"), "{help}");
}

#[test]
fn an_embedded_server_makes_its_key_once_for_its_owner_alone() {
    let mut stage = Stage::new();
    let file = stage.data_dir().join("secrets.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let key = std::fs::read_to_string(&file).unwrap();
    stage.kill();
    assert!(stage.start());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), key);
    stage.kill();
    std::fs::write(&file, "not a key").unwrap();
    let data = stage.data_dir().display().to_string();
    let run = stage.terrane(&["up", "--data-dir", &data, "--listen", "127.0.0.1:0"]);
    assert!(run.code == Some(1) && run.stderr.contains("secrets.key holds no key for secrets"), "{run:?}");
}

#[test]
fn config_says_where_the_key_is_and_not_what_it_is() {
    let stage = Stage::empty();
    let row = |args: &[&str], env: &[(&str, &str)]| {
        let text = stage.terrane_with(&[&["config"], args].concat(), env).ok();
        assert!(!text.contains("hunter2"), "{text}");
        let line = text.lines().find(|line| line.starts_with("secrets_key ")).unwrap().to_string();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row(&[], &[]), ".terrane/secrets.key # default");
    assert_eq!(row(&["--database", "postgres://db/terrane"], &[]), "- # default");
    assert_eq!(row(&["--secrets-key-file", "k"], &[]), "k # flag --secrets-key-file");
    let given = [("TERRANE_SECRETS_KEY", "hunter2")];
    assert_eq!(row(&[], &given), "(not shown) # environment TERRANE_SECRETS_KEY");
    assert_eq!(stage.terrane_with(&["config", "--secrets-key-file", "k"], &given).code, Some(2), "given twice");
    stage.write("terrane.toml", "secrets_key_file = \"/etc/terrane/secrets.key\"\n");
    assert_eq!(row(&[], &[]), "/etc/terrane/secrets.key # terrane.toml");
}
