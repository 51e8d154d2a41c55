use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use model::job::Goal;

use crate::rig::{Ended, Rig, finish};

const SECRET: &str = "p@ss/w\"ord+ä<7>&%x~ one\\two";
const TOKEN: &str = "ghp_0123456789abcdefABCDEF";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END PRIVATE KEY-----\n";

const MODULE: &str = r#"
variable "secret" {}
variable "token" {}
variable "fail" { default = false }
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = <<-EOT
      printf '%s\n' "$TF_VAR_secret" "$KEY"
      printf '%s' "$TF_VAR_secret" | base64
      printf 'x%s' "$TF_VAR_secret" | base64
      printf 'xy%s' "$TF_VAR_secret" | base64
      printf '%s' "$TF_VAR_secret" | od -An -tx1 | tr -d ' \n'
      printf '%s' "$TF_VAR_token" | od -An -tx1 | tr -d ' \n'
      for part in ghp_01 23456789abc defABCDEF; do printf '%s' "$part"; sleep 0.05; done; echo
      echo '${base64encode(var.token)} ${urlencode(var.secret)} ${replace(jsonencode({ s = var.secret }), "'", "")}'
      echo "https://user:${var.token}@example.org/" >&2
      env
    EOT
  }
  lifecycle {
    precondition {
      condition     = !var.fail
      error_message = "The token ${var.token} is not good for ${var.secret}, says ${base64encode(var.secret)}."
    }
  }
}
output "shown" { value = "token ${var.token}" }
"#;

fn forms() -> Vec<String> {
    let json = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut forms = vec![json(SECRET), TOKEN.to_owned(), SECRET.to_owned(), hex(SECRET), hex(TOKEN)];
    forms.extend([STANDARD.encode(SECRET), URL_SAFE.encode(SECRET), STANDARD.encode(TOKEN)]);
    forms.extend([
        STANDARD.encode(format!("x{SECRET}"))[2..30].to_owned(),
        STANDARD.encode(format!("xy{SECRET}"))[3..30].to_owned(),
    ]);
    forms.push("p%40ss%2Fw%22ord%2B%C3%A4%3C7%3E%26%25x~+one%5Ctwo".into());
    forms.extend(KEY.lines().filter(|line| !line.starts_with('-')).map(str::to_owned));
    forms
}

fn nothing_shows(ended: &Ended) {
    let written = [
        "spool",
        "progress.jsonl",
        "report.json",
        "supervisor.log",
        "assignment.json",
        "settings.json",
        "supervisor",
        "inside",
        "lease",
    ];
    for file in written {
        let content = fs::read(ended.job.folder().join(file)).unwrap();
        let content = String::from_utf8_lossy(&content);
        for form in forms() {
            assert!(!content.contains(&form), "{form} is in {file}:\n{content}");
        }
    }
}

fn run(fail: bool) -> Ended {
    let rig = Rig::new();
    let module = rig.module("m", MODULE);
    let mut assignment = rig.assignment(Goal::Apply, &module);
    crate::rig::variable(&mut assignment, "fail", fail);
    let secrets = [("TF_VAR_secret", SECRET), ("TF_VAR_token", TOKEN), ("KEY", KEY)];
    let ended = finish(rig.start_with(&assignment, &secrets, Duration::from_secs(600)));
    nothing_shows(&ended);
    ended
}

#[test]
fn no_form_of_a_secret_gets_into_what_is_written_down() {
    let ended = run(false).succeeded();
    assert!(ended.log.contains("https://user:***@example.org/"), "{}", ended.log);
    assert_eq!(ended.report.outputs["shown"].value, "token ***");
}

#[test]
fn an_error_that_quotes_a_secret_is_told_without_it() {
    let ended = run(true);
    assert!(
        ended.failure().message.contains("***") || ended.log.contains("The token *** is not good for ***"),
        "{}",
        ended.log
    );
}

#[test]
fn a_supervisors_own_environment_and_command_line_have_no_secret() {
    let rig = Rig::new();
    let module = rig.module("m", &crate::rig::doing("echo begun; while [ ! -e /tmp/go ]; do sleep 0.05; done"));
    let job = rig.start_with(&rig.assignment(Goal::Apply, &module), &[("TOKEN", TOKEN)], Duration::from_secs(600));
    crate::rig::until_logged(&job, "begun");
    for file in ["supervisor", "inside"] {
        let pid = crate::rig::pid_in(&job, file);
        for what in ["environ", "cmdline"] {
            let content = fs::read(format!("/proc/{pid}/{what}")).unwrap();
            assert!(!String::from_utf8_lossy(&content).contains(TOKEN));
        }
    }
    fs::write(job.folder().join("work/tmp/go"), "").unwrap();
    finish(job).succeeded();
}
