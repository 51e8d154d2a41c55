//! Servers that are not Terrane, are not well, or want us elsewhere.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use crate::stage::Stage;

/// Answers each connection with the next of these, the last one for ever.
fn serve(answers: Vec<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let answer = answers.get(number).or(answers.last()).copied().unwrap_or_default();
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 22\r\nConnection: close\r\n\r\n<html>Hello\u{1b}[31m</html>";
const UNAVAILABLE: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nConnection: close\r\nContent-Length: 110\r\n\r\n{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"the database is not available now\"}";
const WELL: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 53\r\n\r\n{\"actor\": \"me\", \"role\": \"viewer\", \"tenant\": \"acme\"}  ";
const ELSEWHERE: &str = "HTTP/1.1 308 Permanent Redirect\r\nLocation: https://example.com/api\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

#[test]
fn an_answer_that_is_not_json_is_said_to_be_none_of_terranes() {
    let url = serve(vec![HTML]);
    let run = Stage::empty().terrane(&["whoami", "--server", &url]);
    assert_eq!(run.code, Some(7), "{run:?}");
    assert!(run.stderr.contains("does not answer as Terrane does: 200 OK (text/html)"), "{run:?}");
    assert!(run.stderr.contains("it says: <html>Hello") && !run.stderr.contains('\u{1b}'), "{run:?}");
    assert_eq!(Stage::empty().terrane(&["get", "-w", "--server", &url]).code, Some(7));
}

#[test]
fn a_server_that_is_away_for_a_moment_is_asked_again() {
    let url = serve(vec![UNAVAILABLE, "", WELL]);
    let me = Stage::empty().terrane(&["whoami", "--server", &url]).ok();
    assert!(me.contains("actor:   me"), "{me}");
}

#[test]
fn a_server_that_stays_away_is_not_reachable() {
    let url = serve(vec![UNAVAILABLE]);
    let run = Stage::empty().terrane(&["whoami", "--server", &url]);
    assert!(run.code == Some(7) && run.stderr.contains("the database is not available now"), "{run:?}");
}

#[test]
fn a_redirect_is_not_followed_but_told() {
    let url = serve(vec![ELSEWHERE]);
    let run = Stage::empty().terrane(&["whoami", "--server", &url]);
    assert!(run.code == Some(7) && run.stderr.contains("https://example.com/api"), "{run:?}");
}
