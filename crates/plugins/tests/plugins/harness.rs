//! A server that answers as it is told and remembers what it was asked; calls and worlds to go with it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use model::Reason;
use model::plugin::{Answer, CONTRACT, Call, CallOperation, CallResource, Done, Outcome, Step, Wait};
use plugins::{Action, Door, DoorPolicy, Secret, Secrets, Until, World};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Debug, Clone)]
pub struct Seen {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub type Reply = (u16, Vec<(&'static str, String)>, Vec<u8>);

#[derive(Clone, Default)]
struct Script {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// Answers with its replies, one after the other; with 500 when it has none left.
pub struct Server {
    pub port: u16,
    script: Script,
}

impl Server {
    pub async fn start() -> Server {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let script = Script::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().fallback(answer).with_state(script.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Server { port, script }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn then(&self, status: u16, body: Value) -> &Server {
        self.then_raw(status, vec![], body.to_string().into_bytes())
    }

    pub fn then_raw(&self, status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> &Server {
        self.script.replies.lock().unwrap().push_back((status, headers, body));
        self
    }

    pub fn redirects_to(&self, url: &str) -> &Server {
        self.then_raw(302, vec![("location", url.to_owned())], vec![])
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.script.seen.lock().unwrap().clone()
    }

    pub fn door(&self) -> Door {
        Door::new(DoorPolicy::allowing([format!("127.0.0.1:{}", self.port)]))
    }

    pub fn world(&self) -> World {
        World { door: self.door(), secrets: Arc::default(), until: Until::default() }
    }
}

async fn answer(
    State(script): State<Script>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<axum::body::Body> {
    script.seen.lock().unwrap().push(Seen { method, path: uri.to_string(), headers, body: body.to_vec() });
    let (status, headers, body) =
        script.replies.lock().unwrap().pop_front().unwrap_or((500, vec![], b"no reply left".to_vec()));
    let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(body.into()).unwrap()
}

pub fn secrets(all: &[(&str, &str, &[&str])]) -> Secrets {
    let secret = |value: &str, hosts: &[&str]| Secret {
        value: value.to_owned().into(),
        hosts: hosts.iter().map(ToString::to_string).collect(),
    };
    Secrets(all.iter().map(|(name, value, hosts)| (name.to_string(), secret(value, hosts))).collect())
}

pub fn call(step: Step, config: Value, spec: Value) -> Call {
    Call {
        contract: CONTRACT.to_owned(),
        step,
        operation: CallOperation { id: 17, reason: Reason::Created, attempt: 1, started_at: 1_700_000_000 },
        resource: CallResource {
            id: 4,
            name: "orders".to_owned(),
            tenant: "acme".to_owned(),
            type_name: "Database".to_owned(),
            type_version: "v1".to_owned(),
            generation: 2,
            labels: Default::default(),
            annotations: Default::default(),
        },
        spec,
        config,
        outputs: json!({}),
        checkpoint: Value::Null,
        memory: Value::Null,
        superseded: false,
        job: None,
    }
}

/// Asks until the step is done or has failed, carrying checkpoint and memory along, as the controller does.
pub async fn run(action: &dyn Action, call: &mut Call, world: &World) -> Answer {
    call.checkpoint = Value::Null;
    for _ in 0..20 {
        let answer = action.call(call, world).await;
        call.memory = answer.memory.clone().unwrap_or(call.memory.clone());
        match &answer.outcome {
            Outcome::Wait(Wait { checkpoint, .. }) => call.checkpoint = checkpoint.clone(),
            _ => return answer,
        }
    }
    panic!("it waits for ever");
}

pub fn done(answer: &Answer) -> &Done {
    match &answer.outcome {
        Outcome::Done(done) => done,
        other => panic!("not done: {other:?}"),
    }
}

pub fn failed(answer: &Answer) -> &model::Failure {
    match &answer.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

pub fn waits(answer: &Answer) -> &Wait {
    match &answer.outcome {
        Outcome::Wait(wait) => wait,
        other => panic!("does not wait: {other:?}"),
    }
}
