//! The guide to the resource API shows every request of the contract, with its answer. Here they are made, top to bottom.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::harness::{Server, stories};

const GUIDE: &str = include_str!("../../../../docs/src/resource-api.md");

/// Fenced blocks: what stands behind the fence, and the text.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let body: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            found.push((info.trim(), body.join("\n")));
        }
    }
    found
}

/// The curl commands of a shell block, as words.
fn commands(block: &str) -> Vec<Vec<String>> {
    let joined = block.replace("\\\n", " ");
    let mut commands = vec![vec![]];
    let (mut word, mut quote, mut started) = (String::new(), None, false);
    for c in joined.chars().chain(['\n']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, started) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if started || !word.is_empty() {
                    commands.last_mut().expect("one at least").push(std::mem::take(&mut word));
                    started = false;
                }
                if c == '\n' {
                    commands.push(vec![]);
                }
            }
            (None, c) => word.push(c),
        }
    }
    commands.retain(|words: &Vec<String>| words.first().is_some_and(|word| word == "curl"));
    commands
}

async fn run(server: &Server, words: &[String]) -> (u16, Value) {
    let (mut method, mut body, mut url, mut headers) = (Method::GET, None, String::new(), vec![]);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => method = words.next().expect("a method").parse().expect("a method"),
            "-H" => headers
                .extend(words.next().expect("a header").split_once(": ").map(|(k, v)| (k.to_string(), v.to_string()))),
            "-d" => body = words.next().cloned(),
            "-s" | "-N" | "-i" => {}
            other => {
                assert!(other.starts_with("http://localhost:8000/"), "an option this test does not know: {other}");
                url = other.replacen("http://localhost:8000", "", 1);
            }
        }
    }
    let mut request = server.request(method, &url).timeout(Duration::from_secs(30));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let answer = server.send(request.body(body.unwrap_or_default())).await;
    (answer.status, answer.body)
}

/// Whether the document's answer is part of the real one; "…" stands for anything.
fn is_part_of(shown: &Value, real: &Value) -> bool {
    match (shown, real) {
        (Value::String(text), _) if text == "…" => true,
        (Value::Object(shown), Value::Object(real)) => {
            shown.iter().all(|(key, value)| real.get(key).is_some_and(|real| is_part_of(value, real)))
        }
        (Value::Array(shown), Value::Array(real)) => {
            shown.len() == real.len() && shown.iter().zip(real).all(|(shown, real)| is_part_of(shown, real))
        }
        _ => shown == real,
    }
}

async fn every_documented_request_gives_the_documented_answer(server: Server) {
    let mut waiting: Vec<Vec<String>> = Vec::new();
    let mut made = 0;
    for (info, text) in blocks(GUIDE) {
        if info == "bash" {
            assert!(waiting.is_empty(), "no answer is shown for {waiting:?}");
            waiting = commands(&text);
        } else if let Some(status) = info.strip_prefix("json ") {
            assert!(!waiting.is_empty(), "an answer without a request: {text}");
            let words = waiting.remove(0);
            let (real_status, real) = run(&server, &words).await;
            assert_eq!(real_status.to_string(), status, "{words:?}: {real}");
            if !text.trim().is_empty() {
                let shown = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                assert!(is_part_of(&shown, &real), "{words:?}\nshown: {shown:#}\nreal: {real:#}");
            }
            made += 1;
        }
    }
    assert!(waiting.is_empty(), "no answer is shown for {waiting:?}");
    assert!(made >= 16, "the contract has more than {made} requests");
}

stories!(every_documented_request_gives_the_documented_answer);
