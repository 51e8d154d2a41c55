//! Runners elsewhere: enrolled, listed, removed; and what one refuses to start with.

use crate::stage::Stage;

#[test]
fn a_runners_token_is_alone_on_standard_output_and_it_is_listed_until_it_is_removed() {
    let stage = Stage::new();
    stage.terrane(&["tenant", "create", "acme"]).ok();
    let tenants = ["--tenant", "acme", "--tenant", "default"];
    let enrol =
        [&["runners", "enrol", "eu-1"], &tenants[..], &["--label", "cloud=aws", "--label", "region=eu-1"]].concat();
    let made = stage.terrane(&enrol);
    assert!(made.stderr.contains("runner eu-1 for acme, default, labels cloud=aws,region=eu-1"), "{made:?}");
    let token = made.ok();
    assert!(token.starts_with("trn_") && token.lines().count() == 1, "{token}");
    let list = stage.terrane(&["runners", "list"]).ok();
    assert!(list.contains("eu-1") && list.contains("acme,default") && list.contains("cloud=aws,region=eu-1"), "{list}");
    assert!(!list.contains(token.trim()));
    assert_eq!(stage.terrane(&enrol).code, Some(4), "the name is taken");
    assert_eq!(stage.terrane(&["runners", "enrol", "x", "--tenant", "nobody"]).code, Some(3));
    assert_eq!(stage.terrane(&["runners", "enrol", "x"]).code, Some(2), "whose jobs?");
    let twice = ["runners", "enrol", "x", "--tenant", "acme", "--label", "a=1", "--label", "a=2"];
    assert_eq!(stage.terrane(&twice).code, Some(2));
    assert!(stage.terrane(&["events", "--kind", "runner", "--tenant", "fleet"]).ok().contains("eu-1"));
    assert_eq!(stage.terrane(&["runners", "remove", "eu-1"]).ok(), "runner/eu-1 removed\n");
    assert_eq!(stage.terrane(&["runners", "remove", "eu-1"]).code, Some(3));
    let none = stage.terrane(&["runners", "list"]);
    assert!(none.stderr.contains("No runners") && none.stdout.is_empty(), "{none:?}");
}

#[test]
fn a_runner_says_what_is_wrong_before_it_takes_a_job() {
    let stage = Stage::new();
    let file = |name: &str, text: &str| {
        let path = stage.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let run = |server: &str, token: &str, more: &[&str]| {
        stage.terrane(
            &[&["runner", "--server", server, "--token-file", token, "--terraform", "/bin/true"], more].concat(),
        )
    };
    let (url, nonsense) = (stage.url(), file("nonsense", "trn_0123456789ab_nothing\n"));
    let open = run("http://terrane.example", &nonsense, &[]);
    assert!(open.code == Some(2) && open.stderr.contains("use https"), "{open:?}");
    let missing = run(&url, "no-such-file", &[]);
    assert!(missing.code == Some(2) && missing.stderr.contains("no-such-file"), "{missing:?}");
    let empty = run(&url, &file("empty", "\n"), &[]);
    assert!(empty.code == Some(2) && empty.stderr.contains("terrane runners enrol"), "{empty:?}");
    let unknown = run(&url, &nonsense, &[]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("does not know this runner"), "{unknown:?}");
    let broker = run(&url, &nonsense, &["--broker", "http://nowhere"]);
    assert!(broker.code == Some(2) && broker.stderr.contains("amqp://"), "{broker:?}");

    stage.terrane(&["tenant", "create", "acme"]).ok();
    let token = stage.terrane(&["runners", "enrol", "both", "--tenant", "acme", "--tenant", "default"]).ok();
    let together = run(&url, &file("both", &token), &["--require-isolation=false"]);
    assert!(together.code == Some(1) && together.stderr.contains("kept apart"), "{together:?}");
    let idle = run(&url, &file("both", &token), &["--runner-capacity", "0"]);
    assert!(idle.code == Some(1) && idle.stderr.contains("takes no jobs"), "{idle:?}");
}
