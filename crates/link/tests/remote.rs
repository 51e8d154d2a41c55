//! What a runner makes of the answers it gets.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on should stop right there")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use link::{Holding, Keep, Link, LinkError, Remote, Unwelcome};
use model::JobId;
use model::job::{JobEnd, JobReport};
use serde_json::{Value, json};

/// To which path, with which status and body.
type Answer = (&'static str, u16, Value);

/// Answers every path with what was prepared for it, and keeps what it was sent.
#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<Vec<Answer>>>,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    fn answering(answers: &[(&'static str, u16, Value)]) -> Server {
        Server { answers: Arc::new(Mutex::new(answers.to_vec())), heard: Arc::default() }
    }

    async fn remote(&self) -> Remote {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        remote_at(&url)
    }
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let path = request.uri().path().trim_start_matches("/api/v1/runner").to_owned();
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    server.heard.lock().unwrap().push((path.clone(), serde_json::from_slice(&body).unwrap_or_default()));
    let answers = server.answers.lock().unwrap();
    let found = answers.iter().find(|(known, _, _)| *known == path);
    let (status, body) = found.map_or((404, Value::Null), |(_, status, body)| (*status, body.clone()));
    (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response()
}

fn remote_at(url: &str) -> Remote {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    Remote::new(client, url.parse().unwrap(), "trn_x_y".to_string().into())
}

fn job(id: i64, work: Value) -> Value {
    json!({
        "assignment": {
            "contract": "terrane.runner/v1", "job": id, "fencing_token": 3, "tenant": "default", "resource": 1,
            "resource_name": "db", "type_name": "Database", "operation": 1, "trace_id": "", "work": work,
            "limits": { "timeout_seconds": 60, "grace_seconds": 5, "memory_bytes": 1 }, "of_a_later_version": {},
        },
        "secrets": { "KEY": "hunter2" }, "lease_milliseconds": 30_000, "of_a_later_version": 1,
    })
}

#[tokio::test]
async fn a_job_that_the_runner_is_too_old_for_is_ended_and_does_not_keep_it_from_others() {
    let terraform = json!({ "kind": "terraform", "goal": "apply", "source": { "path": "/m" }, "variables": {}, "approval": "auto" });
    let jobs = json!({ "jobs": [job(1, json!({ "kind": "magic" })), job(2, terraform)] });
    let server = Server::answering(&[("/claim", 200, jobs), ("/finish", 200, json!({}))]);
    let claimed = server.remote().await.claim(4).await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!((claimed[0].assignment.job, claimed[0].lease), (JobId(2), Duration::from_secs(30)));
    assert!(!format!("{claimed:?}").contains("hunter2"));
    let heard = server.heard.lock().unwrap().clone();
    assert_eq!(heard[0].1, json!({ "contract": "terrane.runner/v1", "free": 4 }));
    let (path, body) = &heard[1];
    assert_eq!((path.as_str(), &body["job"], &body["fencing_token"]), ("/finish", &json!(1), &json!(3)));
    assert!(body["report"]["end"]["failure"]["hint"].as_str().is_some_and(|hint| hint.contains("Upgrade")), "{body}");
}

#[tokio::test]
async fn only_a_conflict_means_that_a_job_is_lost_and_only_what_is_wrong_for_good_is_refused() {
    let of = Holding { job: JobId(1), fencing_token: 1 };
    let meanings = [(409, "lost"), (413, "refused"), (422, "refused"), (401, "away"), (500, "away"), (503, "away")];
    for (status, means) in meanings {
        let server = Server::answering(&[("/finish", status, json!({ "detail": "so it is" }))]);
        let done = server.remote().await.finish(of, JobReport::ended(JobEnd::Succeeded)).await;
        let meant = match done {
            Err(LinkError::Lost) => "lost",
            Err(LinkError::Refused(_)) => "refused",
            Err(LinkError::Away(_)) => "away",
            Ok(()) => "done",
        };
        assert_eq!(meant, means, "{status}");
    }
    // Nobody listens there.
    let nobody = remote_at("http://127.0.0.1:1");
    assert!(matches!(nobody.renew(&[Keep { holding: of, applying: false }]).await, Err(LinkError::Away(_))));
    assert!(matches!(nobody.enrolment().await, Err(Unwelcome::Away(_))));
    let strict = Server::answering(&[("", 401, json!({}))]);
    assert!(matches!(strict.remote().await.enrolment().await, Err(Unwelcome::Token)));
}
