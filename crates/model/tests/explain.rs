//! Failures of Terraform runs, as clouds, clusters, providers and Terraform itself print them: which class each is of, and
//! what a person is told.

#[path = "explain/aws.rs"]
mod aws;
#[path = "explain/azure.rs"]
mod azure;
#[path = "explain/gcp.rs"]
mod gcp;
#[path = "explain/kubernetes.rs"]
mod kubernetes;
#[path = "explain/later.rs"]
mod later;
#[path = "explain/small_clouds.rs"]
mod small_clouds;
#[path = "explain/terraform.rs"]
mod terraform;
#[path = "explain/traps.rs"]
mod traps;
#[path = "explain/words.rs"]
mod words;

use model::Class;
use model::explain::{Command, Context, Diagnostic, Explanation, explain, explain_one, explain_text};
use model::plugin::Step;

fn applying() -> Context<'static> {
    Context::new(Step::Apply, Command::Apply)
}

fn destroying() -> Context<'static> {
    Context::new(Step::Destroy, Command::Destroy)
}

fn of_text(text: &str) -> Class {
    explain_text(text, applying()).failure.class
}

/// Each text has its class: bare, as a diagnostic's detail, in Terraform's frame, and in capitals or none.
#[track_caller]
fn assert_classes(at: Context<'_>, table: &[(Class, &str)]) {
    let mut wrong = String::new();
    for (class, text) in table {
        let (summary, detail) = text.split_once('\n').unwrap_or((text, ""));
        let split = Diagnostic::error(summary, detail);
        let ways = [
            ("as text", explain_text(text, at)),
            ("as a diagnostic", explain_one(&split, at)),
            (
                "among warnings",
                explain(&[Diagnostic { severity: "warning".into(), ..Diagnostic::default() }, split], "", at),
            ),
            ("in a frame", explain_text(&framed(text), at)),
            ("in small letters", explain_text(&text.to_lowercase(), at)),
        ];
        for (way, explanation) in ways {
            let found = explanation.failure.class;
            if found != *class {
                wrong.push_str(&format!("{way}: {found:?} instead of {class:?}: {text}\n"));
            }
            if explanation.failure.message.is_empty() || explanation.failure.message.len() > 1000 {
                wrong.push_str(&format!("{way}: a message of {} bytes: {text}\n", explanation.failure.message.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// As Terraform prints it on a terminal: boxed, coloured, and broken into lines.
fn framed(text: &str) -> String {
    let (summary, detail) = text.split_once('\n').unwrap_or((text, ""));
    let mut lines = vec![String::new()];
    for word in detail.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 76 => line.push_str(&format!("{word} ")),
            _ => lines.push(format!("{word} ")),
        }
    }
    let body: String = lines.iter().map(|line| format!("\u{1b}[31m│\u{1b}[0m \u{1b}[0m{line}\n")).collect();
    format!(
        "\u{1b}[31m╷\u{1b}[0m\u{1b}[0m\n\u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[1m\u{1b}[31mError: \u{1b}[0m\u{1b}[0m\u{1b}[1m{summary}\u{1b}[0m\n\
         \u{1b}[31m│\u{1b}[0m \u{1b}[0m\n{body}\u{1b}[31m╵\u{1b}[0m\u{1b}[0m\n"
    )
}

fn said(explanation: &Explanation) -> String {
    format!("{}\n{}", explanation.failure.message, explanation.failure.hint)
}
